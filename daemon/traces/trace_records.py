"""What a trace is, as it is stored: names, ids, numbers and times, never a text of anybody."""

import datetime as dt
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

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
    """``slow``: it did not answer in time; ``broken``: it could not be used; ``large``: its tools leave no room."""


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
