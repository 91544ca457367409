"""Long conversations, put where turns find them without anybody having had them."""

from dataclasses import dataclass
from functools import partial

import anyio
import msgspec

from benchmarks.people import CHANNEL, People
from daemon.config import QueueConfig
from daemon.events import LogEntry
from daemon.session import Claim, Commit, Sessions
from daemon.sessionkey import SessionKey

ENTRIES = 400
CHARS = 400
AT_ONCE = 20

COMMITTED_AT_ONCE = 1_000
"""Entries of one commit: a script takes only so many arguments."""


@dataclass(frozen=True, kw_only=True)
class Past:
    """What was said in a chat before."""

    entries: int = ENTRIES
    """Messages and answers in turns."""
    chars: int = CHARS
    """Of each."""
    settled: int = 0
    """Messages older than those, which no model sees any more: they stand before the log's start."""

    @property
    def tokens(self) -> int:
        """What an entry is said to count: all of them fit into the default budget."""
        return self.chars // 4


async def lived(everybody: People, chats: list[str], past: Past) -> None:
    """Give each chat a past, the same to all; no agent may be running yet."""
    sessions = Sessions(everybody.bus, QueueConfig(), worker="history")
    for first in range(0, len(chats), AT_ONCE):
        async with anyio.create_task_group() as tg:
            for chat in chats[first : first + AT_ONCE]:
                tg.start_soon(partial(_live, everybody, sessions, chat, past))


async def _live(everybody: People, sessions: Sessions, chat: str, past: Past) -> None:
    session, last = str(SessionKey(channel=CHANNEL, chat=chat)), past.settled + past.entries
    for first in range(0, last, COMMITTED_AT_ONCE):
        await everybody.say(chat, "hello")
        claim = await sessions.claim(session)
        if claim is None:
            raise RuntimeError(f"{chat} is being answered by somebody else")
        entries = [_entry(number, past) for number in range(first, min(last, first + COMMITTED_AT_ONCE))]
        await _commit(sessions, claim, entries)
    if past.settled:
        # As a consolidation leaves it.
        seen = ("cursor", past.settled, "start", past.settled, "tokens_start", past.entries * past.tokens)
        await everybody.bus.call("HSET", everybody.bus.keys.session(session), *seen)


async def _commit(sessions: Sessions, claim: Claim, entries: list[LogEntry]) -> None:
    answered = tuple(waiting.stream_id for waiting in claim.begun.waiting)
    tokens = sum(entry.tokens for entry in entries)
    await sessions.commit(claim, Commit(entries=tuple(entries), tokens=tokens, answered=answered), step=0, go_on=False)


def _entry(number: int, past: Past) -> LogEntry:
    role = "assistant" if number % 2 else "user"
    return LogEntry(
        time="2026-11-20T09:00:00.000Z",
        turn=number - number % 2,
        tokens=past.tokens,
        id="" if number % 2 else f"h{number}",
        wire=msgspec.Raw(msgspec.json.encode({"role": role, "content": "pond " * (past.chars // 5)})),
    )
