"""Real workers, killed before, in and after each of five tool calls: no tool runs twice, and no outcome is made up."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from anyio import to_thread

from tests.fakes.openai_server import Call, Hang, Reply, Say, fake_openai
from tests.places import TEMPORARY
from tests.processes import Daemon, answered, environment_of, shut_down

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

CALLS = 5
LIMIT_S = 60.0
CONFIG = """
[queue]
lease_s = 1.0
renew_s = 0.3
wakeup_s = 0.5
[bots.pond]
tools = ["mark"]
[bots.pond.model]
name = "fake"
base_url = "{base_url}"
[channels.web]
port = 0
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data directory with a path short enough for a socket."""
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as name:
        yield Path(name)
        shut_down(Path(name) / "data")


class Killed:
    """A worker that is started again whenever it dies, and a model that asks for one marked call after the other."""

    def __init__(
        self, folder: Path, kill: str, *, calls: int = CALLS, sabotage: str = "", together: bool = False
    ) -> None:
        self.marks = folder / "marks"
        self._folder = folder
        self._kill = kill
        self._sabotage = [sabotage] if sabotage else []
        self._together = together
        self._calls = calls
        self._after: set[int] = set()
        self.worker: Daemon | None = None
        self.starts = 0

    def reply(self, body: dict[str, Any]) -> Reply:
        """What the model says next."""
        results = [message for message in body["messages"] if message["role"] == "tool"]
        done = len(results)
        if self._kill == "after" and done and done not in self._after:
            self._after.add(done)
            assert self.worker is not None
            self.worker.process.kill()
            return Hang()
        if done >= self._calls:
            return Say("all done")
        numbers = range(self._calls) if self._together else [done]
        return Say(calls=[self._call(number) for number in numbers])

    def _call(self, number: int) -> Call:
        return Call("mark", json.dumps({"number": number, "kill": self._kill}), id=f"call_{number}")

    def start(self, base_url: str) -> Daemon:
        """Start the worker and wait until it accepts messages."""
        config = self._folder / "millpond.toml"
        config.write_text(f'data_dir = "{self._folder / "data"}"\n{CONFIG.format(base_url=base_url)}')
        self.starts += 1
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.tool_worker", *self._sabotage, "--config", str(config), "run"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment_of(self._folder / "data", {"MARKS": str(self.marks)}),
        )
        self.worker = Daemon(process, time.perf_counter())
        self.worker.wait_for_address()
        return self.worker

    def converse(self, base_url: str) -> list[dict[str, Any]]:
        """One message, and the log once it is answered, however often the worker dies meanwhile."""
        worker, until = self.start(base_url), time.monotonic() + LIMIT_S
        worker.post("web:ann", "mark five times", id="m")
        while time.monotonic() < until:
            if worker.process.poll() is not None:
                worker.kill()
                worker = self.start(base_url)
            try:
                log = worker.messages("web:ann")
            except OSError:
                continue  # it died just now
            if answered(log):
                worker.stop()
                return log
            time.sleep(0.02)
        worker.kill()
        raise TimeoutError(f"no answer after {self.starts} starts")

    async def run(self) -> dict[str, str]:
        """The results in the log, by call."""
        async with fake_openai(self.reply) as server:  # type: ignore[arg-type]
            with anyio.fail_after(LIMIT_S + 30):
                log = await to_thread.run_sync(self.converse, server.base_url)
        assert log[-1]["content"] == "all done"
        return {entry["tool_call_id"]: entry["content"] for entry in log if entry["role"] == "tool"}

    def ran(self) -> Counter[int]:
        """How often each call ran."""
        return Counter(map(int, self.marks.read_text().split())) if self.marks.exists() else Counter()


INTERRUPTED = "Error: interrupted, outcome unknown"


@pytest.mark.parametrize(("kill", "runs"), [("before", 0), ("during", 1), ("after", 1)])
async def test_a_worker_killed_at_each_of_five_calls_runs_none_twice_and_says_what_it_does_not_know(
    folder: Path, kill: str, runs: int
) -> None:
    killed = Killed(folder, kill)

    results = await killed.run()

    assert killed.starts == CALLS + 1
    assert [killed.ran()[number] for number in range(CALLS)] == [runs] * CALLS
    expected = {f"call_{n}": f"marked {n}" if kill == "after" else INTERRUPTED for n in range(CALLS)}
    assert results == expected


async def test_of_five_calls_at_a_time_those_that_were_done_stay_done(folder: Path) -> None:
    killed = Killed(folder, "during", together=True)

    results = await killed.run()

    assert killed.starts == 2
    assert set(results) == {f"call_{number}" for number in range(CALLS)}
    assert max(killed.ran().values()) == 1
    assert INTERRUPTED in results.values()


async def test_without_the_journal_tools_run_twice_which_this_would_notice(folder: Path) -> None:
    # Two: each death counts as an attempt now, and five would make the message a dead letter.
    killed = Killed(folder, "during", calls=2, sabotage="journal")

    await killed.run()

    assert max(killed.ran().values()) > 1
