"""Who the owner is, found out at a Slack that fails in every way; whatever others said stays where it is."""

from collections.abc import AsyncIterator

import anyio
import pytest

import daemon.setup.platforms.slack_api
import daemon.setup.platforms.slack_pairing
from daemon.config import Secret
from daemon.setup.answers import Owner
from daemon.setup.platforms.slack_api import Me, SlackApi, SlackSaysNo, slack_api
from daemon.setup.platforms.slack_pairing import WrittenCode, greet, wait_for_owner
from tests.fakes.slack import Cut, FakeSlack, Fault, Garbled, Hang, Page, Refuse, fake_slack
from tests.limits import HANG_S

CODE = "ABCDEFGH2345"


@pytest.fixture
async def slack(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> AsyncIterator[FakeSlack]:
    monkeypatch.setattr(daemon.setup.platforms.slack_pairing, "PAUSE_S", 0.01)
    monkeypatch.setattr(daemon.setup.platforms.slack_api, "CALL_S", 0.2 if "Hang" in request.node.name else HANG_S)
    async with fake_slack(floods=False, repeat_s=0.1) as server:
        yield server


@pytest.fixture
async def api(slack: FakeSlack) -> AsyncIterator[SlackApi]:
    async with slack_api(slack.base_url) as api:
        yield api


def me(slack: FakeSlack) -> Me:
    return Me(team_id=slack.team.id, user_id=slack.bot.person.id)


async def paired(slack: FakeSlack, api: SlackApi, *, wait_s: float = HANG_S) -> WrittenCode | None:
    token = Secret(slack.app.token)
    return await wait_for_owner(api, token, me(slack), CODE, say=lambda _: None, wait_s=wait_s)


@pytest.mark.parametrize(
    ("what", "fault"),
    [
        *(("apps.connections.open", fault) for fault in (Refuse(retry_after=0), Refuse("internal_error"), Page())),
        *(("apps.connections.open", fault) for fault in (Cut(), Garbled(), Hang())),
        *(("connect", fault) for fault in (Cut(), Page())),
        *(("envelope", fault) for fault in (Cut(), Cut(half=True))),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
async def test_a_slack_that_fails_is_asked_again(slack: FakeSlack, api: SlackApi, what: str, fault: Fault) -> None:
    slack.faults.on(what, fault, fault)
    ann = slack.direct(slack.person("Ann", id="U4711"))
    ann.say(f"here it is: {CODE.lower()}")

    assert await paired(slack, api) == WrittenCode(owner=Owner(id="U4711"), channel=ann.id, thread="")
    await slack.settled()


async def test_another_socket_is_opened_when_slack_asks_for_it(slack: FakeSlack, api: SlackApi) -> None:
    found: list[WrittenCode | None] = []

    async def wait() -> None:
        found.append(await paired(slack, api))

    async with anyio.create_task_group() as tg:
        tg.start_soon(wait)
        [socket] = await slack.connected()
        await socket.disconnect("refresh_requested")
        await slack.until(lambda: len(slack.called("apps.connections.open")) > 1)
        slack.app.bring_raw(b"no JSON")
        slack.app.bring_raw(b'{"type": 7}')
        slack.direct(slack.person("Ann", id="U4711")).say(CODE)

    assert [each and each.owner for each in found] == [Owner(id="U4711")]


async def test_only_a_person_who_sends_the_code_directly_is_the_owner(slack: FakeSlack, api: SlackApi) -> None:
    eve, robot = slack.person("Eve"), slack.person("Robot", is_bot=True)
    elsewhere = slack.install(slack.app, slack.new_team())
    slack.channel(eve).say(CODE)
    slack.channel(eve, kind="mpim").say(CODE)
    slack.direct(robot).say(CODE, by=robot)
    slack.direct(eve).say(CODE[:-1])
    slack.direct(eve).say(f"{CODE}5")
    elsewhere.direct(elsewhere.team.person("Mallory")).say(CODE)
    slack.bot.push({"type": "message", "channel_type": "im", "subtype": "message_changed", "text": CODE, "user": "U1"})
    slack.bot.push({"type": "message", "channel_type": "im", "text": CODE})
    slack.bot.command(slack.direct(eve), CODE)
    found: list[WrittenCode | None] = []

    async def wait() -> None:
        found.append(await paired(slack, api))

    async with anyio.create_task_group() as tg:
        tg.start_soon(wait)
        await slack.until(lambda: all(each.tries > 1 for each in slack.app.waiting))
        assert found == []
        slack.direct(slack.person("Ann", id="U4711")).say(CODE)

    assert [each and each.owner for each in found] == [Owner(id="U4711")]
    assert [each.payload["event"]["user"] for each in slack.app.done] == ["U4711"]


async def test_a_thread_of_an_assistant_s_is_where_the_greeting_goes(slack: FakeSlack, api: SlackApi) -> None:
    ann = slack.direct(slack.person("Ann", id="U4711"))
    root = ann.say("hello")
    ann.say(CODE, thread=root.ts)

    written = await paired(slack, api)
    assert written is not None
    await greet(api, Secret(slack.bot.token), written, "welcome")

    assert ann.texts(thread=root.ts) == ["welcome"]


async def test_nobody_comes(slack: FakeSlack, api: SlackApi) -> None:
    said: list[str] = []
    token = Secret(slack.app.token)

    assert await wait_for_owner(api, token, me(slack), CODE, say=said.append, wait_s=0.2) is None
    assert said == ["The code did not arrive in time."]


async def test_another_program_that_hears_for_the_app_is_told_of(slack: FakeSlack, api: SlackApi) -> None:
    said: list[str] = []
    token = Secret(slack.app.token)
    async with api.session.ws_connect(await api.socket_url(token)):
        await slack.connected()
        await wait_for_owner(api, token, me(slack), CODE, say=said.append, wait_s=0.5)

    assert any("Another program also receives this app's messages" in text for text in said)


@pytest.mark.parametrize("error", ["invalid_auth", "missing_scope", "not_allowed_token_type"])
async def test_a_token_that_may_not_hear_ends_it(slack: FakeSlack, api: SlackApi, error: str) -> None:
    slack.faults.on("apps.connections.open", Refuse(error))

    with pytest.raises(SlackSaysNo, match=error):
        await paired(slack, api)


async def test_socket_mode_that_is_off_ends_it(slack: FakeSlack, api: SlackApi) -> None:
    caught: list[SlackSaysNo] = []

    async def wait() -> None:
        with pytest.raises(SlackSaysNo, match="Socket Mode") as info:
            await paired(slack, api)
        caught.append(info.value)

    async with anyio.create_task_group() as tg:
        tg.start_soon(wait)
        [socket] = await slack.connected()
        await socket.disconnect("link_disabled")

    assert [error.code for error in caught] == ["link_disabled"]


@pytest.mark.parametrize(
    "fault", [Refuse("not_in_channel"), Page(), Cut(), Hang()], ids=lambda fault: type(fault).__name__
)
async def test_a_greeting_that_fails_is_no_failure(slack: FakeSlack, api: SlackApi, fault: Fault) -> None:
    ann = slack.direct(slack.person("Ann"))
    slack.faults.on("chat.postMessage", fault)
    written = WrittenCode(owner=Owner(id="U1"), channel=ann.id, thread="")

    await greet(api, Secret(slack.bot.token), written, "hello")

    assert [call.fault for call in slack.called("chat.postMessage")] == [fault]


@pytest.mark.parametrize(
    "fault", [Page(), Cut(), Garbled(), Hang(), Refuse("invalid_auth")], ids=lambda fault: type(fault).__name__
)
async def test_no_failure_shows_the_token(slack: FakeSlack, api: SlackApi, fault: Fault) -> None:
    slack.faults.on("auth.test", fault)

    with pytest.raises(SlackSaysNo) as caught:
        await api.me(Secret(slack.bot.token))

    shown = f"{caught.value}{caught.value!r}{caught.value.__cause__!r}{caught.getrepr(style='short', showlocals=False)}"
    assert slack.bot.token not in shown


async def test_what_is_no_token_is_never_sent(slack: FakeSlack, api: SlackApi) -> None:
    with pytest.raises(SlackSaysNo, match="not a Slack token"):
        await api.me(Secret("xoxb-1\r\nX-Other: 1"))

    assert slack.calls == []
