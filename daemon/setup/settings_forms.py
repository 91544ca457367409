"""Forms of the web page, each with the answers of ``millpond init`` in its fields. The interview checks them."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from daemon.config import DiscordConfig, FeishuConfig, Secret, SlackConfig, TelegramConfig
from daemon.config.address import SERVER, is_server
from daemon.config.config_keys import NAME_RULE, is_name
from daemon.config.config_output import shown_url
from daemon.setup.answers import (
    Access,
    DiscordAnswer,
    FeishuAnswer,
    Flags,
    ModelAnswer,
    SlackAnswer,
    TelegramAnswer,
    VoiceAnswer,
    WebAnswer,
    WebhookAnswer,
)
from daemon.setup.config_editor import Settings
from daemon.setup.foreign_settings import Settings as Elsewhere
from daemon.setup.interview import Interview
from daemon.setup.model_apis import Api
from daemon.setup.platforms.discord_interview import DiscordInterview
from daemon.setup.platforms.feishu_interview import FeishuInterview
from daemon.setup.platforms.slack_interview import SlackInterview
from daemon.setup.questions import AnswerRefused, FormAnswers
from daemon.setup.voice_interview import VoiceInterview
from daemon.setup.web_interview import WebInterview

Text = Annotated[str, Meta(max_length=2_000)]
Typed = Annotated[str, Meta(max_length=4_096)] | None
"""A secret as it was typed; empty: none; None: the one that is set stays."""

OTHER_SERVER = (
    "the address was changed, and Millpond does not send the saved secret to a different server. Enter the secret again"
)


class BotForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of all forms."""

    bot: Text
    digest: str | None = None
    """Of the file that is changed; None: the answers are only tried."""


class ModelForm(BotForm, frozen=True, kw_only=True):
    """The model that answers."""

    url: Text
    """``-``: the offline mock model."""
    name: Text = ""
    api: Api = "openai"
    key: Typed = None


class WebForm(BotForm, frozen=True, kw_only=True):
    """What a bot may do on the web."""

    search: Literal["none", "brave", "tavily", "searxng"]
    url: Text = ""
    """Of the SearXNG server."""
    key: Typed = None
    fetch: bool = False


class VoiceForm(BotForm, frozen=True, kw_only=True):
    """The server for voice messages."""

    url: Text
    """``-``: none."""
    key: Typed = None
    transcription: Text = ""
    speech: Text = ""
    voice: Text = ""


class ChannelForm(BotForm, frozen=True, kw_only=True):
    """The fields of all channels."""

    channel: Text
    access: Access = "pairing"
    url: Text = ""
    """Of the platform; empty: as it is."""


class TelegramForm(ChannelForm, frozen=True, kw_only=True):
    """The bot at Telegram."""

    token: Typed = None
    owner: Text = ""


class SlackForm(ChannelForm, frozen=True, kw_only=True):
    """The app in one workspace of Slack."""

    bot_token: Typed = None
    app_token: Typed = None
    signing_secret: Typed = None
    events_url: Text = ""
    """Empty: Socket Mode."""
    owner: Text = ""


class DiscordForm(ChannelForm, frozen=True, kw_only=True):
    """The bot at Discord."""

    token: Typed = None
    owner: Text = ""


class FeishuForm(ChannelForm, frozen=True, kw_only=True):
    """The app in one tenant of Feishu or Lark."""

    app_id: Text = ""
    app_secret: Typed = None
    encrypt_key: Typed = None
    events_url: Text = ""
    """Empty: a long connection."""
    owner: Text = ""


class WebhookForm(ChannelForm, frozen=True, kw_only=True):
    """A bridge to another platform."""

    secret: Typed = None
    port: Annotated[int, Meta(ge=1, le=65_535)] = 8_790


class OwnerForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The wait for the message with a code, by which the owner of a bot is known."""

    code: Annotated[str, Meta(pattern=r"^[A-HJ-KM-NP-TV-Z2-9]{12}\Z")]
    kind: Literal["telegram", "slack", "feishu"]
    bot: Text
    channel: Text
    url: Text = ""
    token: Typed = None
    app_token: Typed = None
    app_id: Text = ""


def model_answer(settings: Settings, form: ModelForm, environ: Mapping[str, str]) -> ModelAnswer | None:
    """The model of a form; None: the offline mock model.

    Raises:
        AnswerRefused: an answer will not do.
    """
    before = settings.loaded.config.bots[_bot(settings, form.bot)].model
    url = before.base_url if form.url == shown_url(before.base_url) else form.url
    flags = Flags(
        bot=form.bot, model_api=form.api, model_url=url, model=form.name, model_key=_stripped(form.key), test=False
    )
    return _interview(settings, flags, environ).model(form.bot)


def web_answer(settings: Settings, form: WebForm) -> WebAnswer:
    """What a bot may do on the web. Raises: as ``model_answer``."""
    bot = _bot(settings, form.bot)
    # Only SearXNG has an address of its own: the key of a provider goes to that provider alone.
    url = form.url if form.search == "searxng" else None
    flags = Flags(web_search=form.search, web_url=url, web_key=_stripped(form.key), web_fetch=form.fetch, test=False)
    answer = WebInterview(FormAnswers(), flags, settings.place).answer(bot)
    if answer is None:
        raise AnswerRefused("--web-search", "", "no provider was given")
    return answer


def voice_answer(settings: Settings, form: VoiceForm) -> VoiceAnswer:
    """The server for voice messages of a form. Raises: as ``model_answer``."""
    config = settings.loaded.config.bots[_bot(settings, form.bot)]
    servers = (config.transcription.base_url, config.speech.base_url, config.model.base_url)
    url = next((each for each in servers if each and form.url == shown_url(each)), form.url)
    flags = Flags(
        voice_url=url,
        voice_key=_stripped(form.key),
        transcription=form.transcription.strip() or "-",
        speech=form.speech.strip() or "-",
        voice=form.voice.strip() or None,
        test=False,
    )
    answer = VoiceInterview(FormAnswers(), flags, settings.place).answer(form.bot)
    return answer or VoiceAnswer()


def telegram_answer(settings: Settings, form: TelegramForm) -> TelegramAnswer:
    """The bot at Telegram of a form. Raises: as ``model_answer``."""
    language = settings.loaded.config.bots[_bot(settings, form.bot)].language
    base_url = _address(settings, form, TelegramConfig().base_url, [("telegram-token", form.token)])
    flags = Flags(
        telegram=True,
        telegram_token=_stripped(form.token),
        telegram_url=base_url,
        channel=form.channel,
        owner=form.owner.strip() or None,
        pair=False,
        access=form.access,
        test=False,
    )
    answer = _interview(settings, flags, {}).telegram(form.bot, language)
    if answer is None:
        raise AnswerRefused("--telegram-token", "", "no token was given")
    return answer


def slack_answer(settings: Settings, form: SlackForm) -> SlackAnswer:
    """The app of Slack of a form. Raises: as ``model_answer``."""
    language = settings.loaded.config.bots[_bot(settings, form.bot)].language
    over_http = bool(form.events_url)
    used = [("slack-token", form.bot_token)] + ([] if over_http else [("slack-app-token", form.app_token)])
    flags = Flags(
        slack=True,
        slack_token=_stripped(form.bot_token),
        slack_app_token=_stripped(form.app_token),
        slack_signing_secret=_stripped(form.signing_secret),
        slack_events_url=form.events_url or "-",
        slack_url=_address(settings, form, SlackConfig().base_url, used),
        slack_channel=form.channel,
        slack_owner=form.owner.strip() or None,
        pair=False,
        access=form.access,
        test=False,
    )
    answer = SlackInterview(FormAnswers(), flags, settings.place).answer(form.bot, language, offered=False)
    if answer is None:
        raise AnswerRefused("--slack-token", "", "no token was given")
    return answer


def discord_answer(settings: Settings, form: DiscordForm) -> DiscordAnswer:
    """The bot at Discord of a form. Raises: as ``model_answer``."""
    flags = Flags(
        discord=True,
        discord_token=_stripped(form.token),
        discord_url=_address(settings, form, DiscordConfig().base_url, [("discord-token", form.token)]),
        discord_channel=form.channel,
        discord_owner=form.owner.strip() or None,
        pair=False,
        access=form.access,
        test=False,
    )
    answer = DiscordInterview(FormAnswers(), flags, settings.place).answer(_bot(settings, form.bot))
    if answer is None:
        raise AnswerRefused("--discord-token", "", "no token was given")
    return answer


def feishu_answer(settings: Settings, form: FeishuForm) -> FeishuAnswer:
    """The app of Feishu of a form. Raises: as ``model_answer``."""
    language = settings.loaded.config.bots[_bot(settings, form.bot)].language
    flags = Flags(
        feishu=True,
        feishu_app_id=form.app_id.strip() or None,
        feishu_app_secret=_stripped(form.app_secret),
        feishu_encrypt_key=_stripped(form.encrypt_key),
        feishu_events_url=form.events_url or "-",
        feishu_url=_address(settings, form, FeishuConfig().base_url, [("feishu-app-secret", form.app_secret)]),
        feishu_channel=form.channel,
        feishu_owner=form.owner.strip() or None,
        pair=False,
        access=form.access,
        test=False,
    )
    answer = FeishuInterview(FormAnswers(), flags, settings.place).answer(form.bot, language, offered=False)
    if answer is None:
        raise AnswerRefused("--feishu-app-secret", "", "no secret was given")
    return answer


def webhook_answer(settings: Settings, form: WebhookForm) -> WebhookAnswer:
    """The bridge of a form. Raises: as ``model_answer``."""
    _bot(settings, form.bot)
    if not is_name(form.channel):
        raise AnswerRefused("--channel", form.channel, NAME_RULE)
    if not is_server(form.url):
        raise AnswerRefused("--url", "", SERVER)
    secret = None if form.secret is None else Secret(form.secret.strip())
    return WebhookAnswer(channel=form.channel, url=form.url, secret=secret, port=form.port, access=form.access)


def _interview(settings: Settings, flags: Flags, environ: Mapping[str, str]) -> Interview:
    return Interview(FormAnswers(), flags, settings.place, Elsewhere(), environ)


def _bot(settings: Settings, name: str) -> str:
    if name not in settings.loaded.config.bots:
        raise AnswerRefused("--bot", name[:100], f"choose one of {', '.join(settings.loaded.config.bots)}")
    return name


def _address(settings: Settings, form: ChannelForm, usual: str, secrets: list[tuple[str, str | None]]) -> str:
    """The address of the platform.

    Raises:
        AnswerRefused: it is another one, and a secret that was given for the one before would be sent there.
    """
    before = settings.place.word("base_url", "channels", form.channel) or usual
    if form.url in ("", shown_url(before)):
        return before
    for flag, secret in secrets:
        if secret is None:
            raise AnswerRefused(f"--{flag}", "", OTHER_SERVER)
    return form.url


def _stripped(secret: str | None) -> str | None:
    return None if secret is None else secret.strip()
