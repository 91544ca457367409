"""What answers of platforms come to: refused, rejected or unknown, and how long a rest is asked for."""

import random

import pytest

from channels.discord import api_types as discord
from channels.outbox.retry_schedule import REST_MAX_S, rest_s
from channels.slack import api_types as slack
from channels.telegram import api_types as telegram
from daemon.config import QueueConfig
from daemon.errors import SendRefused, SendRejected, SendUnknown, brief
from tests.tables import each_row

LONG = telegram.LONG_REST_S
Outcome = type[Exception]


@each_row(
    "code, told_s, kind, rest",
    [
        *((429, told_s, SendRefused, told_s) for told_s in (None, 0.0, 7.0, 3_600.0)),
        *((code, None, SendRefused, None) for code in (500, 502, 504, 599)),
        *((code, None, SendRejected, None) for code in (400, 403, 499)),
        (401, None, telegram.Unauthorized, LONG),
        (404, None, telegram.NoMethod, LONG),
        (409, None, telegram.Conflict, None),
    ],
)
def test_what_the_bot_api_refuses(code: int, told_s: float | None, kind: Outcome, rest: float | None) -> None:
    parameters = telegram.Parameters(retry_after=told_s)
    answer = telegram.Answer(ok=False, error_code=code, description="no: Anna", parameters=parameters)

    with pytest.raises(kind) as refused:
        telegram.judged(answer, status=code, method="sendMessage", base="http://t")

    assert getattr(refused.value, "retry_after_s", None) == rest
    assert "Anna" in str(refused.value)
    assert "Anna" not in brief(refused.value)


@each_row(
    "status, kind, rest",
    [
        *((status, SendUnknown, None) for status in (200, 204, 299, 504)),
        *((status, SendRefused, None) for status in (429, 500, 502, 503, 505)),
        *((status, SendRefused, LONG) for status in (300, 400, 404)),
        (413, SendRejected, None),
    ],
)
def test_what_is_no_answer_of_the_bot_api(status: int, kind: Outcome, rest: float | None) -> None:
    with pytest.raises(kind) as refused:
        telegram.judged(None, status=status, method="sendMessage", base="http://t")

    assert getattr(refused.value, "retry_after_s", None) == rest


@each_row(
    "status, found, headers, reads, kind, rest",
    [
        (429, {"ok": False}, {"Retry-After": "7"}, False, slack.TooMany, 7.0),
        (200, {"ok": False, "error": "ratelimited"}, {"Retry-After": "30"}, False, slack.TooMany, 30.0),
        (200, {"ok": False, "error": "rate_limited"}, {}, False, slack.TooMany, None),
        *((429, {}, {"Retry-After": told}, False, slack.TooMany, None) for told in ("", "soon", "-1", "inf", "nan")),
        (500, {"ok": True}, {}, False, SendRefused, None),
        (200, {"ok": False, "error": "internal_error"}, {}, False, SendUnknown, None),
        (200, {"ok": False, "error": "internal_error"}, {}, True, SendRefused, None),
        *((status, {}, {}, False, SendUnknown, None) for status in (200, 299, 504)),
        *((status, {}, {}, True, SendRefused, LONG) for status in (200, 299)),
        *((status, {}, {}, False, SendRefused, None) for status in (500, 503)),
        (413, {}, {}, False, SendRejected, None),
        (200, {"ok": False, "error": "invalid_auth"}, {}, False, slack.Unauthorized, LONG),
        (200, {"ok": False, "error": "missing_scope"}, {}, False, slack.MissingScope, LONG),
        (200, {"ok": False, "error": "channel_not_found"}, {}, False, SendRejected, None),
        (200, {"ok": False, "error": "no: Anna"}, {}, False, SendRejected, None),
    ],
)
def test_what_the_web_api_refuses(
    status: int, found: dict[str, object], headers: dict[str, str], reads: bool, kind: Outcome, rest: float | None
) -> None:
    answer = slack.Answer(found={"response_metadata": {"messages": ["Anna"]}, **found}, status=status, headers=headers)

    with pytest.raises(kind) as refused:
        slack.judged(answer, method="chat.postMessage", base="http://s", reads=reads)

    assert getattr(refused.value, "retry_after_s", None) == rest
    assert "Anna" not in brief(refused.value)


@each_row(
    "status, content, headers, kind, rest",
    [
        (429, b'{"message": "Anna", "retry_after": 7.5, "global": false}', {}, discord.TooMany, 7.5),
        (429, b"<html>", {"retry-after": "7"}, discord.TooMany, 7.0),
        (429, b'{"message": "Anna", "retry_after": "1.25"}', {}, discord.TooMany, 1.25),
        (429, b'{"message": "Anna", "retry_after": null}', {"retry-after": "3"}, discord.TooMany, 3.0),
        *((429, raw, {}, discord.TooMany, LONG) for raw in (b'{"message": "You are blocked"}', b'{"retry_after": -1}')),
        (413, b"<html>Anna</html>", {}, discord.Rejected, None),
        *((429, b"", {"retry-after": told}, discord.TooMany, LONG) for told in ("", "soon", "-1", "inf", "nan")),
        *((status, b"", {}, SendRefused, None) for status in (500, 502, 503)),
        *((status, b"", {}, SendUnknown, None) for status in (504, 520, 524)),
        (401, b'{"message": "401: Unauthorized", "code": 0}', {}, discord.Unauthorized, LONG),
        *((status, b"<html>Anna</html>", {}, SendRefused, LONG) for status in (302, 400, 403, 404)),
        *(
            (status, b'{"message": "Anna", "code": 50001}', {}, discord.Rejected, None)
            for status in (400, 403, 404, 413)
        ),
    ],
)
def test_what_discord_refuses(
    status: int, content: bytes, headers: dict[str, str], kind: Outcome, rest: float | None
) -> None:
    with pytest.raises(kind) as refused:
        discord.judged(status, content, headers, action="POST /channels/*/messages", base="http://d")

    assert getattr(refused.value, "retry_after_s", None) == rest
    assert "Anna" not in brief(refused.value)


@each_row("told_s, rest", [(-5.0, 0.0), (0.0, 0.0), (7.0, 7.0), (REST_MAX_S, REST_MAX_S), (REST_MAX_S + 1, REST_MAX_S)])
def test_a_reply_rests_as_long_as_told_and_an_hour_at_most(told_s: float, rest: float) -> None:
    assert rest_s(3, QueueConfig(), told_s=told_s) == rest


def test_a_rest_that_is_no_number_is_none_that_was_told() -> None:
    # It would never be over, and no chat that rests behind it would have its turn.
    assert 0 < rest_s(0, QueueConfig(), told_s=float("nan")) <= QueueConfig().backoff_max_s


@each_row("failures, rest", [(0, 1.0), (1, 2.0), (4, 16.0), (5, 30.0), (100_000, 30.0)])
def test_a_reply_that_is_told_nothing_rests_twice_as_long_each_time_up_to_the_longest(
    monkeypatch: pytest.MonkeyPatch, failures: int, rest: float
) -> None:
    monkeypatch.setattr(random, "uniform", lambda _low, high: high)

    assert rest_s(failures, QueueConfig(backoff_min_s=1.0, backoff_max_s=30.0)) == rest
