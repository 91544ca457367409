"""Reading what processes hold, as the system tells it (proc(5)), while the run goes on."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import anyio
from redis.asyncio import Redis
from redis.exceptions import RedisError

from tests.processes import server_pid
from tests.soak.flat import Sample

EVERY_S = 1.0
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
SERVER, DRIVER = "server-0", "driver-0"


class Gauges:
    def __init__(self, pids: Callable[[], Mapping[str, int]], data: Path, redis: Callable[[], Redis | None]) -> None:
        """Nothing is read yet.

        Args:
            pids: the processes there are now, by their names.
            data: the data directory, whose server is looked at too.
            redis: a client of that server, past the bots'.
        """
        self.samples: list[Sample] = []
        self._pids = pids
        self._data = data
        self._redis = redis

    async def watch(self) -> None:
        """Read again and again, until cancelled."""
        while True:
            await self.look()
            await anyio.sleep(EVERY_S)

    async def look(self) -> None:
        pids = {**self._pids(), DRIVER: os.getpid()}
        with suppress(OSError, ValueError):
            pids[SERVER] = server_pid(self._data)
        kept = await self._kept()
        for name, pid in pids.items():
            with suppress(OSError, ValueError, IndexError):
                now, keys = anyio.current_time(), kept if name == SERVER else 0
                self.samples.append(sample(name, pid, now, keys=keys, searched=self._data / "search"))

    async def _kept(self) -> int:
        redis = self._redis()
        if redis is not None:
            with suppress(RedisError, OSError):
                found = await redis.info("memory")
                return int(found["used_memory_dataset"])
        return 0

    def cpu_s(self, since_s: float) -> dict[str, float]:
        """What each place of the run used since a time, whoever filled it."""
        used: dict[str, float] = {}
        last: dict[int, float] = {}
        for each in self.samples:
            # Of one that begins later nothing is known to have come before.
            before = last.get(each.pid, each.cpu_s if each.at_s < since_s or each.name == DRIVER else 0.0)
            last[each.pid] = each.cpu_s
            if each.at_s >= since_s:
                used[each.name] = used.get(each.name, 0.0) + each.cpu_s - before
        return used


def sample(name: str, pid: int, at_s: float, *, searched: Path, keys: int = 0) -> Sample:
    """What a process holds now; files below ``searched`` are search indexes. Raises OSError: there is none any more."""
    folder = Path(f"/proc/{pid}")
    resident = int((folder / "statm").read_text().split()[1]) * PAGE
    times = (folder / "stat").read_text().rpartition(")")[2].split()
    files = [_target(folder / "fd" / number) for number in os.listdir(folder / "fd")]  # noqa: PTH208 - names alone
    indexes = sum(file.startswith(f"{searched}/") for file in files)
    return Sample(
        name=name,
        pid=pid,
        at_s=at_s,
        memory=resident,
        files=len(files) - indexes,
        cpu_s=(int(times[11]) + int(times[12])) / TICKS,
        keys=keys,
        indexes=indexes,
    )


def _target(descriptor: Path) -> str:
    """What a descriptor is open at; empty when it was closed just now."""
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""
