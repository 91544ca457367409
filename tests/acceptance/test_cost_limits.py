"""Limits that hold: two real processes, and a server that counts what it is sent, whatever a bot is made to do."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from tests.acceptance.test_conversations import until_answered
from tests.fakes.openai_server import Call, FakeOpenAI, Reply, Say, fake_openai
from tests.processes import Daemon, shut_down, start

CONFIG = """
[bots.pond]
limits = {{ tokens_per_day = {{ {limit} }} }}
model = {{ base_url = "{base_url}", name = "counting", context_window_tokens = 16_384, max_completion_tokens = 1_024 }}
[queue]
backoff_min_s = 0.1
backoff_max_s = 0.2
[run]
log_level = "error"
"""
ANSWER_TOKENS = 200
CHATS = 100


class Counting:
    """A model's server that counts a token for each four bytes of a request, for whoever says a word of ``people``."""

    def __init__(self, *people: str) -> None:
        self.calls: dict[str, list[int]] = {person: [] for person in people}
        """Tokens of each call, by person."""

    def __call__(self, body: dict[str, object]) -> Reply:
        request = json.dumps(body, ensure_ascii=False)
        tokens = len(request) // 4
        [person] = [person for person in self.calls if person in request]
        self.calls[person].append(tokens + ANSWER_TOKENS)
        calls: list[Call] = []
        if "save_memory" in request:
            fields = {"history_entry": f"[2026-11-20 09:00] {person} talked.", "memory_update": person}
            calls = [Call("save_memory", json.dumps(fields))]
        elif f"{person} loops" in request:
            calls = [Call("time", id=f"call_{len(self.calls[person])}")]
        text = "NO_REPLY" if "nearing compaction" in request else "all right"
        return Say("" if calls else text, calls, usage=(tokens, ANSWER_TOKENS))


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[Path]:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    yield folder
    await to_thread.run_sync(shut_down, folder)


async def two_processes(stack: AsyncExitStack, folder: Path, server: FakeOpenAI, limit: str) -> Daemon:
    """The API of a process with all roles; a second one works beside it."""
    config = folder / "millpond.toml"
    config.write_text(CONFIG.format(base_url=server.base_url, limit=limit))
    config.chmod(0o600)
    first = await to_thread.run_sync(partial(start, folder))
    stack.push_async_callback(to_thread.run_sync, first.stop)
    second = await to_thread.run_sync(partial(start, folder, "--role", "agent", "--role", "consolidation", web=False))
    stack.push_async_callback(to_thread.run_sync, second.stop)
    return first


async def say(daemon: Daemon, session: str, text: str, user: str) -> None:
    await to_thread.run_sync(partial(daemon.post, session, text, user=user))


async def test_one_call_at_most_passes_a_persons_limit_whatever_the_person_does(folder: Path) -> None:
    """``/compact`` after the limit, a model that calls tools without end, and a hundred chats at once."""
    limit, counting = 20_000, Counting("anna", "bruno", "carla")
    async with fake_openai(counting) as server, AsyncExitStack() as stack:
        daemon = await two_processes(stack, folder, server, f"person = {limit}")
        for number in range(6):
            await say(daemon, "anna", f"anna {number} " + "word " * 3_000, "anna")
        await until_answered(daemon, "web:anna", 6)
        await say(daemon, "anna", "/compact", "anna")
        await say(daemon, "anna", "anna again", "anna")
        await until_answered(daemon, "web:anna", 7)

        await say(daemon, "bruno", "bruno loops " + "word " * 2_000, "bruno")
        [*_, last] = await until_answered(daemon, "web:bruno", 1)

        async with anyio.create_task_group() as tg:
            for number in range(CHATS):
                tg.start_soon(say, daemon, f"carla{number}", "carla " + "word " * 500, "carla")
        for number in range(CHATS):
            await until_answered(daemon, f"web:carla{number}", 1)

    for person, calls in counting.calls.items():
        assert limit <= sum(calls) <= limit + max(calls), (person, calls)
    assert str(last["content"]).startswith("I stopped here because you have reached your usage limit for today.")


async def test_one_call_at_most_passes_a_bots_limit_whoever_calls(folder: Path) -> None:
    limit, counting = 3_000, Counting("dora")
    async with fake_openai(counting) as server, AsyncExitStack() as stack:
        daemon = await two_processes(stack, folder, server, f"bot = {limit}")
        async with anyio.create_task_group() as tg:
            for number in range(20):
                tg.start_soon(say, daemon, f"dora{number}", "dora", f"dora{number}")
        for number in range(20):
            await until_answered(daemon, f"web:dora{number}", 1)
            await say(daemon, f"dora{number}", "/compact", f"dora{number}")
        for number in range(20):
            await say(daemon, f"dora{number}", "dora", f"dora{number}")
            await until_answered(daemon, f"web:dora{number}", 2)

    assert limit <= sum(counting.calls["dora"]) <= limit + max(counting.calls["dora"]), counting.calls
