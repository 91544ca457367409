"""The lateness of another process's event loop: starting one that notes it (``benchmarks.lag``), reading the notes."""

import subprocess
import sys
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.processes import STOP_LIMIT_S, environment_of

BARE = ("bare",)
AGENT = ("run", "--role", "agent", "--role", "lag")
"""Arguments of a process that does nothing else, and of an agent worker."""


@dataclass(frozen=True)
class Stall:
    """One sleep of a millisecond that took longer."""

    late_ms: float
    worked_ms: float
    """CPU time of the loop's thread: what of it was the loop's own work, and not another process's turn."""


class Lags:
    """What one process noted."""

    def __init__(self, path: Path) -> None:
        self._notes = array("d", path.read_bytes())

    def between(self, begin_s: float, end_s: float) -> list[Stall]:
        """Every sleep some of which lay within the given time (of the machine's monotonic clock), in order."""
        notes = zip(self._notes[::3], self._notes[1::3], self._notes[2::3], strict=True)
        return [
            Stall(late_s * 1000, worked_s * 1000)
            for at_s, late_s, worked_s in notes
            if at_s >= begin_s and at_s - late_s <= end_s
        ]


@contextmanager
def noting(path: Path, *arguments: str, folder: Path, **environment: str) -> Iterator[None]:
    """A process on the data directory ``folder`` for the length of the block; after it ``path`` holds its notes."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.lag", *arguments],
        env={**environment_of(folder, environment), "LAG_FILE": str(path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(STOP_LIMIT_S)
