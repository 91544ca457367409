"""Branching a session: a new session, ``<key>~N``, with the messages up to one turn of the older session.

The new session has the memory of the older one. Messages that are already in the memory stay consolidated, so they are
not added to the memory again.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import takewhile

from daemon.archive import Archive
from daemon.bus import Bus, Part
from daemon.errors import ArchiveError, NoSuchTranscript
from daemon.memory import Memories
from daemon.session import SessionReader, SessionState
from daemon.transcripts.outline import ranges_of
from daemon.transcripts.session_restore import RestoredSession, RestoreSource, restore
from daemon.transcripts.transcripts import Transcripts


class Branches:
    """Branches the sessions of one database."""

    def __init__(self, bus: Bus, archive: Archive, transcripts: Transcripts) -> None:
        self._bus = bus
        self._archive = archive
        self._transcripts = transcripts
        self._memories = Memories(bus, archive)

    async def branch(self, session: str, index: int) -> RestoredSession:
        """Make a new session of the messages up to the end of the turn that message ``index`` belongs to.

        Raises:
            NoSuchTranscript: the session has no such message.
            ArchiveError: some messages are in the archive, which cannot be read.
            BadSessionKey: the session's name is too long for one more.
            BusUnavailable: Redis is away.
        """
        state = await SessionReader(self._bus).state(session)
        turn, upto = await self._turn(session, index)
        if turn >= state.cursor:
            # The model reads on from where it is in the older session.
            cursor, start, fields = state.cursor, state.start, await self._fields(session, "continuity", "options")
        else:
            cursor, start, fields = await self._settled(state, turn), 0, await self._fields(session, "options")
        start = start if start <= turn else 0  # a branch from before a /new
        source = RestoreSource(
            session=session, scope=state.scope, first=state.begins, cursor=cursor, start=start, fields=fields
        )
        return await restore(self._bus, self._memories, source, lambda: self._raws(session, state.begins, upto))

    async def _turn(self, session: str, index: int) -> tuple[int, int]:
        """The turn of a message: index of its first message, and one past its last."""
        found = await self._transcripts.committed(session, after=index - 1, limit=1)
        if not found or found[0][0] != index:
            raise NoSuchTranscript(f"session {session} has no message {index}. Choose another message.")
        turn = found[0][1].turn
        while found:
            index = found[-1][0]
            more = await self._transcripts.committed(session, after=index)
            found = list(takewhile(lambda each: each[1].turn == turn, more))
        return turn, index + 1

    async def _settled(self, state: SessionState, turn: int) -> int:
        """The end of the last consolidated messages before a turn."""
        ranges = await ranges_of(self._memories, self._archive, state.session, state.scope)
        return max((each.upto for each in ranges if each.upto <= turn), default=0)

    async def _fields(self, session: str, *names: str) -> dict[str, Part]:
        values = await self._bus.call("HMGET", self._bus.keys.session(session), *names)
        return {name: value for name, value in zip(names, values, strict=True) if value}

    async def _raws(self, session: str, first: int, upto: int) -> AsyncGenerator[Sequence[bytes]]:
        async with aclosing(self._transcripts.pieces(session, first, upto)) as pieces:
            async for piece in pieces:
                if piece.reason:
                    raise ArchiveError(piece.reason)
                yield piece.raws
