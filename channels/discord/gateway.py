"""Receiving a bot's events from the gateway: connections are opened, resumed and replaced.

Discord numbers the events of a session. After a connection was lost, the next one resumes the session, and Discord
sends all events after the number that it is told (Events, "Gateway"). Within a process that is the last number
received; after a restart the last one before which all events are handled.
"""

import random
from collections.abc import Sequence

import anyio
import anyio.abc
import msgspec
import structlog

from channels.discord.api import Api, Request
from channels.discord.api_types import GatewayAddress
from channels.discord.event_inlet import EventInlet
from channels.discord.gateway_connection import GatewayConnection, GatewayLogin
from channels.discord.gateway_session import INVALID, MESSAGE_CONTENT, Close, GatewaySessions
from channels.discord.identify_limit import IdentifyLimit
from channels.websocket_client import opened, websocket_session
from daemon.config.address import is_discords
from daemon.errors import UNREADABLE, ChannelError, SendRefused, SendRejected, brief

OPEN_S = 10.0
"""How long connecting may take, and asking for the address."""

EVENT_MAX_BYTES = 33_554_432
"""Largest event that is read; that of a large server has some megabytes."""

PAUSE_MIN_S, PAUSE_MAX_S = 0.5, 30.0
"""Rest after a failure, doubled with each one more, less up to a half."""

PERSON_S = 60.0
"""Rest when only a person can help."""

ELSEWHERE = 3
"""Failures after which the session is resumed at the address for new ones, or, if Discord refuses to resume the
session, is given up."""

INVALID_MAX_S = 5.0
"""Longest rest after a session was refused, less up to four fifths (Gateway, "Invalid Session")."""


_address = msgspec.json.Decoder(GatewayAddress).decode
_log = structlog.get_logger()


class Resharded(Exception):
    """The bot needs another number of connections."""

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} connections")
        self.count = count


class Gateway:
    """The events of one share of a bot's servers."""

    def __init__(  # noqa: PLR0913 - what a connection needs and what the connections share, all by name
        self,
        api: Api,
        login: GatewayLogin,
        sessions: GatewaySessions,
        inlet: EventInlet,
        limit: IdentifyLimit,
        *,
        others: Sequence[GatewaySessions],
        channel: str,
    ) -> None:
        """``login``: with the intents that need no permission of Discord's; ``others``: the sessions of all shares."""
        self._api = api
        self._login = GatewayLogin(token=login.token, intents=login.intents | MESSAGE_CONTENT)
        self._sessions = sessions
        self._inlet = inlet
        self._limit = limit
        self._others = others
        self._channel = channel
        self._failures = 0
        self._is_rejected = False
        """Whether Discord rejected the number of connections."""

    async def run(self, work: anyio.abc.TaskGroup) -> int:
        """Receive events until another number of connections is needed: that number. They are handled in ``work``."""
        count = 1
        try:
            async with anyio.create_task_group() as tg:
                tg.start_soon(self._sessions.keep_saved)
                count = await self._resharded(work)
                tg.cancel_scope.cancel()
        finally:
            await self._sessions.save_now()
        return count

    async def _resharded(self, work: anyio.abc.TaskGroup) -> int:
        while True:
            try:
                rest_s = await self._once(work)
            except Resharded as error:
                return error.count
            await anyio.sleep(rest_s)

    async def _once(self, work: anyio.abc.TaskGroup) -> float:
        """Be connected once; how long to rest then."""
        try:
            connection, ending = await self._connected(work)
        except ChannelError as error:
            rest_s = self._backoff()
            if isinstance(error, SendRejected):
                rest_s = PERSON_S
            elif isinstance(error, SendRefused):
                rest_s = max(rest_s, error.retry_after_s or 0.0)
            _log.warning("gateway.refused", channel=self._channel, waited_s=round(rest_s, 3), reason=brief(error))
            return rest_s
        if connection.is_steady:
            self._failures = 0
        return self._rest_after(ending)

    async def _connected(self, work: anyio.abc.TaskGroup) -> tuple[GatewayConnection, Close]:
        """A connection that has ended. Raises: ChannelError: it was not opened."""
        can_resume = self._sessions.id and self._failures < ELSEWHERE
        url = self._sessions.url if can_resume else await self._new_address()
        if not is_discords(url, self._api.base):
            self._sessions.forget()
            raise SendRefused("Discord returned a gateway address that does not belong to Discord")
        async with websocket_session(url.replace("ws", "http", 1)) as session:
            address = f"{url.rstrip('/')}/?v=10&encoding=json"
            ws = await opened(session, address, platform="Discord", timeout_s=OPEN_S, max_bytes=EVENT_MAX_BYTES)
            connection = GatewayConnection(ws, self._login, self._sessions, self._inlet, channel=self._channel)
            return connection, await connection.serve(work)

    async def _new_address(self) -> str:
        """The address for a new session, once Discord allows one, or at which the session is resumed."""
        if self._sessions.id:
            return (await self._address()).url
        # The events of the session before have other numbers.
        await self._sessions.progress.until_pending(0)
        async with self._limit.turn(self._sessions.shard):
            found = await self._address()
            may_reshard = self._is_rejected or not any(each.id for each in self._others)
            if may_reshard and found.shards != self._sessions.shards:
                raise Resharded(found.shards)
            self._limit.count(self._sessions.shard, found.session_start_limit)
        return found.url

    async def _address(self) -> GatewayAddress:
        try:
            return _address(await self._api.call(Request("GET", "/gateway/bot"), timeout_s=OPEN_S))
        except UNREADABLE:
            raise SendRefused("Discord did not return a gateway address. Check base_url.") from None

    def _rest_after(self, ending: Close) -> float:
        """How long to rest before the next connection is opened."""
        is_hopeless = ending.reason == INVALID and self._failures >= ELSEWHERE
        if ending.remedy == "resume" and not is_hopeless:
            return self._backoff()
        self._sessions.forget()
        self._is_rejected = ending.remedy == "reshard"
        if ending.remedy == "without intent":
            self._login = GatewayLogin(token=self._login.token, intents=self._login.intents & ~MESSAGE_CONTENT)
            _log.error("gateway.intent", channel=self._channel, reason=ending.reason)
            return 0.0
        if ending.remedy == "person":
            text = f"{ending.reason} of channels.{self._channel}."
            _log.error("gateway.disabled", channel=self._channel, waited_s=PERSON_S, reason=text)
            return PERSON_S
        # More than 1,000 new sessions a day cost the bot its token (Gateway, "Identifying").
        rest_s = max(INVALID_MAX_S * random.uniform(0.2, 1.0), self._backoff())
        _log.warning("gateway.refused", channel=self._channel, waited_s=round(rest_s, 3), reason=ending.reason)
        return rest_s

    def _backoff(self) -> float:
        rest_s = random.uniform(0.5, 1.0) * min(PAUSE_MAX_S, PAUSE_MIN_S * 2.0 ** min(self._failures, 30))
        self._failures += 1
        return rest_s
