"""The session at the gateway: what Redis keeps of it, so that any process can resume it, and what is acknowledged.

Hash ``mp:poller:{<channel>}``, field ``session``: the session in JSON, beside the lease of the connected process. With
several connections, the session of the first; those of the others are in the fields ``session:1`` and so on.
"""

from typing import Literal

import anyio
import msgspec
import structlog

from daemon.bus import Bus, load_script
from daemon.errors import UNREADABLE, BusError, brief
from daemon.setup.platforms.discord_api import NO_INTENT

# The intents of the bot, and the meaning of the codes with which the gateway closes a connection. Pure.

INTENTS = (1 << 0) | (1 << 9) | (1 << 12)
"""Servers, messages in servers, direct messages (Gateway, "Intents")."""

REACTIONS = (1 << 10) | (1 << 13)
"""Reactions in servers and to direct messages."""

MESSAGE_CONTENT = 1 << 15
"""The privileged intent for the text of messages that do not mention the bot."""

TOKEN = "Discord rejected the bot token. Check the token"  # noqa: S105 - no token

INVALID = "invalid session"
"""The reason of an end at Discord's word that the session cannot be begun or resumed now."""

Remedy = Literal["resume", "identify", "reshard", "without intent", "person"]
"""The next step: resume the session, begin a new one, begin all sessions anew with the number of connections that
Discord recommends, begin one without the privileged intent, wait for a person."""


class Close(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a connection."""

    reason: str
    remedy: Remedy = "resume"


KNOWN = {
    4_003: Close(reason="not authenticated", remedy="identify"),
    4_004: Close(reason=TOKEN, remedy="person"),
    4_007: Close(reason="invalid sequence number", remedy="identify"),
    4_008: Close(reason="rate limited"),
    4_009: Close(reason="session timed out", remedy="identify"),
    4_010: Close(reason="invalid number of connections", remedy="reshard"),
    4_011: Close(reason="the bot is in too many servers for its number of connections", remedy="reshard"),
    4_012: Close(reason="Discord no longer supports this version of its API. Update Millpond", remedy="person"),
    4_013: Close(
        reason="Discord rejected the gateway intents that the bot requested. Update Millpond", remedy="person"
    ),
    4_014: Close(reason=NO_INTENT, remedy="without intent"),
}
"""Topics, "Gateway Close Event Codes"; after all others, the session can be resumed. With 1001, the proxy before the
gateway closes connections when it restarts; the code ends a session only if the bot closes with it."""


def close_of(code: int | None) -> Close:
    """The meaning of a code; None: the connection was cut."""
    if code is None:
        return Close(reason="cut")
    return KNOWN.get(code) or Close(reason=f"closed with code {code}")


SAVE = load_script(__file__, "save_session.lua")

FIELD = "session"

SAVE_EVERY_S = 0.2
"""Shortest time between two writes: events that are received again after a crash have no effect."""

SAVE_TIMEOUT_S = 1.0
"""How long a write may take that events or a stopping process wait for."""

_log = structlog.get_logger()


class GatewaySession(msgspec.Struct, frozen=True, kw_only=True):
    """A session, as Redis keeps it."""

    id: str
    url: str
    """The address at which it is resumed."""
    sequence: int
    """Number of the last event before which all events are handled, itself included."""
    intents: int = INTENTS | MESSAGE_CONTENT
    """With which it was begun; they stay the same when it is resumed."""
    shards: int = 1
    """Number of connections among which the bot's servers were divided when it was begun."""


_decode = msgspec.json.Decoder(GatewaySession).decode


class Progress:
    """Which events of a session are handled."""

    def __init__(self, sequence: int) -> None:
        self.received = sequence
        """Number of the last event that was received."""
        self._pending: dict[int, None] = {}
        self._changed = anyio.Event()

    @property
    def acknowledged(self) -> int:
        """Number of the last event before which all are handled."""
        return min(self._pending) - 1 if self._pending else self.received

    @property
    def pending(self) -> int:
        """Number of events that are being handled."""
        return len(self._pending)

    def begin(self, sequence: int) -> None:
        """An event was received."""
        self.received = max(self.received, sequence)
        self._pending[sequence] = None

    def end(self, sequence: int) -> None:
        """An event was handled."""
        self._pending.pop(sequence, None)
        self.tell()

    def tell(self) -> None:
        """Wake those that wait for a change."""
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def change(self) -> None:
        """Wait until another event was handled."""
        await self._changed.wait()

    async def until_pending(self, most: int) -> None:
        """Wait until at most so many events are being handled."""
        while self.pending > most:
            await self.change()


class GatewaySessions:
    """The session of one share of a bot's servers."""

    def __init__(self, bus: Bus, channel: str, *, nonce: str, shard: int = 0, shards: int = 1) -> None:
        """``nonce``: of the lease under which the session is saved; ``shard``: the share, from 0, of ``shards``."""
        self.shard = shard
        self.shards = shards
        self._bus = bus
        self._channel = channel
        self._nonce = nonce
        self._key = bus.keys.poller(channel)
        self._field = f"{FIELD}:{shard}" if shard else FIELD
        self._saved: GatewaySession | None = None
        self.id = ""
        """Empty: there is none."""
        self.url = ""
        self.intents = 0
        self.progress = Progress(0)

    async def load(self) -> None:
        """Read the session of the process before; the first share's has the number of shares. Raises: BusError."""
        found: bytes | None = await self._bus.call("HGET", self._key, self._field)
        if not found:
            return
        try:
            session = _decode(found)
        except UNREADABLE as error:
            _log.warning("session.unreadable", channel=self._channel, reason=type(error).__name__)
            return
        if not self.shard:
            self.shards = session.shards
        elif session.shards != self.shards:
            return
        self._saved = session
        self.begin(session)

    def begin(self, session: GatewaySession) -> None:
        """Discord has begun a session; all events of the one before are handled."""
        before, self.progress = self.progress, Progress(session.sequence)
        self.id, self.url, self.intents = session.id, session.url, session.intents
        before.tell()

    def forget(self) -> None:
        """Discord does not know the session any more."""
        self.id = ""

    async def keep_saved(self) -> None:
        """Save the session after each change, for ever."""
        while True:
            try:
                await self.save()
            except BusError as error:
                _log.warning("session.unsaved", channel=self._channel, reason=brief(error))
            await anyio.sleep(SAVE_EVERY_S)
            while self._current() == self._saved or not self.id:
                await self.progress.change()

    async def save(self) -> bool:
        """Save the session, if there is one; False if another process leads now. Raises: BusError."""
        if not self.id:
            return True
        session = self._current()
        saved: int = await self._bus.run(SAVE, [self._key], [self._nonce, msgspec.json.encode(session), self._field])
        if not saved:
            _log.info("session.superseded", channel=self._channel)
        self._saved = session
        return saved == 1

    def _current(self) -> GatewaySession:
        sequence = self.progress.acknowledged
        return GatewaySession(id=self.id, url=self.url, sequence=sequence, intents=self.intents, shards=self.shards)

    async def save_now(self) -> None:
        """Save the session when it begins, and when the process gives the channel away; gives up soon."""
        with anyio.move_on_after(SAVE_TIMEOUT_S, shield=True):
            try:
                await self.save()
            except BusError as error:
                _log.warning("session.unsaved", channel=self._channel, reason=brief(error))
