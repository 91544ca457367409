"""A trace for people and programs: as JSON, and as the rows of a waterfall. Pure."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import msgspec

from daemon.clock import stamp
from daemon.traces.trace_records import FoundTrace, Span, Trace, Unavailable
from daemon.usage import NANO, Amount

_WHY = {
    "slow": "the tool server did not respond in time",
    "broken": "the tool server could not be used",
    "large": "the tools of the tool server do not fit into the model's context window",
}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a waterfall."""

    kind: str
    """``waiting``, ``claim``, ``recall``, ``model``, ``tool``, ``commit`` or ``delivery``."""
    name: str
    began_ms: int
    """Since 1970."""
    took_ms: float
    more: str
    """What else there is to say."""


def told(found: FoundTrace) -> dict[str, Any]:
    """A turn, ready to be printed as JSON."""
    trace = found.trace
    return {
        "session": found.session,
        "turn": trace.turn,
        "fence": trace.fence,
        "correlation": trace.correlation,
        "answers": trace.answers,
        "received": _time(trace.received_ms),
        "claimed": _time(trace.claimed_ms),
        "committed": _time(trace.committed_ms),
        "worker": trace.worker,
        "outcome": trace.outcome,
        "totals": _totals(used_by(found.trace)),
        "spans": [_span(span) for span in _spans(found)],
        "left_out": trace.left_out,
        "missing_servers": [{"server": each.server, "reason": why_missing(each)} for each in trace.missing],
    }


def used_by(trace: Trace) -> Amount:
    """The usage of the recorded model calls of a turn."""
    total = Amount()
    for span in trace.spans:
        if span.kind == "model":
            total.add(
                Amount(
                    calls=1,
                    tokens_in=span.prompt_tokens,
                    cached_in=span.cached_tokens,
                    cacheable_in=span.cacheable_tokens,
                    tokens_out=span.completion_tokens,
                    costs_nano={span.currency: span.cost_nano},
                    cached_nano={span.currency: span.cached_nano},
                )
            )
    return total


def _totals(used: Amount) -> dict[str, Any]:
    return {
        "model_calls": used.calls,
        "prompt_tokens": used.tokens_in,
        "completion_tokens": used.tokens_out,
        "cached_tokens": used.cached_in,
        "cached_share": used.cached_share and round(used.cached_share, 4),
        "cost": used.costs(digits=6),
        "cached_cost": used.cached_costs(digits=6),
    }


def why_missing(server: Unavailable) -> str:
    """Why a turn went without a tool server."""
    return _WHY.get(server.why, server.why)


def rows(found: FoundTrace) -> list[Row]:
    """The turn from its oldest message to the delivery of its reply, in the order in which things began."""
    trace, work = found.trace, _work(found)
    first = work[0].began_ms if work else trace.committed_ms
    last = max((span.began_ms + span.took_ms for span in work), default=trace.claimed_ms)
    # Clocks of two machines may differ by more than a step takes.
    return [
        _row("waiting", trace.received_ms, trace.claimed_ms),
        _row("claim", trace.claimed_ms, first),
        *(_of_span(span) for span in work),
        _row("commit", round(last), trace.committed_ms),
        *(_of_span(span) for span in found.deliveries),
    ]


def _row(kind: str, began_ms: int, ended_ms: int) -> Row:
    return Row(kind=kind, name="", began_ms=began_ms, took_ms=float(max(0, ended_ms - began_ms)), more="")


def _of_span(span: Span) -> Row:
    return Row(kind=span.kind, name=span.name, began_ms=span.began_ms, took_ms=span.took_ms, more=_more(span))


def _more(span: Span) -> str:
    price = f" for {_cost(span.cached_nano, span.currency)}" if span.cached_nano else ""
    cached = f" ({span.cached_tokens:,} cached{price})" if span.cached_tokens or span.cacheable_tokens else ""
    found = (
        f"part {span.part}" if span.part is not None else "",
        f"first token {span.first_token_ms:,.0f} ms" if span.first_token_ms is not None else "",
        f"{span.prompt_tokens:,} tokens in{cached}" if span.prompt_tokens else "",
        f"{span.completion_tokens:,} out" if span.completion_tokens else "",
        _cost(span.cost_nano, span.currency),
        span.outcome if span.outcome != "done" else "",
    )
    return ", ".join(filter(None, found))


def _span(span: Span) -> dict[str, Any]:
    known = {
        "first_token_ms": span.first_token_ms,
        "prompt_tokens": span.prompt_tokens or None,
        "completion_tokens": span.completion_tokens or None,
        "cached_tokens": span.cached_tokens if span.cached_tokens or span.cacheable_tokens else None,
        "cost": _cost(span.cost_nano, span.currency) or None,
        "cached_cost": _cost(span.cached_nano, span.currency) or None,
        "part": span.part,
    }
    return {
        "kind": span.kind,
        "name": span.name,
        "began": _time(span.began_ms),
        "took_ms": span.took_ms,
        **{name: value for name, value in known.items() if value is not None},
        "outcome": span.outcome,
    }


def _spans(found: FoundTrace) -> Sequence[Span]:
    return [*_work(found), *found.deliveries]


def _work(found: FoundTrace) -> list[Span]:
    return sorted((*found.trace.recalls, *found.trace.spans), key=lambda span: span.began_ms)


def _cost(nano: int, currency: str) -> str:
    return f"{nano / NANO:.6f} {currency}".rstrip() if nano else ""


def _time(ms: int) -> str:
    return stamp(dt.datetime.fromtimestamp(ms / 1000, dt.UTC))
