"""All connections of one bot to the gateway. Each receives the events of a share of the servers (Gateway, "Sharding").

Usually it is one connection. If no session can be resumed, there are as many as Discord recommends for the number of
servers. Their number changes only then, and if Discord rejects it: all sessions begin anew with another number.
"""

import random
from functools import partial

import anyio
import anyio.abc
import structlog

from channels.discord.api import Api
from channels.discord.event_inlet import EventInlet
from channels.discord.gateway import Gateway
from channels.discord.gateway_connection import GatewayLogin
from channels.discord.gateway_session import MESSAGE_CONTENT, GatewaySessions
from channels.discord.health_check import app_of
from channels.discord.identify_limit import IdentifyLimit
from daemon.bus import Bus
from daemon.errors import UNREADABLE, BusError, ChannelError, brief

REST_S = 0.5
"""Pause before Redis is asked for the sessions again, up to twice of it."""

_log = structlog.get_logger()


class GatewayShards:
    """The connections of one channel instance while this process leads."""

    def __init__(self, api: Api, login: GatewayLogin, inlet: EventInlet, bus: Bus, *, channel: str, nonce: str) -> None:
        """``login``: with the intents that need no permission of Discord's; ``nonce``: of the lease."""
        self._api = api
        self._login = login
        self._inlet = inlet
        self._channel = channel
        self._limit = IdentifyLimit()
        self._new = partial(GatewaySessions, bus, channel, nonce=nonce)

    async def run(self) -> None:
        """Receive events until cancelled. Discord sends the events again that were not handled by then."""
        sessions = await self._loaded()
        async with anyio.create_task_group() as work:
            while True:
                count = await self._until_resharded(sessions, work)
                _log.info("gateway.shards", channel=self._channel, count=count)
                for each in sessions:  # whose events have other numbers than those of the next sessions
                    await each.progress.until_pending(0)
                sessions = [self._new(shard=number, shards=count) for number in range(count)]

    async def _until_resharded(self, sessions: list[GatewaySessions], work: anyio.abc.TaskGroup) -> int:
        """Receive events until another number of connections is needed: that number."""
        found = 1
        async with anyio.create_task_group() as tg:

            async def receive(gateway: Gateway) -> None:
                nonlocal found
                found = await gateway.run(work)
                tg.cancel_scope.cancel()

            for each in sessions:
                gateway = Gateway(
                    self._api, self._login, each, self._inlet, self._limit, others=sessions, channel=self._channel
                )
                tg.start_soon(receive, gateway)
        return found

    async def _loaded(self) -> list[GatewaySessions]:
        """The sessions of the process before, as far as they can be resumed; of the first shard in any case."""
        first = await self._session(self._new())
        sessions = [first]
        for number in range(1, first.shards):
            sessions.append(await self._session(self._new(shard=number, shards=first.shards)))
        if any(each.id and not each.intents & MESSAGE_CONTENT for each in sessions) and await self._may_read_content():
            for each in sessions:
                each.forget()  # a person has turned the privileged intent on since
        for each in sessions:
            if each.intents & ~MESSAGE_CONTENT != self._login.intents:
                each.forget()  # the configuration has changed
        return sessions

    async def _session(self, session: GatewaySessions) -> GatewaySessions:
        while True:
            try:
                await session.load()
            except BusError as error:
                _log.warning("hearing.waits", channel=self._channel, reason=brief(error))
                await anyio.sleep(REST_S * random.uniform(1.0, 2.0))
            else:
                return session

    async def _may_read_content(self) -> bool:
        try:
            return (await app_of(self._api)).may_read_content
        except (ChannelError, *UNREADABLE):
            return False
