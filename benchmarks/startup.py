"""The start of a process: ``millpond run`` to the first accepted message, an agent worker to its first model call.

Also whole commands that ask the server.
"""

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import anyio

from benchmarks.folder import data_dir
from benchmarks.people import ANSWER_LIMIT_S, people
from benchmarks.result import Result
from tests.fakes.openai_server import Reply, Say, fake_openai
from tests.processes import Daemon, running, start

RUNS = 7
"""The first run of each kind fills the caches of the disk and is not counted."""

LIBRARIES = "import redis.asyncio, starlette.applications, uvicorn, msgspec, structlog, click, prometheus_client"
WORKER_LIBRARIES = "import redis.asyncio, httpx2, openai, openai.resources.chat, msgspec, structlog, click"
FLOOR_IS = "python importing the same libraries"
WORDS = {"MILLPOND_MEMORY_SEARCH__MODE": "search"}
"""As without the extras for vectors, whatever is installed here."""


def measure() -> list[Result]:
    """Start with an empty data directory each time: interpreter, imports, embedded server, API, one message."""
    runs, floor = list[tuple[float, float]](), list[tuple[float, float]]()
    for _ in range(RUNS):
        floor.append(_spent("-c", LIBRARIES))
        with data_dir() as folder, running(folder, **WORDS) as daemon:
            daemon.post("first", "hello")
            runs.append((time.perf_counter() - daemon.started, daemon.cpu_s()))
    seconds, cpu = zip(*runs[1:], strict=True)
    floor_s, floor_cpu = zip(*floor[1:], strict=True)
    return [
        _result("run to first accepted message", seconds, floor_s, limit=1.8),
        _result("run to first accepted message, CPU", cpu, floor_cpu, limit=1.8),
        _worker(),
        *_commands(),
    ]


def _worker() -> Result:
    cpu, floor = list[float](), list[float]()
    for _ in range(RUNS):
        floor.append(_spent("-c", WORKER_LIBRARIES)[1])
        with data_dir() as folder:
            cpu.append(anyio.run(_first_call, folder))
    return _result("agent worker to its first model call, CPU", cpu[1:], floor[1:], limit=2.0)


async def _first_call(folder: Path) -> float:
    """CPU seconds of a worker for which a message waits, until its request arrives at the model's server."""
    spent, workers = list[float](), list[Daemon]()
    called = anyio.Event()

    def arrived(_body: dict[str, object]) -> Reply:
        spent.append(workers[0].cpu_s())
        called.set()
        return Say("ok")

    async with people(folder) as everybody, fake_openai(arrived) as server:
        await everybody.say("first", "hello")
        model = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "fake"}
        workers.append(start(folder, "--role", "agent", web=False, **model, **WORDS))
        try:
            with anyio.fail_after(ANSWER_LIMIT_S):
                await called.wait()
            await everybody.all_answered()
        finally:
            workers[0].kill()
    return spent[0]


def _commands() -> list[Result]:
    """Of a server that runs, as of a daemon at work."""
    floor = [_spent("-c", "import redis.asyncio, click")[1] for _ in range(RUNS)]
    with data_dir() as folder, running(folder, **WORDS) as daemon:
        daemon.post("first", "hello")
        asked = {"MILLPOND_DATA_DIR": str(folder)}
        return [
            Result(
                name=f"millpond {' '.join(words)}, CPU",
                unit="s",
                values=tuple(_spent("-m", "millpond", *words, **asked)[1] for _ in range(RUNS)),
                floor=statistics.median(floor),
                floor_is="python importing redis.asyncio and click",
                limit=0.35,
            )
            for words in (("queue", "list"), ("session", "list"), ("worker", "list"))
        ]


def _result(name: str, values: Sequence[float], floor: Sequence[float], *, limit: float) -> Result:
    return Result(
        name=name,
        unit="s",
        values=tuple(values),
        floor=statistics.median(floor),
        floor_is=FLOOR_IS,
        limit=limit,
        limit_is="ratio, at most",
    )


def _spent(*arguments: str, **more: str) -> tuple[float, float]:
    """Seconds on the clock and of CPU of a Python process; ``more`` is added to its environment."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, env={**os.environ, **more}, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu
