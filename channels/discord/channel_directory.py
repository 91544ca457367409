"""The channels, threads and roles of the bot's servers: as the gateway reports them, else asked of Discord."""

import random
from collections import OrderedDict
from collections.abc import Sequence

import anyio
import msgspec
import structlog

from channels.discord.api import Api, Request
from channels.discord.api_types import Channel, Guild, Role
from channels.discord.discord_events import Place
from daemon.errors import UNREADABLE, ChannelError, SendRejected, brief

KEPT_MAX = 20_000
"""Channels that are remembered, the last used: about 5 MB."""

CALL_S = 10.0
"""How long Discord may take to describe a channel."""

REST_S = 2.0
"""Pause before Discord is asked again, less up to a half of it."""

_channel = msgspec.json.Decoder(Channel).decode
_roles = msgspec.json.Decoder(list[Role]).decode
_log = structlog.get_logger()


class ChannelDirectory:
    """What is known of the servers of one bot."""

    def __init__(self, api: Api, *, me: str, channel: str) -> None:
        """``me``: the bot's ID; ``channel``: the channel instance."""
        self._api = api
        self._me = me
        self._name = channel
        self._channels: OrderedDict[str, Channel] = OrderedDict()
        self._roles: dict[str, tuple[Role, ...]] = {}
        """By server."""

    def add(self, found: Channel) -> None:
        """Remember a channel or thread, as it is now."""
        self._channels[found.id] = found
        self._channels.move_to_end(found.id)
        while len(self._channels) > KEPT_MAX:
            self._channels.popitem(last=False)

    def add_guild(self, guild: Guild) -> None:
        """Remember a server."""
        for each in (*guild.channels, *guild.threads):
            self.add(each)
        if guild.roles:
            self._roles[guild.id] = guild.roles

    def forget_roles(self, guild_id: str) -> None:
        """The roles of a server have changed."""
        self._roles.pop(guild_id, None)

    async def place(self, channel_id: str, guild_id: str | None, *, roles: Sequence[str] = ()) -> Place:
        """Where a message was written. ``roles``: those that it mentions.

        Asks until Discord answers: under another name, the message would belong to another conversation.
        """
        if not guild_id:
            return Place(chat=channel_id)
        here = await self._described(channel_id)
        parent = here.thread_of
        above = await self._described(parent) if parent else here
        names = {each.id: each.name or "" for each in (here, above)}
        ours: tuple[str, ...] = ()
        if roles:
            known = await self._roles_of(guild_id)
            names |= {role.id: role.name for role in known}
            ours = tuple(role.id for role in known if role.tags.bot_id == self._me)
        return Place(
            chat=above.id, thread=here.id if parent else "", name=f"#{above.name}" if above.name else "",
            names=names, roles=ours,
        )  # fmt: skip

    async def _described(self, channel_id: str) -> Channel:
        known = self._channels.get(channel_id)
        if known is None:
            content = await self._asked(f"/channels/{channel_id}")
            known = Channel(id=channel_id)
            if content is not None:
                try:
                    known = _channel(content)
                except UNREADABLE as error:
                    _log.warning("directory.unreadable", channel=self._name, reason=type(error).__name__)
        self.add(known)
        return known

    async def _roles_of(self, guild_id: str) -> tuple[Role, ...]:
        if guild_id not in self._roles:
            content = await self._asked(f"/guilds/{guild_id}/roles")
            try:
                self._roles[guild_id] = tuple(_roles(content or b"[]"))
            except UNREADABLE as error:
                _log.warning("directory.unreadable", channel=self._name, reason=type(error).__name__)
        return self._roles.get(guild_id, ())

    async def _asked(self, path: str) -> bytes | None:
        """Discord's answer; None: the bot may not know."""
        while True:
            try:
                return await self._api.call(Request("GET", path), timeout_s=CALL_S)
            except SendRejected as error:
                _log.warning("directory.refused", channel=self._name, reason=brief(error))
                return None
            except ChannelError as error:
                _log.warning("directory.waits", channel=self._name, reason=brief(error))
                await anyio.sleep(getattr(error, "retry_after_s", None) or REST_S * random.uniform(0.5, 1.0))
