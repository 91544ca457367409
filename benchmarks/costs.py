"""The costs of another process's work: starting an agent worker that counts them (``benchmarks.cost``), asking it."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from anyio import to_thread

from tests.processes import STOP_LIMIT_S, environment_of

ANSWER = "cpu: "
"""How an answer begins, beside what the command prints of itself."""


class Costs:
    """An agent worker that says what it used."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    async def spent(self) -> float:
        """CPU seconds, user and system, since it began."""
        return await to_thread.run_sync(self._asked, "spent")

    async def bare(self, count: int) -> float:
        """CPU seconds of one of ``count`` model calls as its last turn made it, and nothing but the call."""
        return await to_thread.run_sync(self._asked, f"bare {count}")

    async def crowd(self, count: int, *, at_once: int) -> float:
        """Seconds on the clock that ``count`` such calls take, ``at_once`` at a time."""
        return await to_thread.run_sync(self._asked, f"crowd {count} {at_once}")

    def _asked(self, question: str) -> float:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(ANSWER):
                return float(line.removeprefix(ANSWER))
        raise RuntimeError("the agent worker has ended")


@contextmanager
def counting(folder: Path, **environment: str) -> Generator[Costs]:
    """An agent worker on the data directory ``folder`` for the length of the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.cost", "run", "--role", "agent"],
        env=environment_of(folder, environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield Costs(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()  # it waits for the next line in a thread, which no signal ends
            process.terminate()
            process.wait(STOP_LIMIT_S)
