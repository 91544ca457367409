"""Whatever a model answers when it is to sum up: the conversation goes on, and nothing is lost or half written."""

from dataclasses import replace

import msgspec
import pytest

from daemon.config import BotConfig, Config, ConsolidationConfig, ModelConfig
from daemon.model import connect
from daemon.process import Process
from tests.answers import FIRST, KINDS, Kind
from tests.conftest import Lab
from tests.fakes.openai_server import Reply, Say, fake_openai
from tests.integration.test_turns import Bot, wire
from tests.limits import HANG_S, until
from tests.memorylab import SCOPE, WINDOW_TOKENS, MemoryLab
from workers.consolidation import ConsolidationRequest

TURNS = 8
NOW = ConsolidationRequest(at="now")

# Which texts each of all the kinds comes to is held by test_summaries.py. These take ways of their own from there on.
UNDERSTOOD = (
    *("a call", "forcing refused", "a number as memory", "an entry of several paragraphs", "no continuity"),
    *("lone surrogates", "NUL and other controls", "odd characters", "the memory as it was", "an entry of 100 kB"),
    *("an empty memory kept empty", "a shrunken memory", "a memory of 100 kB"),
)
REFUSED = (
    *("nothing at all", "half of the JSON", "an emptied memory", "a memory of 2 MB", "cut off by its length"),
    *("a stream cut short", "an error in the stream", "silence", "too many requests", "a broken server"),
    *("a wrong key", "an overflow"),
)
CHOSEN = [{kind.name: kind for kind in KINDS}[name] for name in (*UNDERSTOOD, *REFUSED)]


def server_of(kind: Kind):
    """A model's server that answers people well, and requests for summaries as ``kind`` has it."""

    def reply(body: dict[str, object]) -> Reply:
        asked = str(body["messages"][0]["content"])
        if "memory consolidation agent" in asked:
            return kind.reply(body) if callable(kind.reply) else kind.reply
        return Say("NO_REPLY" if "nearing compaction" in asked else "fine")

    return reply


def config_of(config: Config, base_url: str, *, deadline_s: float) -> Config:
    model = ModelConfig(base_url=base_url, name="fake", context_window_tokens=WINDOW_TOKENS)
    consolidation = ConsolidationConfig(call_deadline_s=deadline_s, breaker_failures=100)
    return msgspec.structs.replace(
        config, bots={"pond": BotConfig(model=model, tools=("time",))}, consolidation=consolidation
    )


@pytest.mark.parametrize("kind", CHOSEN, ids=[kind.name for kind in CHOSEN])
async def test_the_conversation_goes_on(kind: Kind, process: Process, lab: Lab) -> None:
    async with fake_openai(server_of(kind)) as server:
        config = config_of(process.config, server.base_url, deadline_s=0.05 if kind.name == "silence" else HANG_S)
        process = replace(process, config=config, connect_model=connect)
        memory = MemoryLab(process, lab)
        await memory.memories.edit(SCOPE, of=0, text=kind.memory, by="ann", time="2026-03-01T09:00:00.000Z")
        await memory.bulk(TURNS, time=f"{FIRST.replace(' ', 'T')}:00.000Z")

        outcomes = [(await memory.consolidator.consolidate("web:ann", NOW)).outcome]
        while outcomes[-1] == "failed":
            current = await memory.memories.current(SCOPE)
            assert (current.text, (await memory.state()).cursor) == (kind.memory, 0)
            outcomes.append((await memory.consolidator.consolidate("web:ann", NOW)).outcome)

        assert outcomes == (["failed", "failed", "settled"] if kind.fails else ["settled"])
        await memory.whole()
        await _written(kind, memory)
        assert await _answered(memory) == "fine"
        await memory.consolidator.aclose()


async def _written(kind: Kind, memory: MemoryLab) -> None:
    state, [entry, *_] = await memory.state(), await memory.history()
    versions = [version for version in await memory.memories.versions(SCOPE) if version.by != "ann"]
    assert state.continuity is not None
    if kind.fails:
        assert entry.kind == "raw"
        assert all(f"question {number} " in entry.text for number in range(entry.upto // 2))
        assert not versions
        return
    assert entry.text == kind.entry
    assert state.continuity.text == kind.continuity
    assert [version.text for version in versions if version.kind == "rejected"] == [kind.rejected] * bool(kind.rejected)
    current = await memory.memories.current(SCOPE)
    assert current.text == (kind.memory if kind.update is None else kind.update)


async def _answered(memory: MemoryLab) -> str:
    await memory.lab.publish("after")
    async with Bot(memory.process).working():
        await until(memory.lab.is_idle)
    return str(wire((await memory.lab.log())[-1])["content"])
