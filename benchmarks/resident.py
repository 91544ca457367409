"""The memory of processes at rest: a full process with its server, and conversations that a worker has answered."""

import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import anyio

from benchmarks.folder import data_dir
from benchmarks.people import People, people
from benchmarks.result import Result
from tests.processes import environment_of, running, server_pid

CONVERSATIONS, ROUNDS = 10_000, 3
FIRST = 2_000
"""Conversations before the first measurement, which fill the caches of limited size."""
AT_ONCE = 50
SETTLED_S = 4.0
WORKER = """
from workers.agent.prompt import history_loader
history_loader.KEPT_S = 2.0
from millpond import main
main()
"""
"""An agent worker, to which a conversation is at rest after two seconds instead of ten minutes."""
SEARCH = {"MILLPOND_MEMORY_SEARCH__MODE": "search"}
"""As without the extras for vectors, whatever is installed here."""


def measure() -> list[Result]:
    """Proportional set sizes: pages that several processes share count by their share in each."""
    return [_at_rest(), _conversations()]


def _at_rest() -> Result:
    values: list[float] = []
    for _ in range(ROUNDS):
        with data_dir() as folder, running(folder, **SEARCH) as daemon:
            time.sleep(SETTLED_S)
            values.append(_mb(_family(daemon.process.pid, folder)))
    return Result(
        name="memory of run at rest, all roles, with the embedded server",
        unit="MB",
        values=tuple(values),
        floor=0.0,
        floor_is="-",
        limit=95.0,
    )


def _conversations() -> Result:
    with data_dir() as folder:
        command = [sys.executable, "-c", WORKER, "run", "--role", "agent"]
        with subprocess.Popen(command, env=environment_of(folder, SEARCH), stderr=subprocess.DEVNULL) as worker:
            try:
                first, last = anyio.run(_grown, folder, worker.pid)
            finally:
                worker.terminate()
    return Result(
        name=f"memory of a worker for each of {CONVERSATIONS:,} answered conversations at rest",
        unit="B",
        values=((last - first) * 1_000_000 / CONVERSATIONS,),
        floor=0.0,
        floor_is="-",
        limit=1_000.0,
    )


async def _grown(folder: Path, pid: int) -> tuple[float, float]:
    async with people(folder) as everybody:
        await _answered(everybody, range(FIRST))
        first = _mb([pid], "Anonymous")
        await _answered(everybody, range(FIRST, FIRST + CONVERSATIONS))
        return first, _mb([pid], "Anonymous")


async def _answered(everybody: People, numbers: range) -> None:
    for begin in range(numbers.start, numbers.stop, AT_ONCE):
        async with anyio.create_task_group() as tg:
            for number in range(begin, min(begin + AT_ONCE, numbers.stop)):
                tg.start_soon(everybody.say, f"chat-{number}", "How deep is the pond?")
        await everybody.all_answered()
    await anyio.sleep(SETTLED_S)


def _family(pid: int, folder: Path) -> set[int]:
    """A process, its server, and the keeper of the server, whose command names the data directory."""
    commands = {int(path.parent.name): path for path in Path("/proc").glob("[0-9]*/cmdline")}
    keepers = {pid for pid, path in commands.items() if str(folder).encode() in _content(path)}
    return {pid, server_pid(folder), *keepers}


def _content(path: Path) -> bytes:
    with suppress(OSError):  # the process has ended
        return path.read_bytes()
    return b""


def _mb(pids: Iterable[int], field: str = "Pss") -> float:
    """Memory of processes together, MB: a field of proc(5), smaps_rollup.

    Of the proportional set size, what a process has grown by also depends on the other processes with its libraries.
    """
    kb = [
        int(line.split()[1])
        for pid in pids
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        if line.startswith(f"{field}:")
    ]
    return sum(kb) * 1_024 / 1_000_000
