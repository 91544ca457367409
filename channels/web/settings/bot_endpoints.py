"""``POST /api/settings/bot`` and ``…/bot/delete``: creating and deleting bots in the configuration."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from channels.web.request_params import decoded
from channels.web.settings.settings_endpoints import SettingsFile
from daemon.config.environment import Table
from daemon.setup.bot_sections import with_bot, without_bot
from daemon.setup.config_editor import Settings
from daemon.setup.config_tables import SecretFile
from daemon.setup.settings_forms import Text

CREATE = 'The body must be {"digest": "…", "name": "heron", "like": "pond"}.'
DELETE = 'The body must be {"digest": "…", "bot": "heron"}.'


class _New(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    digest: str
    name: Text
    like: Text
    """The bot whose model, language and time zone the new bot has."""


class _Old(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    digest: str
    bot: Text


class Bots:
    """The endpoints of one site."""

    def __init__(self, file: SettingsFile) -> None:
        self._file = file

    async def create(self, request: Request) -> Response:
        """Add a bot."""
        wanted = await decoded(request, _New, CREATE)

        def draft(settings: Settings) -> tuple[Table, list[SecretFile]]:
            return with_bot(settings.place.tables, settings.loaded.config, wanted.name, wanted.like), []

        return await self._file.save(request, wanted.digest, draft, bot=wanted.name)

    async def delete(self, request: Request) -> Response:
        """Remove a bot. Its files, conversations and memories stay."""
        wanted = await decoded(request, _Old, DELETE)

        def draft(settings: Settings) -> tuple[Table, list[SecretFile]]:
            return without_bot(settings.place.tables, settings.loaded.config, wanted.bot), []

        return await self._file.save(request, wanted.digest, draft)
