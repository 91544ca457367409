"""``millpond session generate``: a session that looks as if it had been lived, and goes on as if it had."""

import json
import time
from collections.abc import AsyncGenerator, Iterator

import msgspec
import pytest

from daemon.errors import InboundError
from daemon.events import LogEntry
from daemon.model import Chunk, Model, Request
from daemon.process import Process
from daemon.scope import folder_of
from daemon.session.artificial_session import Plot, fill, synthetic
from daemon.tokens import load
from tests.conftest import Lab, an_entry
from tests.integration.test_cli import Place, a_place
from tests.limits import HANG_S
from tests.memorylab import SCOPE, MemoryLab, messages_of
from workers.consolidation.summary.summary_request import is_oversized

WINDOW_TOKENS = 65_536


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with a_place() as place:
        yield place


class Remembering:
    """A model that remembers the prompts of the summaries."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name
        self.summarized: list[str] = []

    async def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        if request.force_tool == "save_memory":
            self.summarized += [text for _, text in messages_of(request)]
        async for chunk in self._model.stream(request):
            yield chunk

    async def aclose(self) -> None:
        await self._model.aclose()


async def generated(lab: Lab, *, messages: int = 100, oversized: int = 3, seed: int = 1) -> list[LogEntry]:
    plot = Plot(messages=messages, oversized=oversized, oversized_tokens=int(0.6 * WINDOW_TOKENS), seed=seed)
    entries = synthetic(plot, await load("offline"), sender="ann")
    await fill(lab.bus, "web:ann", entries, scope=SCOPE)
    return entries


async def test_a_generated_session_stands_as_its_turns_would_have_left_it(lab: Lab) -> None:
    entries = await generated(lab)

    state = await lab.state()
    assert (state.base, state.cursor, state.start, state.head) == (0, 0, 0, 100)
    assert state.tokens == state.tokens_start == sum(entry.tokens for entry in entries)
    assert (state.scope, state.waiting, state.worker) == (SCOPE, 0, "")
    assert await lab.log() == entries
    assert [name for name, _ in await lab.reader.sessions()] == ["web:ann"]
    partition = lab.bus.keys.partition("web:ann")
    assert await lab.bus.call("ZSCORE", lab.bus.keys.unsettled(partition), "web:ann") is not None
    assert await lab.bus.call("XLEN", lab.bus.keys.grew(partition)) == 1


async def test_a_session_that_exists_is_not_written_over_and_the_same_command_twice_is_one(lab: Lab) -> None:
    await generated(lab, messages=4, oversized=0)
    before = await lab.dump()

    with pytest.raises(InboundError, match="exists already"):
        await fill(lab.bus, "web:ann", [an_entry(0)], scope=SCOPE)
    assert await lab.bus.repeat("fill.lua", back=2) == b"done"
    await lab.publish("a", session="web:bob")
    with pytest.raises(InboundError, match="exists already"):
        await fill(lab.bus, "web:bob", [an_entry(0)], scope=SCOPE)

    after = await lab.dump()
    assert before.items() <= {**after, lab.bus.keys.sessions: before[lab.bus.keys.sessions]}.items()


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
async def test_a_session_with_oversized_messages_is_consolidated_by_the_offline_model(
    process: Process, lab: Lab, seed: int
) -> None:
    entries = await generated(lab, seed=seed)
    assert sum(is_oversized(entry.tokens, WINDOW_TOKENS) for entry in entries) == 3
    model = Remembering(await process.connect_model(process.bot("pond").model, language="en"))
    memory = MemoryLab(process, lab, model)

    report = await memory.consolidator.consolidate("web:ann")

    assert report.outcome == "settled"
    state = await memory.state()
    assert state.cursor > 0
    await memory.whole()
    history = await memory.history()
    assert all(entry.kind == "summary" for entry in history)
    # A request contains each message, the oversized ones included: their turn is summarized in parts. A message
    # that no request contains stands in the history as it is.
    kept = "\n".join((*model.summarized, *(entry.text for entry in history)))
    assert any(is_oversized(entry.tokens, WINDOW_TOKENS) for entry in entries[: state.cursor])
    assert all(msgspec.json.decode(entry.wire)["content"] in kept for entry in entries[: state.cursor])
    recall = await memory.memories.current(SCOPE)
    assert recall.version > 0


def test_the_command_makes_a_session_once_and_says_what_is_in_it(place: Place) -> None:
    done = place("session", "generate", "lived", "--messages", "12", "--seed", "5", "--json")

    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["session"] == "terminal:lived"
    shown = json.loads(place("session", "show", "lived", "--json").stdout)
    assert shown["positions"]["head"] == made["messages"] == 12
    assert shown["positions"]["tokens"] == made["tokens"]
    assert shown["positions"]["scope"] == made["scope"]
    again = place("session", "generate", "lived")
    assert (again.returncode, "exists already" in again.stderr) == (65, True)
    foreign = place("session", "generate", "post:lived")
    assert (foreign.returncode, "channel post is not in the configuration" in foreign.stderr) == (65, True)


def test_a_hundred_messages_with_three_oversized_ones_are_consolidated_and_the_conversation_goes_on(place: Place):
    made = place("session", "generate", "web:long", "--messages", "100", "--oversized", "3", "--seed", "11", "--json")
    scope = json.loads(made.stdout)["scope"]

    with place.running("--role", "agent", "--role", "consolidation"):
        answer = place("send", "web:long", "hello", "--wait", str(HANG_S))
        assert answer.returncode == 0, answer.stderr
        cursor = settled(place, "web:long")
        again = place("send", "web:long", "count to 3", "--wait", str(HANG_S))

    assert again.stdout.splitlines()[-1] == "1 2 3"
    assert cursor > 0
    memory = place.data / "bots" / "pond" / "memory" / folder_of(scope)
    assert {"MEMORY.md", "HISTORY.md"} <= {path.name for path in memory.iterdir()}


def settled(place: Place, session: str) -> int:
    until = time.monotonic() + HANG_S
    while not (cursor := json.loads(place("session", "show", session, "--json").stdout)["positions"]["cursor"]):
        assert time.monotonic() < until, "it was not consolidated"
    return int(cursor)
