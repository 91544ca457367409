"""Long conversations, put where turns find them without anybody having had them."""

from functools import partial

import anyio
import msgspec

from benchmarks.people import CHANNEL, People
from daemon.config import QueueConfig
from daemon.events import LogEntry
from daemon.session import Commit, Sessions
from daemon.sessionkey import SessionKey

ENTRIES = 400
CHARS = 400
TOKENS = CHARS // 4
"""What an entry is said to count: all of them fit into the default budget."""

AT_ONCE = 20


async def lived(everybody: People, chats: list[str]) -> None:
    """Give each chat a log of ``ENTRIES`` messages; no agent may be running yet."""
    sessions = Sessions(everybody.bus, QueueConfig(), worker="history")
    for first in range(0, len(chats), AT_ONCE):
        async with anyio.create_task_group() as tg:
            for chat in chats[first : first + AT_ONCE]:
                tg.start_soon(partial(_live, everybody, sessions, chat))


async def _live(everybody: People, sessions: Sessions, chat: str) -> None:
    await everybody.say(chat, "hello")
    claim = await sessions.claim(str(SessionKey(channel=CHANNEL, chat=chat)))
    if claim is None:
        raise RuntimeError(f"{chat} is being answered by somebody else")
    answered = tuple(waiting.stream_id for waiting in claim.begun.waiting)
    commit = Commit(entries=tuple(map(_entry, range(ENTRIES))), tokens=ENTRIES * TOKENS, answered=answered)
    await sessions.commit(claim, commit, step=0, go_on=False)


def _entry(number: int) -> LogEntry:
    role = "assistant" if number % 2 else "user"
    return LogEntry(
        time="2026-11-20T09:00:00.000Z",
        turn=number - number % 2,
        tokens=TOKENS,
        id="" if number % 2 else f"h{number}",
        wire=msgspec.Raw(msgspec.json.encode({"role": role, "content": "pond " * (CHARS // 5)})),
    )
