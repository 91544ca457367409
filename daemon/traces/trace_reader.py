"""Reading traces: of a session, of a turn, and by the id of a message or what belongs to it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import msgspec

from daemon.bus import Bus
from daemon.traces.trace_records import Delivered, Span, Trace, delivered_in, is_trace, traces_in

AT_ONCE = 50
"""Sessions whose traces are looked through at once: at most some megabytes."""
SESSIONS_MAX = 10_000
"""Sessions that are looked through for an id, those active last."""
LOOK_S = 5.0
"""How long is looked."""
LAST = 8
"""So many of the last records are read for the newest turn: a trace, and the delivery of a reply's parts after it."""

_turn_named = re.compile(r"(?P<session>[^#]+)#(?P<turn>[0-9]{1,15})").fullmatch


@dataclass(frozen=True, kw_only=True)
class Found:
    """A trace, and what is known of the delivery of its reply."""

    session: str
    trace: Trace
    deliveries: tuple[Span, ...]


class Traces:
    """Reads the traces of one database. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def of(self, session: str, *, before: int | None = None, limit: int = 20) -> list[Found]:
        """The newest turns, or those before a turn, newest first."""
        raws = await self._kept(session, 0)
        traces = [trace for trace in traces_in(reversed(raws)) if before is None or trace.turn < before]
        delivered = delivered_in(raws)
        return [_found(session, trace, delivered) for trace in traces[:limit]]

    async def newest(self, session: str) -> Trace | None:
        """The newest turn alone; None when nothing is kept of any."""
        raws = await self._kept(session, -LAST)
        if len(raws) == LAST and not any(map(is_trace, raws)):
            raws = await self._kept(session, 0)  # the reply had many parts
        found = traces_in(raws)
        return found[-1] if found else None

    async def one(self, session: str, turn: int) -> Found | None:
        """A turn; None when nothing is kept of it."""
        found = await self.of(session, before=turn + 1, limit=1)
        return found[0] if found and found[0].trace.turn == turn else None

    async def find(self, name: str) -> Found | None:
        """The newest turn that is called ``name``: ``<session>#<turn>``, a message's id, or its correlation id.

        Ids are looked for in the sessions active last, for ``LOOK_S`` at most: no turn is to pay for an index.
        """
        named = _turn_named(name)
        if named and (found := await self.one(named["session"], int(named["turn"]))):
            return found
        with anyio.move_on_after(LOOK_S):
            sessions = [each.decode() for each in await self._newest()]
            for at in range(0, len(sessions), AT_ONCE):
                session, turn = await self._among(sessions[at : at + AT_ONCE], name)
                if session:
                    return await self.one(session, turn)
        return None

    async def _kept(self, session: str, first: int) -> list[bytes]:
        found: list[bytes] = await self._bus.call("LRANGE", self._bus.keys.traces(session), first, -1)
        return found

    async def _newest(self) -> list[bytes]:
        found: list[bytes] = await self._bus.call("ZRANGE", self._bus.keys.sessions, 0, SESSIONS_MAX - 1, "REV")
        return found

    async def _among(self, sessions: Sequence[str], name: str) -> tuple[str, int]:
        """Session and turn that answered what is called ``name``; an empty session when none did."""
        found = dict[str, int]()

        async def look(session: str) -> None:
            # As it stands in the JSON: what is decoded is next to nothing.
            quoted = msgspec.json.encode(name)
            for trace in traces_in(raw for raw in await self._kept(session, 0) if quoted in raw):
                if name in trace.answers or name in trace.correlation:
                    found[session] = trace.turn

        async with anyio.create_task_group() as tg:  # one tick, few pipelines
            for session in sessions:
                tg.start_soon(look, session)
        return next(((session, found[session]) for session in sessions if session in found), ("", 0))


def _found(session: str, trace: Trace, delivered: Sequence[Delivered]) -> Found:
    spans = tuple(each.span for each in delivered if each.turn == trace.turn)
    return Found(session=session, trace=trace, deliveries=spans)
