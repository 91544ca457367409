"""How many entries ``ready`` holds when 10,000 sessions are woken over and over and nobody takes them."""

from pathlib import Path

import anyio

from benchmarks.folder import data_dir
from benchmarks.people import CHANNEL, People, people
from benchmarks.result import Result
from daemon.bus import reap, wake
from daemon.config import QueueConfig
from daemon.sessionkey import SessionKey

SESSIONS = 10_000
AT_ONCE = 100
"""People who write at the same time."""

OVERDUE = QueueConfig(wakeup_s=0.001, lease_s=0.001, backoff_max_s=0.001)
"""With these times every session is overdue in every pass of the reaper."""

REAPS = 30
"""Passes of the reaper, of 1,000 sessions each."""


def measure() -> list[Result]:
    """Each session is woken by two messages, by a worker that gives it back, and some three times by the reaper."""
    with data_dir() as folder:
        values = anyio.run(_sizes, folder)
    return [
        Result(
            name=f"entries in ready, {SESSIONS:,} sessions woken six times each",
            unit="entries",
            values=tuple(values),
            floor=SESSIONS,
            floor_is="one a session",
            limit=SESSIONS,
            limit_is="worst, at most",
        )
    ]


async def _sizes(folder: Path) -> list[float]:
    chats = [f"chat-{number}" for number in range(SESSIONS)]
    sizes: list[float] = []
    async with people(folder) as everybody:
        for _ in range(2):
            for first in range(0, SESSIONS, AT_ONCE):
                await _write(everybody, chats[first : first + AT_ONCE])
            sizes.append(await _size(everybody))
        sessions = [str(SessionKey(channel=CHANNEL, chat=chat)) for chat in chats]
        async with anyio.create_task_group() as tg:
            for first in range(0, SESSIONS, SESSIONS // AT_ONCE):
                tg.start_soon(wake, everybody.bus, sessions[first : first + SESSIONS // AT_ONCE])
        sizes.append(await _size(everybody))
        for _ in range(REAPS):
            await reap(everybody.bus, OVERDUE)
            sizes.append(await _size(everybody))
    return sizes


async def _write(everybody: People, chats: list[str]) -> None:
    async with anyio.create_task_group() as tg:
        for chat in chats:
            tg.start_soon(everybody.say, chat, "hello")


async def _size(everybody: People) -> float:
    return float(await everybody.bus.call("ZCARD", everybody.bus.keys.ready(0)))
