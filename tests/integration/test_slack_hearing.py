"""Hearing the fake Slack, whatever happens on the way: nothing that was said is lost, by either transport."""

import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from channels import event_queue
from channels.slack import api_types, events_endpoint
from channels.slack import event_inlet as slack_hearing
from channels.slack import socket_mode as slack_socket
from daemon.clock import SystemClock
from daemon.config import AccessConfig, Secret, SlackConfig, SlackEventsConfig
from daemon.process import Process
from tests.fakes.slack import App, Bot, Cut, FakeSlack, Garbled, Hang, Page, Refuse, Slow, every, fake_slack
from tests.hearlab import Heard, hear_one, replica
from tests.limits import HANG_S
from tests.ports import reserved_port

PATH = "/slack/events"


@pytest.fixture(autouse=True)
def short_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slack_socket, "PAUSE_MIN_S", 0.01)
    monkeypatch.setattr(slack_socket, "PAUSE_MAX_S", 0.1)
    monkeypatch.setattr(slack_socket, "CROWDED_S", 0.1)
    monkeypatch.setattr(slack_socket, "PING_S", 0.1)
    monkeypatch.setattr(slack_socket, "SILENT_S", 0.5)
    monkeypatch.setattr(slack_hearing, "REST_S", 0.05)
    monkeypatch.setattr(api_types, "LONG_REST_S", 0.05)
    monkeypatch.setattr(event_queue, "REST_MIN_S", 0.01)
    monkeypatch.setattr(event_queue, "REST_MAX_S", 0.05)


def by_socket(slack: FakeSlack, bot: Bot | None = None, app: App | None = None) -> SlackConfig:
    return SlackConfig(
        base_url=slack.base_url,
        bot_token=Secret((bot or slack.bot).token),
        app_token=Secret((app or slack.app).token),
        access=AccessConfig(policy="open"),
    )


def by_http(slack: FakeSlack, port: int, bot: Bot | None = None) -> SlackConfig:
    return SlackConfig(
        base_url=slack.base_url,
        bot_token=Secret((bot or slack.bot).token),
        signing_secret=Secret(slack.app.signing_secret),
        events=SlackEventsConfig(url=f"https://pond.example{PATH}", port=port),
        access=AccessConfig(policy="open"),
    )


@asynccontextmanager
async def hearing(process: Process, heard: Heard, *configs: SlackConfig) -> AsyncGenerator[list[anyio.CancelScope]]:
    """A replica for each of ``configs``, for the length of the block; each can be ended."""
    scopes: list[anyio.CancelScope] = []

    async def run(config: SlackConfig) -> None:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            await hear_one(replica(process, acme=config), "acme", heard)

    async with anyio.create_task_group() as tg:
        for config in configs:
            tg.start_soon(run, config)
        yield scopes
        tg.cancel_scope.cancel()


def said_by(slack: FakeSlack, *, people: int = 8, each: int = 12, begin: int = 0) -> list[str]:
    """People talk to the bot, all at the same time; what they say."""
    directs = [slack.direct(slack.person(f"Person {number}")) for number in range(people)]
    texts = [f"{number} of {who}" for number in range(begin, begin + each) for who in range(people)]
    for text, direct in zip(texts, itertools.cycle(directs), strict=False):
        direct.say(text)
    return texts


async def test_a_mention_is_heard_as_one_message(process: Process) -> None:
    heard = Heard()
    async with fake_slack(repeat_s=HANG_S) as slack, hearing(process, heard, by_socket(slack)):
        await slack.connected()
        lake = slack.channel(slack.person("Ann"))
        lake.say(f"{slack.bot.mention} how deep is it?")
        await slack.settled()

    assert len(slack.app.done) == 2
    assert {arrival.text for arrival in heard.arrivals} == {"how deep is it?"}
    assert len({arrival.seen_as for arrival in heard.arrivals}) == 1


@pytest.mark.parametrize(
    "fault", [Cut(acted=False), Cut(), Cut(half=True), Hang(), Garbled(b'{"envelope_id":"e"'), Slow(0.05)], ids=str
)
async def test_nothing_is_lost_when_envelopes_meet_a_fault(process: Process, fault: Any) -> None:
    heard = Heard()
    async with fake_slack(floods=False, repeat_s=0.05) as slack:
        slack.faults.when("envelope", every(40 if isinstance(fault, Hang) else 9, [fault]))
        async with hearing(process, heard, by_socket(slack), by_socket(slack)):
            await slack.connected(2)
            texts = said_by(slack)
            await slack.settled()

    assert set(heard.texts) == set(texts)
    assert slack.odd_frames == []


async def test_nothing_is_lost_when_acknowledgements_are(process: Process) -> None:
    heard = Heard()
    async with fake_slack(floods=False, repeat_s=0.05) as slack:
        slack.faults.when("acknowledge", every(5, [Hang(), Cut()]))
        async with hearing(process, heard, by_socket(slack), by_socket(slack)):
            await slack.connected(2)
            texts = said_by(slack)
            await slack.settled()

    assert set(heard.texts) == set(texts)


async def test_nothing_is_lost_while_connections_come_and_go(process: Process) -> None:
    """Told to go, closed, cut and dead ones; with opening refused now and then, and Redis away for moments."""
    heard = Heard()
    async with fake_slack(floods=False, repeat_s=0.05) as slack:
        answers = [Refuse("internal_error"), Page(), Cut(), Refuse("ratelimited", retry_after=0)]
        slack.faults.when("apps.connections.open", every(2, answers))
        slack.faults.when("connect", every(3, [Refuse("internal_error"), Cut()]))
        async with hearing(process, heard, by_socket(slack), by_socket(slack)):

            async def trouble() -> None:
                for number in itertools.count():
                    heard.away = number % 3
                    socket = (await slack.connected())[-1]
                    match number % 6:
                        case 0:
                            await socket.disconnect("warning")
                        case 1:
                            await socket.disconnect("refresh_requested", after_s=0.02)
                        case 2:
                            await socket.cut()
                        case 3:
                            await socket.cut(half=True)
                        case 4:
                            await socket.close()
                        case _:
                            socket.mute = True
                    await anyio.sleep(0.02)

            texts = list[str]()
            async with anyio.create_task_group() as tg:
                tg.start_soon(trouble)
                for number in range(6):
                    texts += said_by(slack, each=5, begin=5 * number)
                    await anyio.sleep(0.1)
                tg.cancel_scope.cancel()
            heard.away = 0
            slack.faults.clear()
            await slack.settled()

    assert set(heard.texts) == set(texts)
    assert slack.oddities() == []


async def test_what_a_replica_leaves_when_it_ends_another_one_hears(process: Process) -> None:
    heard = Heard(away=1_000_000)
    async with (
        fake_slack(floods=False, repeat_s=0.05) as slack,
        hearing(process, heard, by_socket(slack), by_socket(slack)) as replicas,
    ):
        await slack.connected(2)
        texts = said_by(slack)
        await heard.until_begun(20)
        replicas[0].cancel()
        heard.away = 0
        await slack.settled()

    assert set(heard.texts) == set(texts)


async def test_who_finds_no_place_waits_for_one(process: Process) -> None:
    heard = Heard()
    async with fake_slack(floods=False, repeat_s=0.05) as slack:
        slack.app.sockets_max = 1
        async with hearing(process, heard, by_socket(slack), by_socket(slack)) as replicas:
            (first,) = await slack.connected()
            await slack.until(lambda: len(slack.called("apps.connections.open")) >= 4)
            replicas[0].cancel()
            replicas[1].cancel()
            await slack.until(first.closed.is_set)
            async with hearing(process, heard, by_socket(slack)):
                await slack.connected()
                texts = said_by(slack, each=1)
                await slack.settled()

    assert set(heard.texts) == set(texts)


async def test_workspaces_of_one_app_hear_what_is_theirs(process: Process) -> None:
    acme, globex = Heard(), Heard()
    async with fake_slack(repeat_s=HANG_S) as slack, anyio.create_task_group() as tg:
        there = slack.install(slack.app, slack.new_team("Globex"))
        here = replica(process, acme=by_socket(slack), globex=by_socket(slack, there))
        tg.start_soon(hear_one, here, "acme", acme)
        tg.start_soon(hear_one, here, "globex", globex)
        await slack.connected()
        slack.direct(slack.person("Ann")).say("in acme")
        there.direct(there.team.person("Bob")).say("in globex")
        there.command(there.direct(there.team.person("Cy")), "status")
        await slack.settled()
        sockets = len(slack.app.sockets)
        tg.cancel_scope.cancel()

    assert sockets == 1
    assert acme.texts == ["in acme"]
    assert sorted(globex.texts) == ["/status", "in globex"]


@asynccontextmanager
async def called(process: Process, slack: FakeSlack, heard: Heard) -> AsyncGenerator[None]:
    true_time = replace(process, clock=SystemClock())  # which Slack signs by
    with reserved_port() as port:
        async with hearing(true_time, heard, by_http(slack, port)):
            slack.brought_at = f"http://127.0.0.1:{port}"
            slack.app.url = f"https://pond.example{PATH}"
            slack.app.arrive()
            yield


async def test_the_address_is_accepted_by_slack(process: Process) -> None:
    heard = Heard()
    async with fake_slack(repeat_s=0.05) as slack, called(process, slack, heard):
        slack.direct(slack.person("Ann")).say("first")
        await slack.settled()

        assert await slack.verify_url()


async def test_nothing_that_is_brought_is_lost(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """With Redis away for moments, and keeping that takes too long for some."""
    monkeypatch.setattr(events_endpoint, "TAKE_S", 0.2)
    heard = Heard(away=30, slow="late")
    async with fake_slack(floods=False, repeat_s=0.1) as slack, called(process, slack, heard):
        slow = slack.direct(slack.person("Late"))
        heard.slow = slow.id
        slow.say("late")
        texts = said_by(slack, each=10)
        await heard.until(len(texts))
        heard.go.set()
        await slack.settled()

    assert set(heard.texts) == {*texts, "late"}
    assert 503 in slack.pressing[slack.app.id].answers


async def test_commands_and_mentions_are_brought_too(process: Process) -> None:
    heard = Heard()
    async with fake_slack(repeat_s=0.05) as slack, called(process, slack, heard):
        ann = slack.person("Ann")
        slack.direct(ann).say("hello")
        await slack.settled()
        slack.bot.command(slack.direct(ann), "status")
        slack.channel(ann).say(f"{slack.bot.mention} /new", by=ann)
        await slack.settled()

    assert set(heard.texts) == {"hello", "/status", "/new"}


@pytest.mark.parametrize("more", [{"secret": "another"}, {"at": 1.0}, {"X-Slack-Signature": ""}], ids=str)
async def test_what_somebody_else_brings_is_not_heard(process: Process, more: dict[str, Any]) -> None:
    heard = Heard()
    async with fake_slack(repeat_s=0.05) as slack, called(process, slack, heard):
        slack.direct(slack.person("Ann")).say("hello")
        await slack.settled()
        genuine = slack.app.done[-1].payload
        status, _ = await slack.bring(genuine, **more)

    assert status in (401, 403)
    assert set(heard.texts) == {"hello"}
