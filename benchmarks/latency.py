"""From an accepted message to the model call, on an idle process."""

import statistics
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack

import anyio
from anyio import to_thread

from benchmarks.folder import data_dir
from benchmarks.result import Result
from tests.fakes.openai_server import Reply, Say, fake_openai
from tests.processes import Daemon, running

MESSAGES = 60
WARM = 10
"""Messages before those that count: the first ones load the tokenizer and open connections."""

PAUSE_S = 0.05
"""Between two messages, so that the process is idle again."""


class _Arrivals:
    """When requests reached the model's server."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, _body: dict[str, object]) -> Reply:
        self.times.append(time.perf_counter())
        return Say("ok")


def measure() -> list[Result]:
    """The API's 202 in a client's hands, until a model server beside it has the request."""
    return anyio.run(_measure)


async def _measure() -> list[Result]:
    arrivals = _Arrivals()
    async with fake_openai(arrivals) as server:
        return await to_thread.run_sync(_drive, server.base_url, arrivals)


def _drive(base_url: str, arrivals: _Arrivals) -> list[Result]:
    with ExitStack() as stack:
        folder = stack.enter_context(data_dir())
        environment = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "fake"}
        daemon = stack.enter_context(running(folder, **environment))
        values = [_one(daemon, arrivals, number) for number in range(WARM + MESSAGES)]
        floor = [_spent(lambda: urllib.request.urlopen(f"{daemon.url}/healthz").read()) for _ in range(MESSAGES)]
    return [
        Result(
            name="accepted message to model call",
            unit="ms",
            values=tuple(values[WARM:]),
            floor=statistics.median(floor),
            floor_is="one HTTP request to the same process (GET /healthz, one PING)",
            limit=5.0,
        )
    ]


def _one(daemon: Daemon, arrivals: _Arrivals, number: int) -> float:
    daemon.post(f"latency-{number}", "hello")
    accepted = time.perf_counter()
    while len(arrivals.times) <= number:
        time.sleep(0.0005)
    time.sleep(PAUSE_S)
    # The model may be called before the client has read its 202: then the wait was nothing.
    return max(0.0, (arrivals.times[number] - accepted) * 1000)


def _spent(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000
