"""Events that Slack brings by HTTP: what is believed, what is answered, and when."""

import hashlib
import hmac
import json
import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import anyio
import httpx2
import pytest
from structlog.testing import capture_logs

from channels.http import http_server
from channels.slack import events_endpoint
from daemon.config import AccessConfig, Secret, SlackConfig, SlackEventsConfig
from daemon.errors import ConfigError
from daemon.process import Process
from tests.hearlab import Heard, hear_one, replica
from tests.limits import HANG_S
from tests.ports import reserved_port
from tests.slackwire import Wire, command, message, slack_wire
from tests.tables import each_row

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
FORM = "application/x-www-form-urlencoded"


def signature(body: bytes, stamped: str, secret: str = SECRET) -> str:
    return "v0=" + hmac.new(secret.encode(), f"v0:{stamped}:".encode() + body, hashlib.sha256).hexdigest()


class Caller:
    def __init__(self, process: Process, port: int, client: httpx2.AsyncClient) -> None:
        self.url = f"http://127.0.0.1:{port}/slack/events"
        self._process = process
        self._client = client
        self._scopes: list[anyio.CancelScope] = []
        self._over = anyio.Event()

    async def hear(self, name: str, heard: Heard) -> None:
        """A section of the process that is called, until ``stop``."""
        with anyio.CancelScope() as scope:
            self._scopes.append(scope)
            await hear_one(self._process, name, heard)
        self._over.set()

    async def stop(self) -> None:
        for scope in self._scopes:
            scope.cancel()
        await self._over.wait()

    async def bring(
        self,
        body: bytes,
        *,
        off_s: float = 0.0,
        secret: str = SECRET,
        kind: str = "application/json",
        **headers: str | bytes,
    ) -> httpx2.Response:
        """A signed call, ``off_s`` after now."""
        stamped = str(int(self._process.clock.now().timestamp() + off_s))
        signed = {"X-Slack-Request-Timestamp": stamped, "X-Slack-Signature": signature(body, stamped, secret)}
        return await self.send(body, {"Content-Type": kind, **signed, **headers})

    async def say(self, payload: dict[str, Any], **more: Any) -> httpx2.Response:
        return await self.bring(json.dumps(payload).encode(), **more)

    async def send(self, body: bytes, headers: Mapping[str, str | bytes], *, url: str = "") -> httpx2.Response:
        return await self._client.post(
            url or self.url, content=body, headers=[(name, value) for name, value in headers.items()]
        )


def by_http(wire: Wire, name: str, port: int | None) -> SlackConfig:
    events = SlackEventsConfig(url="https://pond.example/slack/events", port=port) if port else SlackEventsConfig()
    return SlackConfig(
        base_url=wire.base_url,
        bot_token=Secret(f"xoxb-{name}"),
        signing_secret=Secret(SECRET),
        events=events,
        access=AccessConfig(policy="open"),
    )


@asynccontextmanager
async def called(process: Process, **heard: Heard) -> AsyncGenerator[Caller]:
    """Sections that hear, the first of which has the address, for the length of the block."""
    with reserved_port() as port:
        async with slack_wire() as wire, httpx2.AsyncClient() as client, anyio.create_task_group() as tg:
            channels = {name: by_http(wire, name, None if number else port) for number, name in enumerate(heard)}
            here = replica(process, **channels)
            caller = Caller(here, port, client)
            for name, intake in heard.items():
                tg.start_soon(caller.hear, name, intake)
            with anyio.fail_after(10):
                while True:
                    try:
                        await client.get(caller.url)
                        break
                    except httpx2.ConnectError:
                        await anyio.sleep(0.01)
                await wire.until(lambda: len([each for each in wire.asked if each[0] == "auth.test"]) == len(heard))
            yield caller
            tg.cancel_scope.cancel()


async def test_what_is_brought_is_answered_once_it_is_kept(process: Process) -> None:
    heard = Heard(slow="D0ANN")
    async with called(process, acme=heard) as slack, anyio.create_task_group() as tg:
        statuses: list[int] = []

        async def bring() -> None:
            statuses.append((await slack.say(message("hello"))).status_code)

        tg.start_soon(bring)
        await heard.until_begun(1)
        assert statuses == []
        heard.go.set()
        await heard.until(1)

    assert statuses == [200]
    assert heard.texts == ["hello"]


async def test_what_takes_too_long_to_keep_is_not_answered_as_kept(process: Process, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events_endpoint, "TAKE_S", 0.1)
    heard = Heard(slow="D0ANN")
    async with called(process, acme=heard) as slack:
        answer = await slack.say(message("hello"))

    assert answer.status_code == 503
    assert heard.texts == []


async def test_while_redis_is_away_slack_is_asked_to_come_again(process: Process) -> None:
    heard = Heard(away=1)
    said = message("hello")
    async with called(process, acme=heard) as slack:
        first = await slack.say(said)
        retry = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_error"}
        second = await slack.say(said, **retry)

    assert (first.status_code, first.headers["Retry-After"], second.status_code) == (503, "5", 200)
    assert heard.texts == ["hello"]


@each_row(
    ("more", "why"),
    [
        ({"secret": "another"}, "signing secret"),
        ({"off_s": -301.0}, "clock"),
        ({"off_s": 302.0}, "clock"),
        ({"X-Slack-Signature": "v0=" + "0" * 64}, "signing secret"),
        ({"X-Slack-Signature": "v0="}, "signing secret"),
        ({"X-Slack-Signature": b"v0=\xe9"}, "signing secret"),
        ({"X-Slack-Request-Timestamp": "yesterday"}, "signing secret"),
        ({"X-Slack-Request-Timestamp": "9" * 5000}, "signing secret"),
    ],
)
async def test_what_slack_did_not_sign_is_refused(process: Process, more: dict[str, Any], why: str) -> None:
    heard = Heard()
    async with called(process, acme=heard) as slack:
        answer = await slack.say(message("psst"), **more)

    assert answer.status_code == 403
    assert why in answer.text
    assert heard.texts == []


@pytest.mark.parametrize("off_s", [-298.0, 298.0])
async def test_a_clock_may_be_some_minutes_off(process: Process, off_s: float) -> None:
    heard = Heard()
    async with called(process, acme=heard) as slack:
        assert (await slack.say(message("hello"), off_s=off_s)).status_code == 200

    assert heard.texts == ["hello"]


async def test_a_signature_is_of_one_body(process: Process) -> None:
    heard = Heard()
    async with called(process, acme=heard) as slack:
        stamped = str(int(process.clock.now().timestamp()))
        signed = signature(json.dumps(message("this")).encode(), stamped)
        headers = {"X-Slack-Request-Timestamp": stamped, "X-Slack-Signature": signed}
        answer = await slack.send(json.dumps(message("that")).encode(), headers)

    assert answer.status_code == 403
    assert heard.texts == []


@pytest.mark.parametrize("left_out", ["X-Slack-Request-Timestamp", "X-Slack-Signature"])
async def test_what_is_not_signed_is_refused(process: Process, left_out: str) -> None:
    heard = Heard()
    body = json.dumps(message("psst")).encode()
    async with called(process, acme=heard) as slack:
        stamped = str(int(process.clock.now().timestamp()))
        headers = {"X-Slack-Request-Timestamp": stamped, "X-Slack-Signature": signature(body, stamped)}
        answer = await slack.send(body, {name: value for name, value in headers.items() if name != left_out})

    assert answer.status_code == 401
    assert heard.texts == []


async def test_what_is_replayed_is_the_same_message(process: Process) -> None:
    """Within the five minutes of its signature; whoever keeps it knows repetitions by ``seen_as``."""
    heard = Heard()
    said = message("once")
    async with called(process, acme=heard) as slack:
        assert [(await slack.say(said)).status_code for _ in range(2)] == [200, 200]

    assert len({arrival.seen_as for arrival in heard.arrivals}) == 1


async def test_slack_is_shown_that_the_address_is_ours(process: Process) -> None:
    asked = {"type": "url_verification", "challenge": "3eZbrw1aB10FEM", "token": "x"}
    async with called(process, acme=Heard()) as slack:
        answer = await slack.say(asked)
        unsigned = await slack.send(json.dumps(asked).encode(), {})

    assert (answer.status_code, answer.text) == (200, "3eZbrw1aB10FEM")
    assert unsigned.status_code == 401


async def test_a_slash_command_comes_as_a_form(process: Process) -> None:
    heard = Heard()
    async with called(process, acme=heard) as slack:
        answer = await slack.bring(urlencode(command("status")).encode(), kind=f"{FORM}; charset=utf-8")

    assert (answer.status_code, answer.text) == (200, "")
    assert heard.texts == ["/status"]


@each_row(
    "body",
    [
        urlencode({"payload": json.dumps({"type": "block_actions", "team": {"id": "T0ACME"}})}).encode(),
        urlencode({"payload": "{"}).encode(),
        b"ssl_check=1&token=x",
        b"%ff=%ff&%",
        b"",
        b"&".join(b"a%d=1" % number for number in range(1000)),
    ],
)
async def test_forms_that_say_nothing_to_a_bot_are_answered_and_passed_over(process: Process, body: bytes) -> None:
    heard = Heard()
    async with called(process, acme=heard) as slack:
        answer = await slack.bring(body, kind=FORM)

    assert answer.status_code == 200
    assert heard.texts == []


@each_row("body", [b"", b"{", b"null", b"[]", b"\xff", b'{"type":7}', b"[" * 100_000])
async def test_garbage_that_is_signed_is_answered_and_passed_over(process: Process, body: bytes) -> None:
    heard = Heard()
    async with called(process, acme=heard) as slack:
        answer = await slack.bring(body)
        assert (await slack.say(message("still here"))).status_code == 200

    assert answer.status_code == (403 if body == b"\xff" else 200)
    assert heard.texts == ["still here"]


async def test_a_body_too_large_is_not_read(process: Process) -> None:
    async with called(process, acme=Heard()) as slack:
        answer = await slack.bring(b"x" * (events_endpoint.EVENT_MAX_BYTES + 1))

    assert answer.status_code == 413


async def test_only_the_configured_address_is_served(process: Process) -> None:
    async with called(process, acme=Heard()) as slack:
        stamped = str(int(process.clock.now().timestamp()))
        headers = {"X-Slack-Request-Timestamp": stamped, "X-Slack-Signature": signature(b"{}", stamped)}
        elsewhere = await slack.send(b"{}", headers, url=slack.url + "/more")

    assert elsewhere.status_code == 404


async def test_an_app_hears_of_all_its_workspaces_at_one_address(process: Process) -> None:
    acme, beta = Heard(), Heard()
    async with called(process, acme=acme, beta=beta) as slack:
        for team in ("T0BETA", "T0ACME", "T0OTHER"):
            with anyio.fail_after(10):
                # Until all workspaces are known, Slack is asked to come again.
                while (answer := await slack.say(message(team, team=team))).status_code == 503:  # noqa: ASYNC110 - it is asked by calling
                    await anyio.sleep(0.01)
            assert answer.status_code == 200

    assert (acme.texts, beta.texts) == (["T0ACME"], ["T0BETA"])


async def test_that_slack_leaves_out_events_is_said_aloud(process: Process) -> None:
    with capture_logs() as logs:
        async with called(process, acme=Heard()) as slack:
            answer = await slack.say({"type": "app_rate_limited", "team_id": "T0ACME", "minute_rate_limited": 1})

    assert answer.status_code == 200
    assert "event.limited" in [each["event"] for each in logs if each["log_level"] == "error"]


async def test_a_port_that_is_taken_is_said(process: Process) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = int(taken.getsockname()[1])
        async with slack_wire() as wire:
            with pytest.raises(ExceptionGroup) as raised:
                await hear_one(replica(process, acme=by_http(wire, "acme", port)), "acme", Heard())

    assert raised.group_contains(ConfigError, match="in use")


@pytest.mark.parametrize("under_way", [False, True])
async def test_a_stop_waits_long_for_nobody(process: Process, monkeypatch: pytest.MonkeyPatch, under_way: bool) -> None:
    """Also in the middle of keeping something, which Slack is asked to say again."""
    for module, name in (
        (events_endpoint, "TAKE_S"),
        (http_server, "SHUTDOWN_S"),
        (sys.modules["channels.http.http_server"], "SHUTDOWN_S"),
    ):
        monkeypatch.setattr(module, name, 2 * HANG_S)
    heard = Heard(slow="D0ANN")
    statuses: list[int] = []
    async with called(process, acme=heard) as slack, anyio.create_task_group() as tg:

        async def bring() -> None:
            statuses.append((await slack.say(message("hello"))).status_code)

        await slack.say(message("elsewhere", channel="D0BOB"))  # its connection is kept
        if under_way:
            tg.start_soon(bring)
            await heard.until_begun(2)
        with anyio.fail_after(HANG_S):
            await slack.stop()

    assert statuses == ([503] if under_way else [])
    assert heard.texts == ["elsewhere"]


async def test_no_secret_is_logged(process: Process) -> None:
    with capture_logs() as logs:
        async with called(process, acme=Heard()) as slack:
            await slack.say(message("a text"), secret="another")
            await slack.say(message("a text"))

    assert SECRET not in str(logs)
    assert "a text" not in str(logs)
