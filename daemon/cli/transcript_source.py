"""The source of ``millpond transcript``: a session, or one archived part of it, in pieces."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from daemon.cli.command_setup import with_bus
from daemon.cli.table_output import print_json, say, table, tell
from daemon.errors import InboundError

if TYPE_CHECKING:
    from daemon.archive import Segment
    from daemon.process import Process
    from daemon.session import SessionState
    from daemon.traces import FoundTrace, Row
    from daemon.transcripts import Piece


@dataclass(frozen=True, kw_only=True)
class TranscriptSource:
    """The messages that a person means."""

    session: str
    state: "SessionState"
    first: int
    upto: int
    segment: "Segment | None" = None
    """None: all messages of the session, in Redis and in the archive."""


async def spoken(ctx: click.Context, process: "Process", name: str) -> TranscriptSource:
    """The transcript or session called ``name``.

    Raises:
        InboundError, NoSuchTranscript: there is none of that name.
        ArchiveError, BusUnavailable: it cannot be found out.
    """
    from daemon.cli.session_command import key_of, unknown
    from daemon.session import SessionReader
    from daemon.transcripts import find, is_name

    reader = SessionReader(process.bus)
    if is_name(name):
        named = await find(process.bus, process.transcripts, name)
        state, segment = await reader.state(named.session), named.segment
        return TranscriptSource(
            session=named.session, state=state, first=segment.first, upto=segment.upto, segment=segment
        )
    state = await reader.state(key_of(ctx, name))
    if not state.exists:
        raise InboundError(await unknown(process.bus, state.session))
    return TranscriptSource(session=state.session, state=state, first=min(state.begins, state.head), upto=state.head)


def part_of(whole: TranscriptSource, first: int | None, upto: int | None) -> TranscriptSource:
    """The messages from ``first`` up to ``upto`` (exclusive) of ``whole``.

    Raises:
        InboundError: there are none.
    """
    from dataclasses import replace

    begin = whole.first if first is None else max(first, whole.first)
    end = whole.upto if upto is None else min(upto, whole.upto)
    if begin >= end:
        there = (
            f"the transcript contains messages {whole.first} to {whole.upto - 1}"
            if whole.upto > whole.first
            else "the transcript contains no messages"
        )
        asked = f"{'' if first is None else first} to {'' if upto is None else upto - 1}".strip()
        raise InboundError(
            f"{_called(whole)} has no messages {asked}: {there}. Choose other message indexes (--upto is the last "
            "index plus one)."
        )
    return replace(whole, first=begin, upto=end)


def _called(whole: TranscriptSource) -> str:
    return whole.segment.name if whole.segment else f"session {whole.session}"


async def pieces(process: "Process", wanted: TranscriptSource) -> "AsyncGenerator[Piece]":
    """The messages, in pieces. A named segment is read itself, even if other places hold the same messages.

    Raises:
        ArchiveError: the segment that was named cannot be read.
        BusUnavailable: Redis is away.
    """
    from daemon.transcripts import Piece

    segment = wanted.segment
    if segment is not None:
        raws = await process.transcripts.segment(segment)
        raws = raws[wanted.first - segment.first : wanted.upto - segment.first]
        yield Piece(first=wanted.first, upto=wanted.first + len(raws), raws=raws, segment=segment.name)
        return
    async with aclosing(process.transcripts.pieces(wanted.session, wanted.first, wanted.upto)) as found:
        async for piece in found:
            yield piece


# ``millpond trace``: how a turn went, step by step, from its oldest message to the delivery of its reply.

WIDTH = 32
"""Columns in which the turn is drawn."""


@click.command()
@click.argument("name", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def trace(ctx: click.Context, *, name: str, as_json: bool) -> None:
    """Show the trace of a turn, with the durations of waiting, model calls, tool calls, commit and delivery.

    ID is a message ID, a correlation ID from the log, or SESSION#TURN, where TURN is the index of the turn's
    first message. For each session, the traces of the last 100 turns are kept for one week.
    """
    from daemon.traces import Traces, told

    found = with_bus(ctx, lambda bus: Traces(bus).find(name))
    if found is None:
        raise InboundError(
            f"{name}: no trace was found. For each session, the traces of the last 100 turns are kept for one week. "
            "If the session has been inactive for a long time, specify the turn as SESSION#TURN."
        )
    if as_json:
        print_json(told(found))
    else:
        print_trace(found)


def print_trace(found: "FoundTrace") -> None:
    """Print a turn: its summary, and its steps as a waterfall."""
    from daemon.cli.usage_command import share
    from daemon.traces import rows, used_by, why_missing

    trace, shown = found.trace, rows(found)
    begin = min(row.began_ms for row in shown)
    whole_ms = max(1.0, max(row.began_ms + row.took_ms for row in shown) - begin)
    by = f"processed by worker {trace.worker} with fencing token {trace.fence}"
    say(f"{found.session}#{trace.turn}: {trace.outcome}, {_took(whole_ms)}, {by}")
    tell(f"answers {', '.join(trace.answers) or 'no message'}; correlation {', '.join(trace.correlation) or 'none'}")
    if (used := used_by(trace)).calls:
        cached = f" ({share(used)} cached)" if share(used) else ""
        cost = f", {used.costs(digits=6)}" if used.costs() else ""
        tell(f"{used.tokens_in:,} tokens in{cached}, {used.tokens_out:,} tokens out{cost}")
    click.echo()
    table(
        ("step", "", "took", "more"),
        [(_name(row), lane(row, begin, whole_ms), _took(row.took_ms), row.more) for row in shown],
    )
    if trace.left_out:
        tell(f"{trace.left_out:,} more steps of this turn were not recorded")
    for each in trace.missing:
        tell(f"the tools from tool server {each.server} are missing: {why_missing(each)}")


def _name(row: "Row") -> str:
    return f"{row.kind} {row.name}".rstrip()


def lane(row: "Row", begin: int, whole_ms: float) -> str:
    """The step's place in the turn, drawn with at least one column."""
    first = min(WIDTH - 1, max(0, int(WIDTH * (row.began_ms - begin) / whole_ms)))
    length = max(1, min(WIDTH - first, round(WIDTH * row.took_ms / whole_ms)))
    return "·" * first + "█" * length + "·" * (WIDTH - first - length)


def _took(ms: float) -> str:
    return f"{ms:,.0f} ms" if ms < 10_000 else f"{ms / 1000:,.1f} s"
