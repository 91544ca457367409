"""Real workers, killed before, in and after each of five tool calls: no tool runs twice, and no outcome is made up."""

import json
import multiprocessing
from collections import Counter
from collections.abc import AsyncIterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Lab
from tests.fakes.openai_server import Call, Hang, Reply, Say, fake_openai
from tests.fakes.tool_worker import work
from tests.integration.test_turns import wire
from tests.limits import until

CALLS = 5
INTERRUPTED = "Error: interrupted, outcome unknown"
FORKS = multiprocessing.get_context("forkserver")  # one process imports everything, and is copied for each worker
FORKS.set_forkserver_preload([work.__module__, "anyio._backends._asyncio", "daemon.model.openai_model", "httpcore2"])


class Killed:
    """A worker that is started again whenever it dies, and a model that asks for calls, one by one or all at once."""

    def __init__(self, lab: Lab, server_dir: Path, marks: Path) -> None:
        self._lab = lab
        self._server_dir = server_dir
        self._marks = marks
        self._kill, self._together = "", False
        self._after: set[int] = set()
        self.worker: BaseProcess | None = None
        self.starts = 0

    def reply(self, body: dict[str, Any]) -> Reply:
        done = sum(message["role"] == "tool" for message in body["messages"])
        if self._kill == "after" and done and done not in self._after:
            self._after.add(done)
            assert self.worker is not None
            self.worker.kill()
            return Hang()
        if done >= CALLS:
            return Say("all done")
        return Say(calls=[self._call(number) for number in (range(CALLS) if self._together else [done])])

    def _call(self, number: int) -> Call:
        return Call("mark", json.dumps({"number": number, "kill": self._kill}), id=f"call_{number}")

    async def run(self, kill: str, *, together: bool = False) -> dict[str, str]:
        """Have one message answered, however often the worker dies meanwhile; the results in the log, by call."""
        self._kill, self._together = kill, together
        await self._lab.publish("m")
        async with fake_openai(self.reply) as server:
            while not await self._lab.is_idle():
                self.starts += 1
                arguments = (self._server_dir, self._lab.bus.keys.prefix, server.base_url, self._marks)
                self.worker = FORKS.Process(target=work, args=arguments)
                self.worker.start()
                await until(self._died_or_done)
                await self._lab.expire()
        log = [wire(entry) for entry in await self._lab.log()]
        assert log[-1]["content"] == "all done"
        return {entry["tool_call_id"]: entry["content"] for entry in log if entry["role"] == "tool"}

    async def _died_or_done(self) -> bool:
        assert self.worker is not None
        return not self.worker.is_alive() or await self._lab.is_idle()

    def ran(self) -> Counter[int]:
        return Counter(map(int, self._marks.read_text().split())) if self._marks.exists() else Counter()


@pytest.fixture
async def killed(lab: Lab, server_dir: Path, tmp_path: Path) -> AsyncIterator[Killed]:
    killed = Killed(lab, server_dir, tmp_path / "marks")
    yield killed
    if killed.worker is not None:
        killed.worker.kill()
        killed.worker.join()


@pytest.mark.parametrize(("kill", "runs"), [("before", 0), ("during", 1), ("after", 1)])
async def test_a_worker_killed_at_each_of_five_calls_runs_none_twice_and_says_what_it_does_not_know(
    killed: Killed, kill: str, runs: int
) -> None:
    results = await killed.run(kill)

    assert killed.starts == CALLS + 1
    assert [killed.ran()[number] for number in range(CALLS)] == [runs] * CALLS
    expected = {f"call_{n}": f"marked {n}" if kill == "after" else INTERRUPTED for n in range(CALLS)}
    assert results == expected


async def test_of_five_calls_at_a_time_those_that_were_done_stay_done(killed: Killed) -> None:
    results = await killed.run("during", together=True)

    assert killed.starts == 2
    assert set(results) == {f"call_{number}" for number in range(CALLS)}
    assert max(killed.ran().values()) == 1
    assert INTERRUPTED in results.values()
