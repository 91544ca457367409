"""What a backup takes: time for many small files, and memory for a long conversation.

``python -m benchmarks.backups`` backs up the conversation once, and prints the memory of its process.
"""

import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import anyio
import msgspec

from benchmarks.folder import data_dir
from benchmarks.result import Result
from daemon.archive.local_storage import LocalStorage
from daemon.bus import open_bus
from daemon.clock import SystemClock
from daemon.config import RedisConfig
from daemon.data import BackupContents, back_up

FOLDERS, FILES = 100, 100
"""Folders of a workspace, and small files in each."""
MESSAGES, AT_ONCE = 50_000, 1_000
TEXT = "word " * 60
SESSION = "web:ann"
RUNS = 3


def measure() -> list[Result]:
    """10,000 files beside a plain copy of them; 50,000 messages beside the process without a backup."""
    with data_dir() as folder:
        (folder / "pond").mkdir()
        for number in range(FOLDERS * FILES):
            path = folder / "pond" / str(number % FOLDERS) / str(number)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"x" * 200)
        spent = tuple(anyio.run(_files, folder, number) for number in range(RUNS))
        began = time.perf_counter()
        shutil.copytree(folder / "pond", folder / "plain")
        plain = time.perf_counter() - began
    told = [
        subprocess.run([sys.executable, "-m", "benchmarks.backups"], check=True, capture_output=True)
        for _ in range(RUNS)
    ]
    most, before = zip(*(map(float, each.stdout.split()[-2:]) for each in told), strict=True)
    return [
        Result(
            name="backup of 10,000 small files",
            unit="s",
            values=spent,
            floor=plain,
            floor_is="shutil.copytree",
            limit=8.0,
            limit_is="ratio, at most",
        ),
        Result(
            name="memory for a backup of 50,000 messages",
            unit="MB",
            values=most,
            floor=before[0],
            floor_is="the process before",
            limit=2.0,
            limit_is="ratio, at most",
        ),
    ]


async def _files(folder: Path, number: int) -> float:
    async with open_bus(RedisConfig(), folder / "data") as bus:
        wanted = BackupContents(workspaces={"pond": folder / "pond"}, archive=LocalStorage(folder, "transcripts"))
        began = time.perf_counter()
        await back_up(bus, wanted, folder / f"backup-{number}", clock=SystemClock())
        return time.perf_counter() - began


async def _messages(folder: Path) -> tuple[float, float]:
    """The most that the process had with the backup and before, MB."""
    async with open_bus(RedisConfig(), folder / "data") as bus:
        for first in range(0, MESSAGES, AT_ONCE):
            await bus.call("RPUSH", bus.keys.log(SESSION), *map(_raw, range(first, first + AT_ONCE)))
        await bus.call("HSET", bus.keys.session(SESSION), "head", MESSAGES, "scope", "pond:workspace")
        wanted = BackupContents(workspaces={}, archive=LocalStorage(folder, "transcripts"))
        before = _most_mb()
        await back_up(bus, wanted, folder / "backup", clock=SystemClock())
        return _most_mb(), before


def _raw(index: int) -> bytes:
    wire = {"role": "user", "content": TEXT}
    return msgspec.json.encode({"time": "2026-11-20T09:00:00.000Z", "turn": index, "tokens": 60, "wire": wire})


def _most_mb() -> float:
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB here: getrusage(2)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    with data_dir() as place:
        print(*anyio.run(_messages, place))
