"""Searches scopes in a process of its own, which has never searched before."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import anyio
import msgspec

from daemon.clock import SystemClock
from daemon.config import BotConfig, Config
from daemon.memory import Memories
from daemon.recall.session_book import SessionBook
from daemon.run import open_process

QUESTION = "What did I tell you about the harbour last week? 上周我说了港口的什么？"
LIMIT = 10
"""Hits."""
MB = 1_000_000
RSS_BYTES = 1 if sys.platform == "darwin" else 1_024
"""Unit of ``ru_maxrss``."""


class Searched(msgspec.Struct, frozen=True, kw_only=True):
    """What the process tells."""

    first_s: float
    """From the import of what searches to the first answer; the connection stood before."""
    mb: float
    """The most that the process ever had in memory."""


def searched(folder: Path, scopes: Sequence[str]) -> Searched:
    """Ask each of the scopes of a data directory something, in a new process."""
    command = [sys.executable, "-m", "benchmarks.recall_elsewhere", str(folder), *scopes]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(Path.cwd())})
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Searched)


async def _search(folder: Path, scopes: Sequence[str]) -> float:
    async with open_process(Config(bots={"pond": BotConfig()}), folder) as process:
        began = time.perf_counter()
        engine = import_module("daemon.recall.index").BuiltinEngine(
            SessionBook(process.bus), Memories(process.bus, process.archive), process.transcripts, folder, SystemClock()
        )
        try:
            await engine.search(scopes[0], QUESTION, mode="search", limit=LIMIT)
            first_s = time.perf_counter() - began
            for scope in scopes[1:]:
                await engine.search(scope, QUESTION, mode="search", limit=LIMIT)
        finally:
            await engine.aclose()
    return first_s


if __name__ == "__main__":
    first_s = anyio.run(_search, Path(sys.argv[1]), sys.argv[2:])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_BYTES
    print(msgspec.json.encode(Searched(first_s=first_s, mb=most / MB)).decode())
