"""The first ten minutes: from nothing to a bot that answers its owner at Telegram, and whom the owner lets in."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.fakes.openai_server import FakeOpenAI, Say, fake_openai
from tests.fakes.telegram import FakeTelegram, fake_telegram
from tests.places import TEMPORARY
from tests.processes import environment_of, running, shut_down
from tests.terminals import on_terminal


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def telegram(portal: BlockingPortal) -> Iterator[FakeTelegram]:
    with portal.wrap_async_context_manager(fake_telegram()) as server:
        yield server


@pytest.fixture
def model(portal: BlockingPortal) -> Iterator[FakeOpenAI]:
    replies = [Say("yes"), Say("The pond is **deep**."), Say("Hello, Bob.")]
    with portal.wrap_async_context_manager(fake_openai(replies)) as server:
        yield server


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="mp-", dir=TEMPORARY))
    yield folder
    shut_down(folder)
    shutil.rmtree(folder, ignore_errors=True)


def test_from_nothing_to_a_bot_that_answers(
    folder: Path, portal: BlockingPortal, telegram: FakeTelegram, model: FakeOpenAI
) -> None:
    ann, bob = telegram.direct(telegram.person("Ann", id=4711)), telegram.direct(telegram.person("Bob"))

    with on_terminal("init", "--telegram-url", telegram.base_url, environ=environment_of(folder, {})) as terminal:
        for question, answer in (
            ("Name of the bot", ""), ("Which", "en"), ("Time zone", "Europe/Berlin"), ("Address", model.base_url),
            ("Key", "some-key"), ("Name of the model", "m"), ("Token", telegram.bot.token),
        ):  # fmt: skip
            terminal.answer(question, answer)
        code = terminal.shows(r"https://t\.me/pond_bot\?start=([A-Z0-9]+)")[1]
        portal.call(ann.say, f"/start {code}")
        terminal.answer("Which", "pairing")
        assert terminal.ends() == 0, terminal.screen

    portal.call(ann.say, "How deep is the pond?")  # while nobody runs: it waits at Telegram
    with running(folder):
        assert portal.call(telegram.said, ann, 2)[1] == "The pond is deep."

        portal.call(bob.say, "hello")
        (stranger,) = portal.call(telegram.said, bob, 1)
        found = re.search(r"/pair (\S+) to me", stranger)
        assert found, stranger
        portal.call(ann.say, f"/pair {found[1]}")
        portal.call(telegram.said, ann, 3)
        assert "You may speak to me now" in portal.call(telegram.said, bob, 2)[1]

        portal.call(bob.say, "hello again")
        assert portal.call(telegram.said, bob, 3)[2] == "Hello, Bob."

    assert len(ann.texts()) == 3, ann.texts()
    assert telegram.oddities() == []
