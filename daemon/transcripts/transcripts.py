"""A session's messages from the first to the last, wherever they lie: in the archive, in the log, in both."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

import msgspec

from daemon.archive import Archive, Segment
from daemon.archive.segment import NAME_MAX_CHARS
from daemon.bus import Bus, load_script
from daemon.errors import ArchiveError, DamagedData, NoSuchTranscript
from daemon.events import LogEntry
from daemon.scope import folder_of
from daemon.session import all_sessions

SLICE = load_script(__file__, "slice.lua")

CHUNK = 100
"""Messages that one read takes out of the log; a hundred of the longest are 26 MB."""

_decode = msgspec.json.Decoder(LogEntry).decode


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """Some messages that follow on each other, or a gap where they cannot be read."""

    first: int
    """Index of the first of them."""
    upto: int
    """One past the last."""
    raws: Sequence[bytes] = ()
    """As they were stored, byte for byte; none in a gap."""
    reason: str = ""
    """Of a gap: why they cannot be read, and what to do."""
    segment: str = ""
    """Name of the segment that they were read from; empty: they stand in the log."""

    def entries(self, begin: int = 0, end: int | None = None) -> list[tuple[int, LogEntry]]:
        """Its messages ``begin`` to ``end`` (exclusive), counted from its own first, each with its index in the log."""
        return [(index, _decode(raw)) for index, raw in enumerate(self.raws[begin:end], self.first + begin)]


class _Slice(msgspec.Struct, frozen=True, kw_only=True):
    base: int
    begins: int
    """Index of the first message that is kept anywhere: what was before it was forgotten, or never was."""
    head: int
    raws: Sequence[bytes]


class Transcripts:
    """Reads the sessions of one database, with what one archive holds of them."""

    def __init__(self, bus: Bus, archive: Archive) -> None:
        self._bus = bus
        self._archive = archive

    async def segments(self, session: str) -> list[Segment]:
        """What is archived of a session, in order of the messages; errors as for ``Archive.segments``."""
        return await self._archive.segments(session)

    async def segment(self, segment: Segment) -> list[bytes]:
        """The messages of one segment; errors as for ``Archive.read``."""
        return await self._archive.read(segment)

    async def archived(self, session: str) -> tuple[int, int]:
        """The range of a session's messages that only the archive holds: first index, and one past the last.

        Raises:
            BusUnavailable: Redis is away.
        """
        part = await self._slice(session, 0, 0)
        return part.begins, part.base

    async def pieces(
        self, session: str, first: int = 0, upto: int | None = None, *, chunk: int = CHUNK, journal: bool = False
    ) -> AsyncGenerator[Piece]:
        """The messages from index ``first`` on, up to ``upto`` (exclusive) or the head, in pieces that follow on.

        At no moment more is held than a piece. Where a part of the archive cannot be read there is a gap, and it goes
        on behind it. Of the log ``chunk`` messages are read at once; with ``journal`` the steps of the turn in progress
        come too.

        Raises:
            BusUnavailable: Redis is away.
        """
        at, archived = max(first, 0), _Archived(self._archive, session)
        while upto is None or at < upto:
            most = at + chunk if upto is None else min(at + chunk, upto)
            part = await self._slice(session, at, most)
            if at < part.base:
                # What is behind the base cannot come back: the archive has it, however the log moves on meanwhile.
                at = max(at, part.begins)
                if at < part.base:
                    piece = await archived.piece(at, part.base if upto is None else min(part.base, upto))
                    yield piece
                    at = piece.upto
                continue
            raws = part.raws if journal else part.raws[: max(0, part.head - at)]
            if raws:
                yield Piece(first=at, upto=at + len(raws), raws=raws)
            at += len(raws)
            if at < most:
                return  # the end, as it was when it was read

    async def read(self, session: str, first: int, upto: int) -> list[bytes]:
        """The committed messages ``first`` to ``upto`` (exclusive) as they were stored, as far as there are any.

        Raises:
            ArchiveError: some of them are in the archive, which cannot be read; the text says why and what to do.
            BusUnavailable: Redis is away.
        """
        raws: list[bytes] = []
        async with aclosing(self.pieces(session, first, upto)) as pieces:
            async for piece in pieces:
                _check(piece)
                raws += piece.raws
        return raws

    async def committed(
        self, session: str, *, after: int = -1, limit: int = 100, most_bytes: int | None = None
    ) -> list[tuple[int, LogEntry]]:
        """Up to ``limit`` committed entries behind index ``after``, each with its index.

        With ``most_bytes`` it ends early once so much was read. Errors as for ``read``, when the first of them cannot
        be read; else it ends before the first that cannot.
        """
        found: list[tuple[int, LogEntry]] = []
        size, first = 0, after + 1
        async with aclosing(self.pieces(session, first, chunk=min(limit, CHUNK))) as pieces:
            async for piece in pieces:
                if piece.reason and found:
                    break
                _check(piece)
                for index, entry in piece.entries(0, limit - len(found)):
                    found.append((index, entry))
                    size += len(memoryview(entry.wire))
                    if most_bytes is not None and size >= most_bytes:
                        return found
                if len(found) >= limit:
                    break
        return found

    async def newest(
        self, session: str, *, before: int, limit: int, most_bytes: int | None = None
    ) -> list[tuple[int, LogEntry]]:
        """The last ``limit`` committed entries before index ``before``, oldest first, each with its index.

        ``before`` is at most the head. With ``most_bytes`` it holds fewer, the newest, once so much was read. Errors as
        for ``committed``: it begins behind the last that cannot be read.
        """
        found: list[tuple[int, LogEntry]] = []
        least, upto, size = max(0, before - limit), before, 0
        while upto > least:
            first = max(least, upto - CHUNK)
            try:
                raws = await self.read(session, first, upto)
            except ArchiveError:
                if not found:
                    raise
                break
            # Where messages were forgotten, those that are left are the newest.
            entries = [(index, _decode(raw)) for index, raw in enumerate(raws, upto - len(raws))]
            found[:0] = entries
            size += sum(len(memoryview(entry.wire)) for _, entry in entries)
            if most_bytes is not None and size >= most_bytes:
                break
            upto = first
        return found

    async def _slice(self, session: str, first: int, upto: int) -> _Slice:
        keys = self._bus.keys
        found: list[Any] = await self._bus.run(SLICE, [keys.session(session), keys.log(session)], [first, upto])
        try:
            base, begins, head, *raws = found
            return _Slice(base=int(base), begins=int(begins), head=int(head), raws=raws)
        except ValueError:
            raise DamagedData(
                f"the data of session {session} is damaged: its positions are not numbers. "
                "Run `millpond data check --repair`."
            ) from None


class _Archived:
    """What is archived of one session; its list is asked for when it is needed, and again when it has changed."""

    def __init__(self, archive: Archive, session: str) -> None:
        self._archive = archive
        self._session = session
        self._listed: Sequence[Segment] | None = None

    async def piece(self, at: int, upto: int) -> Piece:
        """The messages from ``at`` on that one segment holds, none beyond ``upto``; or the gap there."""
        reason = ""
        # A list that was read a while ago may name what was rewritten since, or not yet name what has come.
        for is_fresh in (False, True):
            try:
                if is_fresh or self._listed is None:
                    self._listed = await self._archive.segments(self._session)
                for segment in holding(self._listed, at):
                    try:
                        raws = await self._archive.read(segment)
                    except ArchiveError as error:
                        reason = str(error)
                        continue
                    raws = raws[at - segment.first : upto - segment.first]
                    return Piece(first=at, upto=at + len(raws), raws=raws, segment=segment.name)
            except ArchiveError as error:
                reason = str(error)
        end = gap_end(self._listed or (), at, upto)
        reason = reason or (
            f"session {self._session}: messages {at} to {end - 1} are neither in the session's log nor in the "
            "archive. The keys were changed by hand, or a backup was only partly restored."
        )
        return Piece(first=at, upto=end, reason=reason)


def holding(segments: Sequence[Segment], at: int) -> list[Segment]:
    """The segments that hold the message ``at``, those that reach furthest first, of equal ones the newest. Pure."""
    found = [(segment.upto, number) for number, segment in enumerate(segments) if segment.first <= at < segment.upto]
    return [segments[number] for _, number in sorted(found, reverse=True)]


def gap_end(segments: Sequence[Segment], at: int, upto: int) -> int:
    """One past the last message of a gap that begins at ``at``: where another segment begins or ends. Pure."""
    edges = [edge for segment in segments for edge in (segment.first, segment.upto) if at < edge < upto]
    return min(edges, default=upto)


def _check(piece: Piece) -> None:
    if piece.reason:
        raise ArchiveError(piece.reason)


# Finding a transcript by its name: the name tells whose it is, and the session's list whether there is such a one.

_NAME = re.compile(r"transcript_[0-9]+_(?P<session>.+)_[0-9]+-[0-9]+(~[0-9a-f]+)?\.jsonl\.gz", re.ASCII)


class NamedTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """A segment, and whose it is."""

    session: str
    segment: Segment


def is_name(text: str) -> bool:
    """Whether a person means a transcript, by its name or by the path of its file; no session is called so. Pure."""
    return text.endswith(".jsonl.gz") and PurePath(text).name.startswith("transcript_")


async def find(bus: Bus, transcripts: Transcripts, name: str) -> NamedTranscript:
    """The transcript of that name, which may be given as a path.

    Raises:
        NoSuchTranscript: there is none; the text says what to do.
        ArchiveError: a list of segments cannot be read.
        BusUnavailable: Redis is away.
    """
    name = PurePath(name).name
    parts = _NAME.fullmatch(name)
    for session in await _sessions(bus, parts["session"]) if parts else ():
        for segment in await transcripts.segments(session):
            if segment.name == name:
                return NamedTranscript(session=session, segment=segment)
    raise NoSuchTranscript(
        f"transcript {name} was not found. To list the transcripts by session, run `millpond transcript list`."
    )


async def _sessions(bus: Bus, spelled: str) -> list[str]:
    """Those whose files may be called so: a long name is cut, and what it stood for has to be looked for."""
    # What is percent-encoded in a session's key is so once more in the name of a folder.
    likely = unquote(spelled)
    if folder_of(likely) == spelled and await bus.call("EXISTS", bus.keys.session(likely)):
        return [likely]
    return [session for session in await all_sessions(bus) if folder_of(session)[-NAME_MAX_CHARS:] == spelled]
