"""The client of the Web API: every failure told apart, nothing made twice, no task left, no token where people read."""

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import aiohttp
import anyio
import pytest
from aiohttp import client_exceptions
from anyio.abc import SocketAttribute, SocketStream
from anyio.lowlevel import checkpoint
from hypothesis import example, given
from hypothesis import strategies as st

from channels.slack.api import Api, connect
from channels.slack.api_types import Answer, MissingScope, Rejected, TooMany, Unauthorized, Unreached, judged
from channels.testing.loop_clock import put_forward, put_forward_when, run_fast
from daemon.config.secret import Secret
from daemon.errors import ChannelError, SendRefused, SendRejected, SendUnknown
from daemon.proxies import http_proxy_of
from tests.fakes.slack import Call, Cut, FakeSlack, Fault, Garbled, Hang, Page, Refuse, fake_slack
from tests.limits import HANG_S
from tests.tables import each_row

TOKEN = "xoxb-1234567890-abcdefghijklmnopqrstuvwx"
SHORT_CHARS = 10  # so much of a token counts as the token


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with fake_slack(floods=False) as slack:
        slack.on_call = lambda call: put_forward() if isinstance(call.fault, Hang) else None
        yield slack


@pytest.fixture
async def api(slack: FakeSlack) -> AsyncIterator[Api]:
    async with connect(slack.base_url, Secret(slack.bot.token)) as api:
        await api.call("auth.test", timeout_s=HANG_S)
        slack.calls.clear()
        yield api


@asynccontextmanager
async def answering(answer: bytes, *, times: list[bytes] | None = None) -> AsyncIterator[str]:
    """A server that says the same to every request, and notes them; its address."""

    async def serve(stream: SocketStream) -> None:
        async with stream:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                while True:
                    request = await stream.receive()
                    if times is not None and request.startswith((b"POST", b"GET")):
                        times.append(request)
                    if not answer and request.startswith((b"POST", b"GET")):
                        put_forward()
                    await stream.send(answer)

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tg:
        tg.start_soon(listener.serve, serve)
        yield f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/api"
        tg.cancel_scope.cancel()


def http(status: int, body: bytes, kind: str = "application/json", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status} Said\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


POSTED: list[tuple[str, Fault, type[ChannelError]]] = [
    ("too many", Refuse(retry_after=3), TooMany),
    ("fails", Refuse("service_unavailable", status=503), SendRefused),
    ("may have failed", Refuse("internal_error"), SendUnknown),
    ("may have died", Refuse("fatal_error", status=500), SendUnknown),
    ("is migrating", Refuse("team_added_to_org"), SendRefused),
    ("page", Page(), SendRefused),
    ("page of a gateway that waited in vain", Page(504), SendUnknown),
    ("page that says it went well", Page(200), SendUnknown),
    ("garbled", Garbled(), SendUnknown),
    ("archived", Refuse("is_archived"), Rejected),
    ("token", Refuse("token_revoked"), Unauthorized),
    ("scope", Refuse("missing_scope", more={"needed": "chat:write"}), MissingScope),
    ("cut before", Cut(acted=False), SendUnknown),
    ("cut after", Cut(), SendUnknown),
    ("cut in the answer", Cut(half=True), SendUnknown),
    ("hangs", Hang(), SendUnknown),
]


@each_row(("fault", "error"), [each[1:] for each in POSTED])
async def test_what_became_of_a_message_is_told_apart_and_it_is_posted_once(
    slack: FakeSlack, api: Api, fault: Fault, error: type[ChannelError]
) -> None:
    ann = slack.direct(slack.person("Ann"))
    slack.calls.clear()
    slack.faults.on("chat.postMessage", fault)

    with pytest.raises(error) as failed:
        await api.call("chat.postMessage", {"channel": ann.id, "text": "high"}, timeout_s=HANG_S)

    assert len(slack.called("chat.postMessage")) == 1
    assert type(failed.value) is error
    if isinstance(failed.value, TooMany):
        assert failed.value.retry_after_s == 3.0
    if isinstance(failed.value, MissingScope):
        assert failed.value.needed == "chat:write"


@each_row("fault", [Cut(acted=False), Cut(), Cut(half=True), Hang(), Refuse("internal_error")])
async def test_what_only_reads_is_never_in_doubt_and_is_asked_once(slack: FakeSlack, api: Api, fault: Fault) -> None:
    slack.calls.clear()
    slack.faults.on("auth.test", fault)

    with pytest.raises(SendRefused):
        await api.call("auth.test", timeout_s=HANG_S)

    assert len(slack.called("auth.test")) == 1


@each_row("fault", [Cut(acted=False), Cut(), Hang()])
async def test_a_file_is_asked_for_once(slack: FakeSlack, api: Api, fault: Fault) -> None:
    """aiohttp makes a GET again when the connection that it kept is cut."""
    file = slack.file(b"high tide")
    url = str(file.said()["url_private"])
    await api.download(url, max_bytes=100, timeout_s=HANG_S)
    slack.calls.clear()
    slack.faults.on("download", fault)

    with pytest.raises(SendRefused):
        await api.download(url, max_bytes=100, timeout_s=HANG_S)

    assert len(slack.called("download")) == 1


async def test_a_server_that_is_not_there_was_sent_nothing() -> None:
    async with connect("http://127.0.0.1:9/api", Secret(TOKEN)) as api:
        with pytest.raises(Unreached):
            await api.call("chat.postMessage", timeout_s=HANG_S)


async def test_a_server_that_never_finishes_connecting_was_sent_nothing_and_that_is_known_in_time() -> None:
    """Who waits for the call has the same deadline: what comes to light with it is not known any more."""
    async with (
        answering(b"") as address,
        connect(address.replace("http", "https"), Secret(TOKEN)) as api,
        anyio.create_task_group() as tg,
    ):
        tg.start_soon(run_fast)
        with anyio.fail_after(0.9 * HANG_S), pytest.raises(Unreached):
            await api.call("chat.postMessage", timeout_s=HANG_S)
        tg.cancel_scope.cancel()


async def test_a_request_is_not_sent_on_to_another_address() -> None:
    times: list[bytes] = []
    answer = http(307, b"", more="Location: /api/elsewhere\r\n")
    async with answering(answer, times=times) as address, connect(address, Secret(TOKEN)) as api:
        with pytest.raises(SendRefused, match="base_url"):
            await api.call("chat.postMessage", {"text": "high"}, timeout_s=HANG_S)

    assert len(times) == 1


async def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("channels.slack.api.ANSWER_MAX_BYTES", 1_000)
    answer = http(200, b'{"ok": true, "text": "' + b"x" * 2_000 + b'"}')
    async with answering(answer) as address, connect(address, Secret(TOKEN)) as api:
        with pytest.raises(SendUnknown):
            await api.call("chat.postMessage", timeout_s=HANG_S)


async def test_what_is_asked_in_passing_keeps_to_a_refusal_and_messages_see_to_it_themselves(
    slack: FakeSlack, api: Api
) -> None:
    ann, bob = (slack.direct(slack.person(name)) for name in ("Ann", "Bob"))
    root = ann.say("hello").ts
    status = {"channel_id": ann.id, "thread_ts": root, "status": "is writing"}
    slack.faults.on("assistant.threads.setStatus", Refuse(retry_after=30))
    slack.faults.on("chat.postMessage", Refuse(retry_after=30))

    for _ in range(3):
        with pytest.raises(TooMany) as failed:
            await api.call("assistant.threads.setStatus", status, timeout_s=HANG_S, key=ann.id)
        assert 29 < (failed.value.retry_after_s or 0) <= 30
    with pytest.raises(TooMany):
        await api.call("chat.postMessage", {"channel": ann.id, "text": "high"}, timeout_s=HANG_S, key=ann.id)
    await api.call("chat.postMessage", {"channel": ann.id, "text": "high"}, timeout_s=HANG_S, key=ann.id)
    elsewhere = {"channel_id": bob.id, "thread_ts": bob.say("hello").ts, "status": "is writing"}
    await api.call("assistant.threads.setStatus", elsewhere, timeout_s=HANG_S, key=bob.id)

    assert len(slack.called("assistant.threads.setStatus")) == 2
    assert len(slack.called("chat.postMessage")) == 2


def test_whatever_aiohttp_raises_is_translated() -> None:
    """What ``Api`` catches; what is said of WebSocket messages does not come from requests."""
    raised = [
        getattr(client_exceptions, name) for name in client_exceptions.__all__ if not name.startswith("WSMessage")
    ]

    assert [each for each in raised if not issubclass(each, (aiohttp.ClientError, OSError, ValueError))] == []


words = st.sampled_from(["", "ok", "messages", "missing_scope", "internal_error", "ratelimited", "é\ud800"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
answers = st.dictionaries(st.sampled_from(["ok", "error", "needed", "response_metadata", "ts"]), json_values)


@given(found=answers, status=st.integers(100, 599), reads=st.booleans())
@example(found={"response_metadata": {"": None, "é\ud800": None}, "ok": False}, status=200, reads=False)
def test_any_answer_is_a_result_or_one_of_the_known_errors(found: dict[str, object], status: int, reads: bool) -> None:
    answer = Answer(found=found, status=status)
    try:
        assert judged(answer, method="chat.postMessage", base="https://slack.com/api", reads=reads) is found
        assert found["ok"] is True
    except ChannelError as error:
        assert not (reads and isinstance(error, SendUnknown))
        assert isinstance(error, SendRefused | SendRejected | SendUnknown)


@each_row(
    "url",
    [
        "https://slack.com.evil.example/f",
        "https://evil.example/files.slack.com",
        "http://files.slack.com/f",
        "file:///etc/x",
    ],
)
async def test_the_token_and_files_go_to_slack_alone(api: Api, url: str) -> None:
    with pytest.raises(SendRejected):
        await api.download(url, max_bytes=100, timeout_s=HANG_S)
    with pytest.raises(SendRejected):
        await api.upload(url, b"tide", timeout_s=HANG_S)


async def test_a_file_that_is_sent_on_to_a_page_for_people_is_none() -> None:
    answer = http(302, b"", more="Location: https://acme.slack.com/?redir=x\r\n")
    async with answering(answer) as address, connect(address, Secret(TOKEN)) as api:
        with pytest.raises(SendRejected):
            await api.download(f"{address}/f", max_bytes=100, timeout_s=HANG_S)


async def test_no_task_is_left_by_what_went_well_badly_or_not_at_all(slack: FakeSlack) -> None:
    ann = slack.direct(slack.person("Ann"))
    params = {"channel": ann.id, "text": "high" * 10_000}
    faults: list[Fault] = [Cut(acted=False), Cut(), Hang(), Page(), Refuse()]
    slack.faults.on("chat.postMessage", *faults)
    before = own_tasks()

    async with connect(slack.base_url, Secret(slack.bot.token)) as api:
        for _ in range(len(faults) + 1):
            with suppress(ChannelError):
                await api.call("chat.postMessage", params, timeout_s=HANG_S)
            assert own_tasks() == before
        slack.faults.on("chat.postMessage", Hang())
        with anyio.CancelScope() as scope:
            slack.on_call = lambda _call: scope.cancel()
            await api.call("chat.postMessage", params, timeout_s=HANG_S)
        assert own_tasks() == before

    assert own_tasks() == before


async def test_no_task_is_left_by_a_file_that_nobody_takes() -> None:
    before, writing = own_tasks(), anyio.Event()

    async def stand(stream: SocketStream) -> None:
        async with stream:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):  # the one before was given up already
                await stream.receive(1)
                writing.set()
                await anyio.sleep_forever()

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tg:
        tg.start_soon(listener.serve, stand)
        address = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        async with connect(f"{address}/api", Secret(TOKEN)) as api:
            put_forward_when(writing.is_set)
            with pytest.raises(SendRefused):
                await api.upload(f"{address}/upload", bytes(20_000_000), timeout_s=HANG_S)
            await checkpoint()
            assert own_tasks() == before
            writing = anyio.Event()
            async with anyio.create_task_group() as uploading:
                uploading.start_soon(partial(api.upload, f"{address}/upload", bytes(20_000_000), timeout_s=HANG_S))
                await writing.wait()
                under_way = own_tasks()
                uploading.cancel_scope.cancel()
            await checkpoint()
            assert own_tasks() == before != under_way
        tg.cancel_scope.cancel()


async def test_a_cancelled_call_leaves_a_client_that_works(slack: FakeSlack, api: Api) -> None:
    ann = slack.direct(slack.person("Ann"))
    slack.faults.on("chat.postMessage", Hang())
    with anyio.CancelScope() as scope:
        slack.on_call = lambda _call: scope.cancel()
        await api.call("chat.postMessage", {"channel": ann.id, "text": "one"}, timeout_s=HANG_S)

    await api.call("chat.postMessage", {"channel": ann.id, "text": "two"}, timeout_s=HANG_S)

    assert ann.texts() == ["one", "two"]


def own_tasks() -> set[str]:
    """The tasks that no task group of these tests or of the fake owns."""
    return {
        repr(task.get_coro()) for task in asyncio.all_tasks() if "aiohttp" in repr(task) or "slack_sdk" in repr(task)
    }


REPEATING = {
    "code": http(200, json.dumps({"ok": False, "error": f"bad_{TOKEN}"}).encode()),
    "messages": http(
        200, json.dumps({"ok": False, "error": "no", "response_metadata": {"messages": [f"[ERROR] {TOKEN}"]}}).encode()
    ),
    "scope": http(200, json.dumps({"ok": False, "error": "missing_scope", "needed": TOKEN}).encode()),
    "page": http(502, f"<h1>{TOKEN}</h1>".encode(), "text/html"),
    "text": http(200, TOKEN.encode(), "text/plain"),
    "list": http(200, json.dumps([TOKEN]).encode()),
    "header": http(200, b"{}", more=f"X-Token {TOKEN}\r\n"),
    "status": f"HTTP/1.1 9999 {TOKEN}\r\n\r\n".encode(),
    "redirect": http(301, b"", more=f"Location: https://{TOKEN}.example/\r\n"),
    "deep": http(200, b'{"ok":' + b"[" * 100_000),
    "nothing": b"",
}


@each_row("answer", REPEATING.values())
async def test_no_error_and_no_log_holds_the_token(
    answer: bytes, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    written = io.StringIO()
    failures: list[ChannelError] = []
    async with answering(answer) as address, connect(address, Secret(TOKEN)) as api:
        for method in ("chat.postMessage", "auth.test"):
            try:
                await api.call(method, {"text": "high"}, timeout_s=HANG_S)
            except ChannelError as error:
                failures.append(error)
        with suppress(ChannelError):
            await api.download(f"{address}/f", max_bytes=10, timeout_s=HANG_S)
        with suppress(ChannelError):
            await api.upload(f"{address}/f", b"tide", timeout_s=HANG_S)
        written.write(repr(api) + repr(api.__dict__.keys()))

    assert len(failures) == 2
    shown = [written.getvalue(), caplog.text, *capsys.readouterr()]
    shown += [f"{each} {each!r} {each.__dict__}" for failure in failures for each in chain(failure)]
    assert [text for text in shown if any(part in text for part in pieces(TOKEN))] == []


def chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def pieces(secret: str) -> list[str]:
    return [secret[at : at + SHORT_CHARS] for at in range(len(secret) - SHORT_CHARS + 1)]


async def test_a_proxy_is_for_the_world_outside(slack: FakeSlack, monkeypatch: pytest.MonkeyPatch) -> None:
    """slack-sdk takes any proxy of the environment for any address."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "inside.example")

    async with connect(slack.base_url, Secret(slack.bot.token)) as api:
        await api.call("auth.test", timeout_s=HANG_S)

    assert http_proxy_of("https://slack.com/api") == "http://127.0.0.1:9"
    assert http_proxy_of("https://inside.example/api") is None


async def test_reading_takes_a_form_and_everything_else_json(slack: FakeSlack, api: Api) -> None:
    ann = slack.direct(slack.person("Ann"))
    sent = await api.call("chat.postMessage", {"channel": ann.id, "text": "high"}, timeout_s=HANG_S)
    params = {"channel": ann.id, "ts": sent["ts"], "limit": 3, "include_all_metadata": True}

    found = await api.call("conversations.replies", params, timeout_s=HANG_S)

    assert [each["text"] for each in found["messages"]] == ["high"]
    calls: list[Call] = slack.calls
    assert [call.as_json for call in calls] == [True, False]
    assert all(call.token == slack.bot.token for call in calls)
    assert slack.oddities() == []
