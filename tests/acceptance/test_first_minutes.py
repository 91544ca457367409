"""The first ten minutes: from nothing to a bot at Telegram or Slack that answers its owner and others."""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal

from tests.fakes.openai_server import Call, FakeOpenAI, Say, fake_openai
from tests.fakes.slack import fake_slack
from tests.fakes.telegram import fake_telegram
from tests.integration import test_init
from tests.places import TEMPORARY
from tests.processes import environment_of, running, shut_down
from tests.terminals import on_terminal

portal = test_init.portal

TRIED = (Say(calls=[Call("time")]), Say("nine"), Say("red"))
"""What a model says when ``init`` tries it with a tool and a picture."""


@pytest.fixture
def model(portal: BlockingPortal) -> Iterator[FakeOpenAI]:
    replies = [Say("yes"), *TRIED, Say("The pond is **deep**."), Say("Hello, Bob."), Say("Twelve herons.")]
    with portal.wrap_async_context_manager(fake_openai(replies)) as server:
        yield server


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="mp-", dir=TEMPORARY))
    yield folder
    shut_down(folder)
    shutil.rmtree(folder, ignore_errors=True)


def set_up(
    folder: Path,
    model: FakeOpenAI,
    flags: tuple[str, ...],
    tokens: dict[str, str],
    code: str,
    say: Callable[[str], None],
) -> None:
    """Answer all questions of ``millpond init``; ``say`` gets the code that its owner writes."""
    questions = {
        "Bot name": "", "Which": "en", "Time zone": "Europe/Berlin", "Server address": model.base_url,
        "API key": "some-key", "Model name": "m", **tokens,
    }  # fmt: skip
    with on_terminal("init", *flags, environ=environment_of(folder, {})) as terminal:
        for question, answer in questions.items():
            terminal.answer(question, answer)
        say(terminal.shows(code)[1])
        terminal.answer("Which", "pairing")
        terminal.answer("Web search", "")
        terminal.answer("Let the bot read public web pages", "")
        terminal.answer("Voice messages", "")
        assert terminal.ends() == 0, terminal.screen


def let_in(portal: BlockingPortal, platform: Any, ann: Any, bob: Any, pair: Callable[[str], object]) -> None:
    """A stranger is told how to be let in, is let in by the owner, and is answered."""
    portal.call(bob.say, "hello")
    (stranger,) = portal.call(platform.said, bob, 1)
    found = re.search(r"/pair ([A-Z0-9-]+)", stranger)
    assert found, stranger
    pair(found[1])
    portal.call(platform.said, ann, 3)
    assert "You have been approved" in portal.call(platform.said, bob, 2)[1]
    portal.call(bob.say, "hello again")
    assert portal.call(platform.said, bob, 3)[2] == "Hello, Bob."


def test_from_nothing_to_an_answer_at_telegram(folder: Path, portal: BlockingPortal, model: FakeOpenAI) -> None:
    with portal.wrap_async_context_manager(fake_telegram()) as telegram:
        ann, bob = telegram.direct(telegram.person("Ann", id=4711)), telegram.direct(telegram.person("Bob"))
        flags, tokens = ("--telegram-url", telegram.base_url), {"Bot token": telegram.bot.token}
        link = r"https://t\.me/pond_bot\?start=([A-Z0-9]+)"
        set_up(folder, model, flags, tokens, link, lambda code: portal.call(ann.say, f"/start {code}"))

        portal.call(ann.say, "How deep is the pond?")  # while nobody runs: it waits at Telegram
        with running(folder):
            assert portal.call(telegram.said, ann, 2)[1] == "The pond is deep."
            let_in(portal, telegram, ann, bob, lambda code: portal.call(ann.say, f"/pair {code}"))

        assert len(ann.texts()) == 3, ann.texts()
        assert telegram.oddities() == []


def test_from_the_manifest_to_the_first_reply_at_slack(folder: Path, portal: BlockingPortal, model: FakeOpenAI) -> None:
    with portal.wrap_async_context_manager(fake_slack()) as slack:
        people = slack.person("Ann", id="U4711"), slack.person("Bob", id="U4712")
        ann, bob = map(slack.direct, people)
        lake = slack.channel(*people)
        flags, tokens = ("--slack", "--slack-url", slack.base_url), {"Bot token": slack.bot.token}
        tokens["App token"] = slack.app.token
        asked = r"as a direct message, so that the bot can identify you:\s+([A-Z0-9]+)"
        set_up(folder, model, flags, tokens, asked, lambda code: portal.call(ann.say, code))

        with running(folder):
            portal.call(ann.say, "How deep is the pond?")
            assert portal.call(slack.said, ann, 2)[1] == "The pond is **deep**."
            let_in(portal, slack, ann, bob, lambda code: slack.bot.command(ann, f"pair {code}", by=people[0]))

            root = portal.call(lambda: lake.say("I have counted the herons.", by=people[0]))
            portal.call(lambda: lake.say(f"{slack.bot.mention} how many?", by=people[1], thread=root.ts))
            portal.call(slack.until, lambda: lake.texts(thread=root.ts) == ["Twelve herons."])

        # What was said in the thread before the bot was first named there, too.
        assert "I have counted the herons." in str(model.requests[-1].body["messages"])
        assert [len(chat.texts()) for chat in (ann, bob)] == [3, 3]
        assert slack.oddities() == []
