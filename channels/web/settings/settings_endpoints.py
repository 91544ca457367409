"""``GET /api/settings``: settings without secrets; ``PUT``: changes of them; ``POST …/restart``."""

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.error_response import problem
from channels.web.json_body import decoded, json_response
from channels.web.settings.settings_file import SettingsFile
from channels.web.site import Site
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
)
from daemon.config.config_output import shown_url
from daemon.config.environment import Table
from daemon.overview import read_workers
from daemon.setup.config_editor import Settings
from daemon.setup.config_tables import SecretFile
from daemon.setup.editable_settings import Value, values_of, with_changes
from daemon.setup.model_apis import APIS

FORM = 'The body must be {"digest": "…", "changes": {"bots.pond.language": "zh"}}.'
CHANGES_BYTES = 131_072
"""Largest body: lists of some thousand people."""


class _Changes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of ``PUT``."""

    digest: str
    changes: Annotated[dict[str, Value], Meta(min_length=1, max_length=200)]


class Reading:
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
            return problem(503, "stopping", "This process is already stopping. Wait until it has started again.")
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
