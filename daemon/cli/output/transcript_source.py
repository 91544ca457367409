"""The source of ``millpond transcript``: a session, or one archived part of it, in pieces."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from daemon.errors import InboundError

if TYPE_CHECKING:
    from daemon.archive import Segment
    from daemon.process import Process
    from daemon.session import SessionState
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
