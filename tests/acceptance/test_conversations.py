"""A message in, a reply out: the real command, real HTTP on both sides, as a person uses it."""

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from tests import forked
from tests.fakes.openai_server import Failure, Say, fake_openai
from tests.limits import HANG_S
from tests.processes import Daemon, answered, environment_of, shut_down, start

KEY = "sk-planted-0123456789"  # stands in the configuration and must stand in nothing that anybody reads


@asynccontextmanager
async def millpond(folder: Path, **environment: str) -> AsyncGenerator[Daemon]:
    daemon = await to_thread.run_sync(partial(start, folder, **environment))
    try:
        yield daemon
    finally:
        await to_thread.run_sync(daemon.stop)


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[Path]:
    yield tmp_path / "data"
    # The server writes until the end; it is told to go before the folder does.
    await to_thread.run_sync(shut_down, tmp_path / "data")


async def until_answered(daemon: Daemon, session: str, count: int) -> list[dict[str, object]]:
    until = time.monotonic() + HANG_S
    while len(answered(messages := await to_thread.run_sync(daemon.messages, session))) < count:
        assert time.monotonic() < until, messages
        await anyio.sleep(0.05)
    return messages


async def test_an_offline_conversation_remembers_what_was_said_in_english_and_chinese(folder: Path) -> None:
    said = {
        "web:ann": ["Hello", "My daughter is called Anna.", "count to 3", "What is my daughter called?"],
        "web:小明": ["你好", "记住我的偏好：我喜欢用Python，不用JavaScript", "数到3", "我刚才说喜欢什么语言？"],
    }
    async with millpond(folder) as daemon:
        replies: dict[str, list[str]] = {}
        for session, texts in said.items():
            for text in texts:
                key = (await to_thread.run_sync(daemon.post, session, text))["session"]
            messages = await until_answered(daemon, key, len(texts))
            replies[session] = [str(m["content"]) for m in messages if m["role"] == "assistant"]

    assert "Anna" in replies["web:ann"][3]
    assert "Python" in replies["web:小明"][3]
    assert replies["web:ann"][2] == replies["web:小明"][2] == "1 2 3"
    for first, *later in replies.values():
        assert "Millpond" in first and "millpond init" in first
        assert not any("millpond init" in reply for reply in later)


async def test_a_real_model_is_asked_with_the_history_and_its_key_is_shown_nowhere(folder: Path) -> None:
    async with fake_openai([Failure(500), Say("Nice to meet you."), Say("You are Ann.")]) as server:
        model = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "fake-1"}
        async with millpond(folder, MILLPOND_QUEUE__BACKOFF_MIN_S="0.1", **model) as daemon:
            await to_thread.run_sync(daemon.post, "ann", "I am Ann.")
            await until_answered(daemon, "web:ann", 1)
            await to_thread.run_sync(daemon.post, "ann", "Who am I?")
            messages = await until_answered(daemon, "web:ann", 2)

        assert [message["content"] for message in messages] == [
            *("I am Ann.", "Nice to meet you.", "Who am I?", "You are Ann.")
        ]
        asked = json.loads(server.requests[-1].raw)
        assert [message["role"] for message in asked["messages"]] == ["system", "user", "assistant", "user"]
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
        assert KEY.encode() not in await to_thread.run_sync(everything_kept, folder)
        shown = await to_thread.run_sync(partial(run_command, folder, "config", "show", "--json", **model))
        assert KEY not in shown
        assert "fake-1" in shown


def everything_kept(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def run_command(folder: Path, *arguments: str, **environment: str) -> str:
    done = forked.run(arguments, environment_of(folder, environment))
    assert done.returncode == 0
    return done.stdout + done.stderr


async def test_a_viewer_sees_the_text_come_and_a_stop_ends_it(folder: Path) -> None:
    words = " ".join(f"word{number}" for number in range(10_000))  # it would be told for longer than the test waits
    async with fake_openai([Say(words, delay_s=0.05)]) as server:
        async with millpond(folder, OPENAI_BASE_URL=server.base_url, OPENAI_MODEL="fake-1") as daemon:
            await to_thread.run_sync(daemon.post, "ann", "Tell me a story.")
            deltas = await to_thread.run_sync(first_deltas, daemon, "/api/events?session=web:ann", 3)
            await to_thread.run_sync(daemon.post, "ann", "/stop")
            messages = await until_answered(daemon, "web:ann", 2)
        with anyio.fail_after(HANG_S):
            await server.client_left.wait()

    assert "".join(deltas) and words.startswith("".join(deltas))
    last = messages[-1]
    assert last["stopped"] is True
    assert str(last["content"]).endswith("[stopped]")
    assert words.startswith(str(last["content"]).removesuffix("\n\n[stopped]"))


def first_deltas(daemon: Daemon, path: str, count: int) -> list[str]:
    """The texts of the first pieces that an event stream shows."""
    texts: list[str] = []
    event = ""
    with daemon.opened(path) as response:
        for line in response:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "event":
                event = value
            if name == "data" and event == "delta":
                texts.append(json.loads(value)["text"])
                if len(texts) == count:
                    return texts
    return texts
