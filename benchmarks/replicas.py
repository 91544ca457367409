"""Processes that a benchmark of a platform runs: the fake platform, a worker that answers, replicas that send."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio

from tests.processes import STOP_LIMIT_S, Daemon, environment_of, start


@contextmanager
def fake(module: str, notes: Path) -> Iterator[list[str]]:
    """A fake platform that notes every call in ``notes``; the words that it prints first."""
    command = [sys.executable, "-m", module, "0", str(notes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()
        finally:
            process.terminate()
            process.wait(STOP_LIMIT_S)


@contextmanager
def agent(folder: Path, model: dict[str, str]) -> Iterator[None]:
    """One worker that answers."""
    daemon = start(folder, "--role", "agent", web=False, **model)
    try:
        yield
    finally:
        daemon.stop()


@contextmanager
def replica(folder: Path, takes: Path) -> Iterator[Daemon]:
    """One replica that hears and sends; what it published is in ``takes`` at its end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.takes", "run", "--role", "channels"],
        env={**environment_of(folder, {}), "TAKES_FILE": str(takes)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Daemon(process, time.perf_counter(), folder)
    finally:
        process.terminate()
        process.wait(STOP_LIMIT_S)


async def cpu_percent(replicas: Sequence[Daemon], seconds: float) -> list[float]:
    """What each replica uses of a core for so long, per cent."""
    used, began = [daemon.cpu_s() for daemon in replicas], time.monotonic()
    await anyio.sleep(seconds)
    took_s = time.monotonic() - began
    return [100 * (daemon.cpu_s() - before) / took_s for daemon, before in zip(replicas, used, strict=True)]


def published_ms(takes: Sequence[Path], counts: Callable[[str], bool]) -> list[float]:
    """What publishing took the replicas that have ended, of the chats that count."""
    return [1000 * took for each in takes for chat, took in json.loads(each.read_text()) if counts(chat)]


def p95(values: Sequence[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(values, n=20)[-1]


def p99(values: Sequence[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(values, n=100)[-1]
