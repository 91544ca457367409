"""``GET /api/settings``: settings without secrets; ``PUT``: changes of them; ``POST …/restart``."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, TypeVar

import anyio
import msgspec
from anyio import to_thread
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import Handler, audited
from channels.web.error_response import body_of, problem
from channels.web.request_params import decoded, json_response
from channels.web.site import Site
from daemon.cli.preflight import faults
from daemon.config import (
    BotConfig,
    ChannelConfig,
    DiscordConfig,
    FeishuConfig,
    PushConfig,
    Secret,
    SlackConfig,
    TelegramConfig,
    WebhookChannelConfig,
    bot_workspace,
)
from daemon.config.config_output import shown_url
from daemon.config.environment import Table
from daemon.errors import ConfigError, MillpondError, ModelError, OutputError, ToolError
from daemon.overview import read_workers
from daemon.process import Launch
from daemon.services import ROLES
from daemon.setup.config_editor import Change, Editor, Settings, Value, first_files, values_of, with_changes
from daemon.setup.config_tables import SecretFile
from daemon.setup.model_apis import APIS
from daemon.setup.platforms.discord_api import DiscordSaysNo
from daemon.setup.platforms.feishu_api import FeishuSaysNo
from daemon.setup.platforms.slack_api import SlackSaysNo
from daemon.setup.platforms.telegram_pairing import TelegramSaysNo
from daemon.setup.questions import AnswerRefused

# The configuration file behind the endpoints: read, changed and written in a thread, one request at a time.

NO_LAUNCH = "This process was not started by `millpond run`, so its configuration cannot be changed through the API."
CHANGED = (
    "The configuration file has changed since you opened it, so your change was not saved. Reload the settings and "
    "repeat your change."
)

_T = TypeVar("_T")

Draft = Callable[[Settings], tuple[Table, list[SecretFile]]]
"""What a request makes of the tables of the file."""


class NotEditable(MillpondError):
    """The process was not started from a configuration that it may change."""


_REFUSALS: Mapping[type[MillpondError], tuple[int, str]] = {
    NotEditable: (409, "not_editable"),
    OutputError: (409, "not_written"),
    ConfigError: (422, "bad_setting"),
    ModelError: (422, "model_failed"),
    ToolError: (422, "search_failed"),
    TelegramSaysNo: (422, "platform_refused"),
    SlackSaysNo: (422, "platform_refused"),
    DiscordSaysNo: (422, "platform_refused"),
    FeishuSaysNo: (422, "platform_refused"),
}


class SettingsFile:
    """The configuration file of the process of one site."""

    def __init__(self, site: Site) -> None:
        self._process = site.process
        # One at a time, so that the check of the digest and the writing belong together.
        self._limiter = anyio.CapacityLimiter(1)

    @property
    def launch(self) -> Launch:
        """How the process was started.

        Raises:
            NotEditable: in a way that allows no changes.
        """
        if self._process.launch is None:
            raise NotEditable(NO_LAUNCH)
        return self._process.launch

    def editor(self) -> Editor:
        """Edits the file. Errors as for ``launch``."""
        launch = self.launch
        return Editor(launch.file, launch.environ, partial(faults, roles=launch.roles or tuple(ROLES)))

    async def run(self, work: Callable[[], _T]) -> _T:
        """The result of ``work`` in a thread."""
        return await to_thread.run_sync(work, limiter=self._limiter)

    async def read(self) -> Settings:
        """The file as it is now. Errors as for ``Editor.read``."""
        return await self.run(self.editor().read)

    async def save(self, request: Request, digest: str, draft: Draft, *, bot: str = "") -> Response:
        """Change the file, unless it is another one than the client has read. ``bot`` gets its first files."""
        editor = self.editor()

        def checked() -> Change | None:
            settings = editor.read()
            return editor.change(settings, *draft(settings)) if settings.digest == digest else None

        change = await self.run(checked)
        if change is None:
            return problem(409, "settings_changed", CHANGED)

        def written() -> str:
            copy = editor.write(change, stamp=f"{self._process.clock.now():%Y%m%dT%H%M%S%f}")
            if bot:
                first_files(change, bot, bot_workspace(change.config, bot))
            return copy

        async with audited(request, "settings.change", ", ".join(change.keys)) as doing:
            copy = await self.run(written)
            doing.outcome = f"copy {copy}" if copy else "done"
        return json_response({"keys": change.keys, "copy": copy})


def translated(handler: Handler) -> Handler:
    """``handler`` with responses for settings that cannot be used, and for servers that refuse them."""

    async def handled(request: Request) -> Response:
        try:
            return await handler(request)
        except MillpondError as error:
            return _refused(error)

    return handled


def _refused(error: MillpondError) -> Response:
    """The response to a setting that cannot be used, or to a server that refuses it.

    Raises:
        MillpondError: it is another error.
    """
    if isinstance(error, AnswerRefused):
        return _with_field(error)
    for kind, (status, code) in _REFUSALS.items():
        if isinstance(error, kind):
            return problem(status, code, str(error))
    raise error


def _with_field(error: AnswerRefused) -> Response:
    """The name of the field, as the form and the setup on the command line call it, is part of the error."""
    field = error.flag.removeprefix("--")
    text = f"{error.problem[0].upper()}{error.problem[1:].rstrip('.')}."
    return Response(body_of("bad_setting", text, field=field), 422, media_type="application/json")


FORM = 'The body must be {"digest": "…", "changes": {"bots.pond.language": "zh"}}.'
CHANGES_BYTES = 131_072
"""Largest body: lists of some thousand people."""


class _Changes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of ``PUT``."""

    digest: str
    changes: Annotated[dict[str, Value], Meta(min_length=1, max_length=200)]


class SettingsEndpoints:
    """The endpoints of one site."""

    def __init__(self, site: Site, file: SettingsFile) -> None:
        self._site = site
        self._file = file

    async def read(self, _request: Request) -> Response:
        """The settings as the file says them now, and whether they are in use."""
        settings = await self._file.read()
        process, config = self._site.process, settings.loaded.config
        workers = (await read_workers(process.bus, limit=1)).workers
        return json_response(
            {
                "file": str(settings.place.path),
                "digest": settings.digest,
                "in_use": config == process.config,
                "others": sorted({each.worker for each in workers if each.worker != process.name}),
                "values": values_of(config),
                "locked": settings.locked,
                "bots": {name: _bot(bot) for name, bot in config.bots.items()},
                "channels": {name: _channel(channel) for name, channel in config.channels.items()},
                "apis": {api: {"url": each.url, "model": each.model} for api, each in APIS.items()},
                "free": {kind: _free(settings, kind) for kind in ("telegram", "slack", "discord", "feishu", "webhook")},
            }
        )

    async def change(self, request: Request) -> Response:
        """Change some settings."""
        wanted = await decoded(request, _Changes, FORM, max_bytes=CHANGES_BYTES)

        def draft(settings: Settings) -> tuple[Table, list[SecretFile]]:
            return with_changes(settings.place.tables, settings.loaded.config, wanted.changes), []

        return await self._file.save(request, wanted.digest, draft)

    async def restart(self, request: Request) -> Response:
        """Start the services of this process again with the configuration as it is now."""
        launch = self._file.launch
        loaded = await self._file.run(self._file.editor().usable)
        if self._site.process.stopping.is_set():
            return problem(503, "stopping", "This process is already stopping. Wait until the process has restarted.")
        async with audited(request, "settings.restart", self._site.process.name):
            launch.again = loaded
        self._site.process.stopping.set()
        return json_response({"restarting": True}, 202)


def _bot(bot: BotConfig) -> dict[str, object]:
    model = bot.model
    return {
        "offline": model.offline,
        "api": model.api,
        "url": shown_url(model.base_url),
        "name": model.name,
        "key_set": bool(model.api_key),
        "fallbacks": [each.name for each in model.fallbacks],
        "web": {
            "search": bot.web.search or "none",
            "url": shown_url(bot.web.search_url),
            "key_set": bool(bot.web.api_key),
            "fetch": "web_fetch" in bot.tools,
        },
        "voice": {
            "url": shown_url(bot.transcription.base_url or bot.speech.base_url),
            "transcription": bot.transcription.name,
            "speech": bot.speech.name,
            "voice": bot.speech.voice,
            "key_set": bool(bot.transcription.api_key or bot.speech.api_key),
        },
    }


def _channel(channel: ChannelConfig) -> dict[str, object]:
    found: dict[str, object] = {
        "type": str(channel.__struct_config__.tag),
        "bot": channel.bot,
        "enabled": channel.enabled,
        "platform": isinstance(channel, PushConfig),
    }
    match channel:
        case TelegramConfig() | DiscordConfig():
            found |= {"url": shown_url(channel.base_url), "set": _set(token=channel.token)}
        case SlackConfig():
            secrets = {key: getattr(channel, key) for key in ("bot_token", "app_token", "signing_secret")}
            found |= {"url": shown_url(channel.base_url), "events_url": channel.events.url, "set": _set(**secrets)}
        case FeishuConfig():
            secrets = {key: getattr(channel, key) for key in ("app_secret", "encrypt_key")}
            found |= {"url": shown_url(channel.base_url), "events_url": channel.events.url, "set": _set(**secrets)}
            found["app_id"] = channel.app_id
        case WebhookChannelConfig():
            found |= {"url": shown_url(channel.url), "port": channel.port, "set": _set(secret=channel.secret)}
        case _:
            pass
    return found


def _set(**secrets: Secret) -> list[str]:
    """The names of the secrets that are set."""
    return [name for name, secret in secrets.items() if secret]


def _free(settings: Settings, kind: str) -> str:
    """A name for a new channel."""
    return settings.place.free_channel(kind, next(iter(settings.loaded.config.bots)))
