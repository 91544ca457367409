"""``POST /api/settings/model``, and one for each type of channel: the questions of ``millpond init``.

The questions, their checks and the trials are those of ``daemon.setup``. Without ``digest`` the answers are tried; with
it they are written, without a trial.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anyio
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.request_params import decoded, json_response
from channels.web.settings.settings_endpoints import SettingsFile
from daemon.config import BotConfig, WebToolsConfig
from daemon.config.environment import Table
from daemon.errors import MillpondError, ModelTimeout
from daemon.services import EXAMINE, PROBE, WEB_SEARCH, load
from daemon.setup.answers import (
    DiscordAnswer,
    FeishuAnswer,
    ModelAnswer,
    SlackAnswer,
    TelegramAnswer,
    VoiceAnswer,
    WebAnswer,
    WebhookAnswer,
)
from daemon.setup.config_editor import Settings
from daemon.setup.config_tables import SecretFile, set_channel, set_model, set_web, set_webhook
from daemon.setup.interview import pair as pair_telegram
from daemon.setup.model_trial import model_config, models_at, try_model
from daemon.setup.platforms.discord_api import NO_INTENT, app_at
from daemon.setup.platforms.feishu_interview import me_at as feishu_me_at
from daemon.setup.platforms.feishu_interview import pair as pair_feishu
from daemon.setup.platforms.feishu_scopes import imported_scopes
from daemon.setup.platforms.slack_interview import check_socket, link_of, me_at
from daemon.setup.platforms.slack_interview import pair as pair_slack
from daemon.setup.platforms.slack_scopes import manifest, missing_of
from daemon.setup.platforms.telegram_pairing import bot_api, new_code
from daemon.setup.settings_forms import (
    BotForm,
    DiscordForm,
    FeishuForm,
    ModelForm,
    OwnerForm,
    SlackForm,
    TelegramForm,
    VoiceForm,
    WebForm,
    WebhookForm,
    discord_answer,
    feishu_answer,
    model_answer,
    slack_answer,
    telegram_answer,
    voice_answer,
    web_answer,
    webhook_answer,
)
from daemon.setup.voice_interview import set_voice, try_voice, voice_configs
from daemon.setup.web_interview import TRIED

FORM = "The fields of this form are described in docs/api-settings.md."
PROBE_S = 90.0
"""Limit for the trial of a model with tools and a picture, as of ``millpond doctor``."""
OWNER_S = 20.0
"""How long one request waits for the message of the owner; the page asks again."""

_F = TypeVar("_F", bound=BotForm)
_A = TypeVar("_A")


class ConnectionEndpoints:
    """The endpoints of one site."""

    def __init__(self, file: SettingsFile) -> None:
        self._file = file

    async def names(self, request: Request) -> Response:
        """The names of the models that a server lists; none if it lists none."""
        form = await decoded(request, ModelForm, FORM)
        answer = model_answer(await self._file.read(), _named(form), self._file.launch.environ)
        listed = await models_at(answer.base_url, answer.key, answer.api) if answer else ()
        return json_response({"models": listed})

    async def model(self, request: Request) -> Response:
        """Try or save the model of a bot."""
        form = await decoded(request, ModelForm, FORM)
        answer_of = partial(model_answer, environ=self._file.launch.environ)
        return await self._handled(request, form, answer_of, set_model, _tried_model)

    async def web(self, request: Request) -> Response:
        """Try or save what a bot may do on the web."""
        form = await decoded(request, WebForm, FORM)
        return await self._handled(request, form, web_answer, set_web, _tried_web)

    async def voice(self, request: Request) -> Response:
        """Try or save the server for voice messages."""
        form = await decoded(request, VoiceForm, FORM)
        return await self._handled(request, form, voice_answer, set_voice, _tried_voice)

    async def manifest(self, request: Request) -> Response:
        """The manifest from which an app of Slack is made; ``?events_url=`` without Socket Mode."""
        return json_response({"manifest": manifest(request.query_params.get("events_url", ""))})

    async def scopes(self, _request: Request) -> Response:
        """The permissions of a Feishu app, as its developer console imports them."""
        return json_response({"scopes": imported_scopes()})

    async def telegram(self, request: Request) -> Response:
        """Try or save a channel of Telegram."""
        form = await decoded(request, TelegramForm, FORM)
        return await self._handled(request, form, telegram_answer, set_channel, _tried_telegram)

    async def slack(self, request: Request) -> Response:
        """Try or save a channel of Slack."""
        form = await decoded(request, SlackForm, FORM)
        return await self._handled(request, form, slack_answer, set_channel, _tried_slack)

    async def discord(self, request: Request) -> Response:
        """Try or save a channel of Discord."""
        form = await decoded(request, DiscordForm, FORM)
        return await self._handled(request, form, discord_answer, set_channel, _tried_discord)

    async def feishu(self, request: Request) -> Response:
        """Try or save a channel of Feishu."""
        form = await decoded(request, FeishuForm, FORM)
        return await self._handled(request, form, feishu_answer, set_channel, _tried_feishu)

    async def webhook(self, request: Request) -> Response:
        """Check or save a channel of type ``webhook``."""
        form = await decoded(request, WebhookForm, FORM)
        if form.digest is not None:
            return await self._handled(request, form, webhook_answer, set_webhook, _untried)
        editor = self._file.editor()

        def draft() -> Any:
            settings = editor.read()
            tables, files = _drafted(settings, form, webhook_answer, set_webhook)
            return editor.change(settings, tables, files).config

        config = await self._file.run(draft)
        async with audited(request, "settings.try", form.channel):
            findings = await load(EXAMINE)(form.channel, config)
        return json_response({"findings": [each.text for each in findings if each.state != "ok"]})

    async def owner(self, request: Request) -> Response:
        """Wait for the person who sends a code to the bot; null if nobody did yet."""
        form = await decoded(request, OwnerForm, FORM)
        settings = await self._file.read()
        language = settings.loaded.config.bots[form.bot].language if form.bot in settings.loaded.config.bots else "en"
        if form.kind == "telegram":
            bot = telegram_answer(
                settings, TelegramForm(bot=form.bot, channel=form.channel, url=form.url, token=form.token)
            )
            found = await pair_telegram(bot, form.code, language, say=_unsaid, wait_s=OWNER_S)
        elif form.kind == "feishu":
            feishu = feishu_answer(settings, _feishu_app(form))
            found = await pair_feishu(feishu, form.code, language, say=_unsaid, wait_s=OWNER_S)
        else:
            app = slack_answer(settings, _app(form))
            me = await me_at(app.base_url, app.bot_token)
            found = await pair_slack(app, me, form.code, language, say=_unsaid, wait_s=OWNER_S)
        return json_response({"owner": {"id": found.id, "name": found.name} if found else None})

    async def _handled(
        self,
        request: Request,
        form: _F,
        answer_of: Callable[[Settings, _F], _A],
        put: Callable[[Table, str, _A], list[SecretFile]],
        tried: Callable[[_A], Any],
    ) -> Response:
        if form.digest is not None:
            draft = partial(_drafted, form=form, answer_of=answer_of, put=put)
            return await self._file.save(request, form.digest, draft, bot=form.bot)
        answer = answer_of(await self._file.read(), form)
        async with audited(request, "settings.try", _host(answer)):
            return json_response(await tried(answer))


def _drafted(
    settings: Settings,
    form: _F,
    answer_of: Callable[[Settings, _F], _A],
    put: Callable[[Table, str, _A], list[SecretFile]],
) -> tuple[Table, list[SecretFile]]:
    tables = deepcopy(settings.place.tables)
    return tables, put(tables, form.bot, answer_of(settings, form))


def _app(form: OwnerForm) -> SlackForm:
    token, app_token = form.token, form.app_token
    return SlackForm(bot=form.bot, channel=form.channel, url=form.url, bot_token=token, app_token=app_token)


def _feishu_app(form: OwnerForm) -> FeishuForm:
    return FeishuForm(bot=form.bot, channel=form.channel, url=form.url, app_id=form.app_id, app_secret=form.token)


def _named(form: ModelForm) -> ModelForm:
    """The form with any name, for a server that is asked which names there are."""
    return ModelForm(bot=form.bot, url=form.url, api=form.api, key=form.key, name=form.name or "-")


def _host(answer: object) -> str:
    """The server that a trial calls."""
    return urlsplit(str(getattr(answer, "base_url", ""))).netloc


async def _tried_model(answer: ModelAnswer | None) -> dict[str, object]:
    if answer is None:
        return {"url": "-", "findings": []}
    tried = await try_model(answer)
    try:
        with anyio.fail_after(PROBE_S):
            findings: list[str] = await load(PROBE)(BotConfig(), model_config(tried))
    except TimeoutError:
        findings = [str(ModelTimeout(f"the model did not respond to a test with tools within {PROBE_S:g} s"))]
    except MillpondError as error:
        findings = [f"the model failed in a test with tools: {error}"]
    return {"url": tried.base_url, "findings": findings}


async def _tried_web(answer: WebAnswer) -> dict[str, object]:
    if answer.search:
        config = WebToolsConfig(search=answer.search, search_url=answer.search_url, api_key=answer.api_key)
        await load(WEB_SEARCH)(config, TRIED, 1)
    return {"findings": []}


async def _tried_voice(answer: VoiceAnswer) -> dict[str, object]:
    return {"findings": [await try_voice(*voice_configs(answer))] if answer.transcription else []}


async def _tried_telegram(answer: TelegramAnswer) -> dict[str, object]:
    code = new_code()
    async with bot_api(answer.token, answer.base_url) as api:
        me = await api.me()
        webhook = await api.webhook()
    findings = [f"a webhook is set for this bot ({webhook}), so the code cannot be received here"] if webhook else []
    return {"name": me.first_name or me.username, "link": f"{me.link}?start={code}", "code": code, "findings": findings}


async def _tried_slack(answer: SlackAnswer) -> dict[str, object]:
    me = await me_at(answer.base_url, answer.bot_token)
    if answer.app_token:
        await check_socket(answer.base_url, answer.app_token, me)
    missing = missing_of(me.scopes) if me.scopes else ()
    findings = [f"the app lacks permissions: {', '.join(missing)}"] if missing else []
    code = new_code() if answer.app_token else ""
    return {"name": f"{me.user}, {me.team}", "link": link_of(me), "code": code, "findings": findings}


async def _tried_discord(answer: DiscordAnswer) -> dict[str, object]:
    app = await app_at(answer.base_url, answer.token)
    findings = [] if app.may_read_content else [NO_INTENT]
    return {"name": app.name, "link": app.invitation, "owner": app.owner_id, "findings": findings}


async def _tried_feishu(answer: FeishuAnswer) -> dict[str, object]:
    me = await feishu_me_at(answer.base_url, answer.app_id, answer.app_secret)
    findings = [f"the app lacks permissions: {', '.join(me.missing)}"] if me.missing else []
    return {"name": me.name, "link": "", "code": "" if answer.events_url else new_code(), "findings": findings}


async def _untried(_answer: WebhookAnswer) -> dict[str, object]:
    return {"findings": []}


def _unsaid(_text: str) -> None:
    """The page says how long it waits."""
