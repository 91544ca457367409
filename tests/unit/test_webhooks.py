"""Addresses that platforms call: near misses of a secret, a signature, its time and the path bring nothing."""

import hashlib
import hmac
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from channels.slack.events_endpoint import OLD_S, EventsEndpoint
from channels.telegram.webhook import HEADER, UPDATE_MAX_BYTES, Webhook, secret_of
from daemon.config import Secret, SlackConfig, SlackEventsConfig, TelegramConfig, WebhookConfig
from daemon.testing import ManualClock
from tests.tables import each_row

SECRET = "A-Secret_of-32-signs-0123456789z"
BODY = b'{"type": "event_callback"}'
PATHS = ("/hook/", "/hook/x", "/hooks", "/Hook", "/", "/x/hook", "//hook", "/hoo")


class Taken:
    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    async def take(self, *brought: Any) -> bool:
        self.bodies.append(brought[-1])
        return True


@pytest.fixture
def taken() -> Taken:
    return Taken()


@pytest.fixture
async def telegram(taken: Taken) -> AsyncIterator[httpx2.AsyncClient]:
    webhook = WebhookConfig(url="https://pond.example/hook", secret=Secret(SECRET))
    config = TelegramConfig(token=Secret("1:a"), webhook=webhook)
    unused: Any = None
    inlet: Any = taken
    app = Webhook(unused, "tele", config, unused).application(inlet)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://hook") as client:
        yield client


@pytest.fixture
async def slack(taken: Taken, clock: ManualClock) -> AsyncIterator[httpx2.AsyncClient]:
    events = SlackEventsConfig(url="https://pond.example/hook", port=1)
    config = SlackConfig(bot_token=Secret("xoxb-1"), signing_secret=Secret(SECRET), events=events)
    app: Any = taken
    made = EventsEndpoint("slack", config, app, clock=clock).application()
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=made), base_url="http://hook") as client:
        yield client


def signed(
    clock: ManualClock, *, off_s: float = 0, body: bytes = BODY, stamp: str = "", **changed: str
) -> dict[str, str]:
    time = stamp or str(int(clock.now().timestamp() + off_s))
    digest = hmac.new(SECRET.encode(), f"v0:{time}:".encode() + body, hashlib.sha256).hexdigest()
    headers = {"X-Slack-Request-Timestamp": time, "X-Slack-Signature": f"v0={digest}"}
    return {**headers, **{name.replace("_", "-"): value for name, value in changed.items()}}


async def test_the_secret_brings_an_update(telegram: httpx2.AsyncClient, taken: Taken) -> None:
    assert (await telegram.post("/hook", content=BODY, headers={HEADER: SECRET})).status_code == 200
    assert taken.bodies == [BODY]


@each_row(
    "given",
    [
        *(b"", SECRET[:-1].encode(), SECRET[1:].encode(), f"{SECRET}x".encode(), f"x{SECRET}".encode()),
        *(SECRET.lower().encode(), SECRET.upper().encode(), SECRET[0].encode(), SECRET[-1].encode()),
        *(f"{SECRET}\xe9".encode("latin-1"), f"{SECRET}\xe9".encode(), b"\xff", f"Bearer {SECRET}".encode()),
    ],
)
async def test_what_is_nearly_the_secret_brings_nothing(telegram: httpx2.AsyncClient, taken: Taken, given: bytes):
    refused = await telegram.post("/hook", content=BODY, headers={HEADER: given})

    assert refused.status_code == 403
    assert (await telegram.post("/hook", content=BODY)).status_code == 403
    assert not taken.bodies


async def test_a_webhook_without_a_secret_has_one_of_its_token() -> None:
    config = TelegramConfig(token=Secret("1:a"), webhook=WebhookConfig(url="https://pond.example/hook"))
    other = TelegramConfig(token=Secret("1:b"), webhook=WebhookConfig(url="https://pond.example/hook"))

    assert len(secret_of(config)) == 64
    assert secret_of(config) != secret_of(other)
    assert "1:a" not in secret_of(config)


@each_row("path", PATHS)
async def test_a_path_that_nearly_is_the_configured_one_is_not_served(
    telegram: httpx2.AsyncClient, slack: httpx2.AsyncClient, clock: ManualClock, taken: Taken, path: str
) -> None:
    address = f"http://hook{path}"

    assert (await telegram.post(address, content=BODY, headers={HEADER: SECRET})).status_code == 404
    assert (await slack.post(address, content=BODY, headers=signed(clock))).status_code == 404
    assert not taken.bodies


async def test_an_update_that_is_too_large_is_not_read(telegram: httpx2.AsyncClient, taken: Taken) -> None:
    large = await telegram.post("/hook", content=b" " * (UPDATE_MAX_BYTES + 1), headers={HEADER: SECRET})
    largest = await telegram.post("/hook", content=b" " * UPDATE_MAX_BYTES, headers={HEADER: SECRET})

    assert (large.status_code, largest.status_code) == (413, 200)
    assert [len(body) for body in taken.bodies] == [UPDATE_MAX_BYTES]


@each_row("off_s", [0, OLD_S, -OLD_S])
async def test_a_signature_of_these_minutes_is_believed(slack: httpx2.AsyncClient, clock: ManualClock, off_s: float):
    assert (await slack.post("/hook", content=BODY, headers=signed(clock, off_s=off_s))).status_code == 200


@each_row("off_s", [OLD_S + 1, -OLD_S - 1, 86_400, -86_400])
async def test_a_signature_of_another_time_is_not_believed(
    slack: httpx2.AsyncClient, clock: ManualClock, taken: Taken, off_s: float
) -> None:
    refused = await slack.post("/hook", content=BODY, headers=signed(clock, off_s=off_s))

    assert refused.status_code == 403
    assert "differs from this machine's clock" in refused.text  # the library refuses it as well, and does not say why
    assert not taken.bodies


async def test_what_nearly_is_a_signature_is_not_believed(slack: httpx2.AsyncClient, clock: ManualClock, taken: Taken):
    right = signed(clock)["X-Slack-Signature"]
    signatures = ["", "v0=", right[:-1], f"{right}0", right[3:], right.upper(), f"v1={right[3:]}", f" {right[:-1]}x"]
    calls = [signed(clock, X_Slack_Signature=each) for each in signatures]
    calls += [signed(clock, stamp=stamp) for stamp in ("x", "1e9", "-1", "0x10", "1.5", "nan", "inf", "9" * 400)]
    now = int(clock.now().timestamp())
    calls += [signed(clock, X_Slack_Request_Timestamp=str(now + 1)), signed(clock, body=BODY + b" ")]
    calls += [{name: value} for name, value in signed(clock).items()]

    answers = [(await slack.post("/hook", content=BODY, headers=headers)).status_code for headers in calls]

    assert set(answers) <= {401, 403}
    assert not taken.bodies


async def test_only_a_question_of_slacks_is_given_back(slack: httpx2.AsyncClient, clock: ManualClock) -> None:
    body = b'{"type": "event_callback", "challenge": "say this"}'
    answer = await slack.post("/hook", content=body, headers=signed(clock, body=body))

    assert (answer.status_code, answer.text) == (200, "")
