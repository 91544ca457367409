"""Whatever a model answers when it is to sum up: the conversation goes on, and nothing is lost or half written."""

from dataclasses import replace

import anyio
import msgspec
import pytest

from daemon.config import BotConfig, Config, ConsolidationConfig, ModelConfig
from daemon.model import connect
from daemon.process import Process
from tests.answers import FIRST, KINDS, Kind
from tests.conftest import Lab
from tests.fakes.openai_server import Reply, Say, fake_openai
from tests.memorylab import SCOPE, WINDOW_TOKENS, MemoryLab
from workers.agent.service import serve
from workers.consolidation import Want

pytestmark = pytest.mark.anyio

TURNS = 8
NOW = Want(at="now")


def server_of(kind: Kind):
    """A model's server that answers people well, and requests for summaries as ``kind`` has it."""

    def reply(body: dict[str, object]) -> Reply:
        asked = str(body["messages"][0]["content"])
        if "memory consolidation agent" in asked:
            return kind.reply(body) if callable(kind.reply) else kind.reply
        return Say("NO_REPLY" if "nearing compaction" in asked else "fine")

    return reply


def config_of(config: Config, base_url: str) -> Config:
    model = ModelConfig(base_url=base_url, name="fake", context_window_tokens=WINDOW_TOKENS)
    consolidation = ConsolidationConfig(call_deadline_s=0.5, breaker_failures=100)
    return msgspec.structs.replace(config, bots={"pond": BotConfig(model=model)}, consolidation=consolidation)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
async def test_the_conversation_goes_on(kind: Kind, process: Process, lab: Lab) -> None:
    async with fake_openai(server_of(kind)) as server:
        process = replace(process, config=config_of(process.config, server.base_url), connect_model=connect)
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
    """What the bot answers next, and that the model saw the newest turn when it did."""
    process = replace(memory.process, stopping=anyio.Event())

    async def run(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await serve(process, task_status=task_status)

    await memory.lab.publish("after")
    async with anyio.create_task_group() as tg:
        await tg.start(run)
        with anyio.fail_after(10):
            while (await memory.state()).waiting:  # noqa: ASYNC110 - what is waited for happens on the server
                await anyio.sleep(0.01)
        process.stopping.set()
    last = msgspec.json.decode((await memory.lab.log())[-1].wire)
    return str(last["content"])
