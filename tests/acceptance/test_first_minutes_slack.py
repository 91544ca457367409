"""The first ten minutes at Slack: from nothing to a bot that answers its owner, people that are let in, a channel."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.fakes.openai_server import FakeOpenAI, Say, fake_openai
from tests.fakes.slack import FakeSlack, fake_slack
from tests.places import TEMPORARY
from tests.processes import environment_of, running, shut_down
from tests.terminals import on_terminal


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def slack(portal: BlockingPortal) -> Iterator[FakeSlack]:
    with portal.wrap_async_context_manager(fake_slack()) as server:
        yield server


@pytest.fixture
def model(portal: BlockingPortal) -> Iterator[FakeOpenAI]:
    replies = [Say("yes"), Say("The pond is **deep**."), Say("Hello, Bob."), Say("Twelve herons.")]
    with portal.wrap_async_context_manager(fake_openai(replies)) as server:
        yield server


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="mp-", dir=TEMPORARY))
    yield folder
    shut_down(folder)
    shutil.rmtree(folder, ignore_errors=True)


def test_from_the_manifest_to_the_first_reply(
    folder: Path, portal: BlockingPortal, slack: FakeSlack, model: FakeOpenAI
) -> None:
    people = slack.person("Ann", id="U4711"), slack.person("Bob", id="U4712")
    ann, bob = map(slack.direct, people)
    lake = slack.channel(*people)

    with on_terminal("init", "--slack", "--slack-url", slack.base_url, environ=environment_of(folder, {})) as terminal:
        for question, answer in (
            ("Name of the bot", ""), ("Which", "en"), ("Time zone", "Europe/Berlin"), ("Address", model.base_url),
            ("Key", "some-key"), ("Name of the model", "m"), ("Bot token", slack.bot.token),
            ("App token", slack.app.token),
        ):  # fmt: skip
            terminal.answer(question, answer)
        code = terminal.shows(r"as a direct message; it tells me who you are:\s+([A-Z0-9]+)")[1]
        portal.call(ann.say, code)
        terminal.answer("Which", "pairing")
        assert terminal.ends() == 0, terminal.screen

    with running(folder):
        portal.call(ann.say, "How deep is the pond?")
        assert portal.call(slack.said, ann, 2)[1] == "The pond is **deep**."

        portal.call(bob.say, "hello")
        (stranger,) = portal.call(slack.said, bob, 1)
        found = re.search(r"/pair (\S+) to me", stranger)
        assert found, stranger
        slack.bot.command(ann, f"pair {found[1]}", by=people[0])
        portal.call(slack.said, ann, 3)
        assert "You may speak to me now" in portal.call(slack.said, bob, 2)[1]
        portal.call(bob.say, "hello again")
        assert portal.call(slack.said, bob, 3)[2] == "Hello, Bob."

        root = portal.call(lambda: lake.say("I have counted the herons.", by=people[0]))
        portal.call(lambda: lake.say(f"{slack.bot.mention} how many?", by=people[1], thread=root.ts))
        portal.call(slack.until, lambda: lake.texts(thread=root.ts) == ["Twelve herons."])

    # What was said in the thread before the bot was first named there, too.
    assert "I have counted the herons." in str(model.requests[-1].body["messages"])
    assert [len(chat.texts()) for chat in (ann, bob)] == [3, 3]
    assert slack.oddities() == []
