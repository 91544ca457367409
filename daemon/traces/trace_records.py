"""What a trace is, as it is stored: names, ids, numbers and times, never a text of anybody."""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import anyio
import msgspec

from daemon.bus import Bus

TRACES_KEPT = 100
"""Turns of a session whose traces are kept, the newest."""
DELIVERIES_KEPT = 200
"""Parts of a session's replies of which is kept how they were delivered, among them: most replies have one."""
KEPT_MAX = TRACES_KEPT + DELIVERIES_KEPT
"""Of both together, the newest."""
KEPT_MS = 7 * 86_400_000
"""How long, after the last turn."""


class Span(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that took time."""

    kind: Literal["model", "tool", "recall", "delivery"]
    name: str
    """Of the model, the tool, the engine that searched, the channel."""
    began_ms: int
    """Since 1970, by the clock of who did it."""
    took_ms: float
    first_token_ms: float | None = None
    """Of a model call: until the first piece of text came."""
    prompt_tokens: int = 0
    """Of what was recalled: so many more in each prompt of the turn."""
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Of ``prompt_tokens``: read from the provider's cache."""
    cacheable_tokens: int = 0
    """``prompt_tokens`` if the provider reports cached tokens."""
    cost_nano: int = 0
    """Billionths of the currency's unit."""
    cached_nano: int = 0
    """Of ``cost_nano``: the cost of ``cached_tokens``."""
    currency: str = ""
    part: int | None = None
    """Of a delivery: which part of the reply."""
    outcome: str = "done"
    """Or ``failed``, ``stopped``, ``refused``, the name of an error. Of a recall ``incomplete``: not all is indexed."""


class Unavailable(msgspec.Struct, frozen=True, kw_only=True):
    """A tool server that a turn went without."""

    server: str
    why: str
    """``slow``: it did not respond in time; ``broken``: it could not be used; ``large``: its tools leave no room."""


class Trace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn that was committed. Times are ms since 1970, all by the worker's clock but for ``committed_ms``."""

    committed_ms: int = 0
    """By the server's clock: the script puts it in."""
    turn: int
    """Index at which the turn began."""
    fence: int
    correlation: tuple[str, ...] = ()
    """Of the messages it answers."""
    answers: tuple[str, ...] = ()
    """Their ids."""
    received_ms: int
    """When the oldest of them came."""
    claimed_ms: int
    """When the worker had it; an attempt that failed before is not told."""
    worker: str
    outcome: str
    """``done``, ``stopped``, ``dead``, ``spent``: as the log of events names it."""
    spans: tuple[Span, ...] = ()
    """In the order in which they ended."""
    recalls: tuple[Span, ...] = ()
    """What was looked for in memory before them: once, and again when older messages left the prompts. Apart from
    ``spans``, since who reads those as they were first knows no such kind."""
    left_out: int = 0
    """Spans beyond those that are kept."""
    missing: tuple[Unavailable, ...] = ()
    """Tool servers that did not answer, or whose tools could not be used."""


class Delivered(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="delivered"):
    """A part of a reply that was sent, or refused; kept among the traces of its session."""

    turn: int
    """Whose reply it is; of what is said beside one, the turn that was to come."""
    span: Span


encode: Any = msgspec.json.Encoder().encode
_decode_trace = msgspec.json.Decoder(Trace).decode
_decode_delivered = msgspec.json.Decoder(Delivered).decode


def is_trace(raw: bytes) -> bool:
    """Whether what is kept of a session is a ``Trace``, not a ``Delivered``."""
    return not raw.startswith(b'{"kind":"delivered"')


def traces_in(raws: Iterable[bytes]) -> list[Trace]:
    """The traces among what is kept of a session."""
    return [_decode_trace(raw) for raw in raws if is_trace(raw)]


def delivered_in(raws: Iterable[bytes]) -> list[Delivered]:
    """The deliveries among what is kept of a session."""
    return [_decode_delivered(raw) for raw in raws if not is_trace(raw)]


def ms_of(stamped: str) -> int | None:
    """A time as it is stored, in ms since 1970; None when it cannot be read."""
    try:
        return round(dt.datetime.fromisoformat(stamped).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


# Reading traces: of a session, of a turn, and by the id of a message or what belongs to it.

AT_ONCE = 50
"""Sessions whose traces are looked through at once: at most some megabytes."""
SESSIONS_MAX = 10_000
"""Sessions that are looked through for an id, those active last."""
LOOK_S = 5.0
"""How long is looked."""
LAST = 8
"""So many of the last records are read for the newest turn: a trace, and the delivery of a reply's parts after it."""

_turn_named = re.compile(r"(?P<session>[^#]+)#(?P<turn>[0-9]{1,15})").fullmatch


class FoundTrace(msgspec.Struct, frozen=True, kw_only=True):
    """A trace, and what is known of the delivery of its reply."""

    session: str
    trace: Trace
    deliveries: tuple[Span, ...]


class Traces:
    """Reads the traces of one database. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def of(self, session: str, *, before: int | None = None, limit: int = 20) -> list[FoundTrace]:
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

    async def one(self, session: str, turn: int) -> FoundTrace | None:
        """A turn; None when nothing is kept of it."""
        found = await self.of(session, before=turn + 1, limit=1)
        return found[0] if found and found[0].trace.turn == turn else None

    async def find(self, name: str) -> FoundTrace | None:
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


def _found(session: str, trace: Trace, delivered: Sequence[Delivered]) -> FoundTrace:
    spans = tuple(each.span for each in delivered if each.turn == trace.turn)
    return FoundTrace(session=session, trace=trace, deliveries=spans)
