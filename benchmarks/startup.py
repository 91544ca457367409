"""From ``millpond run`` to the first accepted message."""

import subprocess
import sys
import time

from benchmarks.folder import data_dir
from benchmarks.result import Result
from tests.processes import running

RUNS = 7


def measure() -> list[Result]:
    """Start with an empty data directory each time: interpreter, imports, embedded server, API, one message."""
    values: list[float] = []
    for _ in range(RUNS):
        with data_dir() as folder, running(folder) as daemon:
            daemon.post("first", "hello")
            values.append(time.perf_counter() - daemon.started)
    imports = "import redis.asyncio, starlette.applications, uvicorn, msgspec, structlog, click, prometheus_client"
    return [
        Result(
            name="run to first accepted message",
            unit="s",
            values=tuple(values[1:]),
            floor=_spent([sys.executable, "-c", imports]),
            floor_is="python importing the same libraries",
            limit=1.0,
        )
    ]


def _spent(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - started
