"""Indexes that are there already when a worker is measured: made before, as a worker makes them beside its turns."""

from collections.abc import Sequence
from pathlib import Path

from daemon.clock import SystemClock
from daemon.config import Config
from daemon.memory import Memories
from daemon.recall.index import BuiltinEngine
from daemon.recall.session_book import SessionBook
from daemon.run import open_process

PORTION_S = 10.0


async def indexed(folder: Path, scopes: Sequence[str]) -> None:
    """Bring the indexes of all ``scopes`` of a data directory in step."""
    async with open_process(Config(), folder) as process:
        memories = Memories(process.bus, process.archive)
        engine = BuiltinEngine(SessionBook(process.bus), memories, process.transcripts, folder, SystemClock())
        try:
            for scope in scopes:
                while not await engine.catch_up(scope, within_s=PORTION_S):
                    """There is more."""
        finally:
            await engine.aclose()
