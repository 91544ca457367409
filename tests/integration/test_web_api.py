"""The web channel's API, over real sockets and a real embedded Redis."""

import json
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.http import FIRST_PORT, listen, server_socket
from channels.live_display.draft_message import TextPreview
from channels.web import event_streams
from channels.web.request_guard import host_in
from channels.web.request_params import session_of
from channels.web.service import serve
from daemon.archive import Archive, Segment
from daemon.bus import notify, show_live
from daemon.config import Config, QueueConfig, Secret, WebConfig
from daemon.errors import BadSessionKey, ConfigError
from daemon.events import Live, LogEntry, Notice, ToolEvent
from daemon.process import Process
from daemon.run import open_process
from daemon.server import Address
from daemon.server.server_files import ServerFiles, read_state
from daemon.session import Claim, Commit, Sessions
from daemon.sessionkey import SessionKey, encode_part
from tests.api_token import header_of
from tests.conftest import shut_down
from tests.limits import HANG_S
from tests.places import TEMPORARY
from tests.tables import each_row
from tests.weblab import addresses_in, client_of

SMALL = QueueConfig(message_max_bytes=1_000, waiting_max=3)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop for the module, which shares a process and its web channel."""
    return "asyncio"


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """A data directory with a runtime directory of its own; its server is gone after the last test."""
    folder = Path(tempfile.mkdtemp(prefix="mp-", dir=TEMPORARY))
    (folder / "run").mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder / "run"))
        yield folder / "data"
        layout = ServerFiles(folder / "data")
        state = read_state(layout)
        assert state is not None
        shut_down(Address(Path(state.socket), state.port, Secret(state.password), state.pid), layout)
    shutil.rmtree(folder)


@dataclass
class Web:
    process: Process
    address: str
    client: httpx2.AsyncClient

    async def post(self, **message: Any) -> httpx2.Response:
        return await self.client.post("/api/messages", json=message)

    async def messages(self, session: str, **query: int) -> list[dict[str, Any]]:
        response = await self.client.get(f"/api/sessions/{session}/messages", params=query)
        assert response.status_code == 200, response.text
        found: list[dict[str, Any]] = response.json()["messages"]
        return found


@asynccontextmanager
async def serving(
    data_dir: Path, channel: WebConfig | None = None, queue: QueueConfig | None = None, **headers: str
) -> AsyncIterator[Web]:
    channels = {"web": channel or WebConfig(port=0), "other": WebConfig(port=0, enabled=False)}
    config = Config(data_dir=str(data_dir), channels=channels, queue=queue or QueueConfig())
    said: list[str] = []
    async with open_process(config, data_dir, announce=said.append) as process, anyio.create_task_group() as tg:
        await tg.start(serve, process)
        process.started.set()
        [address] = addresses_in(said)
        async with client_of(address, **(header_of(data_dir) | headers)) as client:
            yield Web(process, address, client)
        process.stopping.set()


@pytest.fixture(scope="module")
async def web(data_dir: Path) -> AsyncIterator[Web]:
    async with serving(data_dir) as web:
        yield web


def entry(turn: int, role: str, content: str, **more: Any) -> LogEntry:
    wire = msgspec.json.encode({"role": role, "content": content})
    return LogEntry(time=f"2026-11-20T09:00:{turn:02}.000Z", turn=turn, tokens=1, wire=msgspec.Raw(wire), **more)


async def claim_of(process: Process, session: str) -> Claim:
    claim = await Sessions(process.bus, process.config.queue, worker="test").claim(session)
    assert claim is not None
    return claim


async def commit(process: Process, claim: Claim, text: str) -> None:
    turn = claim.begun.head
    said = [each.inbound for each in claim.begun.waiting if each.inbound is not None]
    entries = [entry(turn, "user", each.text, id=each.id, sender=each.sender_id) for each in said]
    entries.append(entry(turn, "assistant", text, answers=tuple(each.id for each in said)))
    done = Commit(
        entries=tuple(entries), tokens=len(entries), answered=tuple(each.stream_id for each in claim.begun.waiting)
    )
    sessions = Sessions(process.bus, process.config.queue, worker="test")
    await sessions.commit(claim, done, step=0, go_on=False)


async def answer(web: Web, session: str, text: str) -> None:
    await commit(web.process, await claim_of(web.process, session), text)


def error_of(response: httpx2.Response, status: int) -> str:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    error = response.json()["error"]
    assert set(error) == {"code", "message"} and len(error["message"]) > 10
    code: str = error["code"]
    return code


async def test_a_message_is_accepted_under_its_full_session_key_and_its_id_or_a_new_one(web: Web) -> None:
    first = await web.post(session="anna", text="Hello", id="a1")
    again = await web.post(session="web:anna", text="Hello", id="a1")

    assert first.status_code == again.status_code == 202
    assert first.json() == {"id": "a1", "session": "web:anna", "status": "accepted"}
    assert again.json() == {"id": "a1", "session": "web:anna", "status": "duplicate"}
    one, other = [(await web.post(session="no-id", text="same")).json() for _ in range(2)]
    assert one["status"] == other["status"] == "accepted"
    assert one["id"] and one["id"] != other["id"]


async def test_who_writes_is_the_session_unless_a_user_is_named(web: Web) -> None:
    await web.post(session="小明", text="x")
    await web.post(session="named", text="x", user="bob")

    unnamed = await claim_of(web.process, f"web:{encode_part('小明')}")
    named = await claim_of(web.process, "web:named")

    assert unnamed.begun.scope == f"pond:person:web:{encode_part('小明')}"
    assert named.begun.scope == "pond:person:web:bob"
    assert named.begun.waiting[0].inbound is not None
    assert named.begun.waiting[0].inbound.sender_id == "bob"


async def test_stop_is_a_command(web: Web) -> None:
    await web.post(session="stopped", text=" /Stop ")

    claim = await claim_of(web.process, "web:stopped")

    assert claim.begun.stop_upto


async def test_a_nul_in_a_text_is_a_character(web: Web) -> None:
    assert (await web.post(session="nul", text="a\0b")).status_code == 202

    await answer(web, "web:nul", "c\0d")

    assert [each["content"] for each in await web.messages("nul")] == ["a\0b", "c\0d"]


@each_row(
    ("body", "code"),
    [
        (b"", "bad_request"),
        (b"{", "bad_request"),
        (b"[]", "bad_request"),
        (b'{"session": "a", "text": "\xff"}', "bad_request"),
        (b'{"session": "a", "text": "\\ud800"}', "bad_request"),
        (b'{"session": "a", "text": "x", "id": "\\udc00 and more"}', "bad_request"),
        (b'{"session": "a", "text": 1}', "bad_request"),
        (b'{"session": "a", "text": null}', "bad_request"),
        (b'{"session": "a"}', "bad_request"),
        (b'{"text": "a"}', "bad_request"),
        (b'{"session": "a", "text": "x", "colour": "red"}', "bad_request"),
        (b'{"session": "a", "text": "x", "id": ""}', "bad_request"),
        (b'{"session": "a", "text": "x", "user": ""}', "bad_request"),
        (b'{"session": "a", "text": ' + b"[" * 60_000, "bad_request"),
        (b'{"session": "a", "text": "x", "id": "' + b"i" * 257 + b'"}', "bad_message"),
        (b'{"session": "a", "text": ""}', "bad_message"),
        (b'{"session": "a", "text": " \\n "}', "bad_message"),
        (b'{"session": "", "text": "x"}', "bad_session"),
        (b'{"session": "a\\u0000", "text": "x"}', "bad_session"),
        (b'{"session": "web:", "text": "x"}', "bad_session"),
        (b'{"session": "web:a:b:c", "text": "x"}', "bad_session"),
        (b'{"session": "web:100%", "text": "x"}', "bad_session"),
        (b'{"session": "' + b"a" * 600 + b'", "text": "x"}', "bad_session"),
    ],
)
async def test_what_is_no_message_is_refused_with_a_reason(web: Web, body: bytes, code: str) -> None:
    response = await web.client.post("/api/messages", content=body, headers={"Content-Type": "application/json"})

    assert error_of(response, 400) == code


async def test_another_channels_session_is_not_written_to(web: Web) -> None:
    assert error_of(await web.post(session="terminal:anna", text="x"), 403) == "foreign_session"


@each_row("kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"])
async def test_only_json_is_taken(web: Web, kind: str) -> None:
    body = b'{"session": "a", "text": "x"}'
    named = {"Content-Type": 'Application/JSON; charset="UTF-8"'}

    response = await web.client.post("/api/messages", content=body, headers={"Content-Type": kind} if kind else {})

    assert error_of(response, 415) == "not_json"
    assert (await web.client.post("/api/messages", content=body, headers=named)).status_code == 202


async def test_a_text_may_be_as_long_as_the_limit_however_it_is_escaped(data_dir: Path) -> None:
    async with serving(data_dir, queue=SMALL) as web:
        escaped = b'{"session": "long", "text": "' + b"\\u0041" * 1_000 + b'"}'
        headers = {"Content-Type": "application/json"}

        fits = await web.client.post("/api/messages", content=escaped, headers=headers)
        too_long = await web.post(session="long", text="é" * 501)

        assert fits.status_code == 202
        assert error_of(too_long, 413) == "message_too_large"


async def test_a_body_above_the_bound_is_refused_before_it_is_read(data_dir: Path) -> None:
    async with serving(data_dir, queue=SMALL) as web:
        sent = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal sent
            for _ in range(64):
                sent += 65_536
                yield b" " * 65_536

        headers = {"Content-Type": "application/json"}
        in_pieces = await web.client.post("/api/messages", content=endless(), headers=headers)
        announced = await web.client.post("/api/messages", content=b" " * 1_000_000, headers=headers)

        assert error_of(in_pieces, 413) == "message_too_large"
        assert error_of(announced, 413) == "message_too_large"
        assert (await web.post(session="after", text="x")).status_code == 202


async def test_a_body_that_does_not_come_is_not_waited_for(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(server_socket.read_body.__kwdefaults__, "within_s", 0.05)

    answer = await sent(web, "POST /api/messages HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9", "{")

    assert answer.startswith(b"HTTP/1.1 408") and b"too_slow" in answer


async def test_a_full_session_refuses_and_says_when_to_come_back(data_dir: Path) -> None:
    async with serving(data_dir, queue=SMALL) as web:
        for _ in range(3):
            assert (await web.post(session="full", text="x")).status_code == 202

        refused = await web.post(session="full", text="x")

        assert error_of(refused, 429) == "session_full"
        assert int(refused.headers["retry-after"]) > 0


async def test_what_is_not_there_is_said_in_json(web: Web) -> None:
    assert error_of(await web.client.get("/nothing"), 404) == "not_found"
    assert error_of(await web.client.get("/api/sessions/a/b/messages"), 404) == "not_found"
    refused = await web.client.patch("/api/messages", json={})
    assert error_of(refused, 405) == "method_not_allowed"
    assert set(refused.headers["allow"].split(", ")) == {"POST", "PUT"}


async def test_an_error_of_ours_tells_nothing_of_the_inside(web: Web) -> None:
    await web.post(session="broken", text="x")
    await answer(web, "web:broken", "y")
    await web.process.bus.call("LSET", web.process.bus.keys.log("web:broken"), 0, "no JSON: s3cret")

    refused = await web.client.get("/api/sessions/broken/messages")

    assert error_of(refused, 500) == "internal"
    assert "s3cret" not in refused.text


def token_line(web: Any) -> str:
    """The header with the token of the data directory, if there is one, as a line of a request."""
    return "".join(f"{name}: {value}\r\n" for name, value in header_of(web.process.data_dir).items())


async def sent(web: Any, head: str, body: str = "") -> bytes:
    """All that is answered to bytes, up to the end of the connection."""
    host, port = web.address.removeprefix("http://").split(":")
    async with await anyio.connect_tcp(host, int(port)) as stream:
        rest = f"Host: localhost\r\nConnection: close\r\n{token_line(web)}\r\n{body}"
        await stream.send(f"{head}\r\n{rest}".encode())
        answer = b""
        with suppress(anyio.EndOfStream):
            while True:
                answer += await stream.receive()
    return answer


async def test_what_is_no_http_is_refused_in_json(web: Web) -> None:
    answer = await sent(web, "GET /api/sessions/web:小明/messages HTTP/1.1")

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert "percent-encode" in json.loads(body)["error"]["message"]


async def test_a_turn_is_read_as_it_was_committed(web: Web) -> None:
    await web.post(session="read", text="Hello", id="m1", user="anna")
    await answer(web, "web:read", "Hi")

    user, final = await web.messages("read")

    assert user == {
        "index": 0, "role": "user", "content": "Hello", "time": "2026-11-20T09:00:00.000Z", "turn": 0,
        "tokens": 1, "id": "m1", "sender": "anna",
    }  # fmt: skip
    assert final == {
        "index": 1, "role": "assistant", "content": "Hi", "time": "2026-11-20T09:00:00.000Z", "turn": 0,
        "tokens": 1, "answers": ["m1"],
    }  # fmt: skip


async def test_tool_calls_are_shown_as_they_are_stored(web: Web) -> None:
    await web.post(session="tools", text="What time is it?")
    claim = await claim_of(web.process, "web:tools")
    call = {"id": "c1", "type": "function", "function": {"name": "time", "arguments": '{"a": 1}'}}
    wires: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "noon", "tool_call_id": "c1"},
    ]
    entries = tuple(msgspec.structs.replace(entry(0, "", ""), wire=msgspec.Raw(msgspec.json.encode(w))) for w in wires)
    done = Commit(entries=entries, tokens=2, answered=(claim.begun.waiting[0].stream_id,))
    await Sessions(web.process.bus, web.process.config.queue, worker="test").commit(claim, done, step=0)

    asked, result = await web.messages("tools")

    assert (asked["content"], asked["tool_calls"]) == (None, [call])
    assert (result["content"], result["tool_call_id"]) == ("noon", "c1")


async def test_messages_are_read_in_pages(web: Web) -> None:
    await web.post(session="pages", text="x")
    claim = await claim_of(web.process, "web:pages")
    entries = tuple(entry(0, "assistant", f"a{number}") for number in range(120))
    done = Commit(entries=entries, tokens=120, answered=(claim.begun.waiting[0].stream_id,))
    await Sessions(web.process.bus, web.process.config.queue, worker="test").commit(claim, done, step=0)

    first = await web.messages("pages")
    rest = await web.messages("pages", after=first[-1]["index"], limit=1_000)

    assert [each["index"] for each in first] == list(range(100))
    assert [each["index"] for each in rest] == list(range(100, 120))
    assert await web.messages("pages", after=119) == []
    assert await web.messages("pages", after=5_000) == await web.messages("nobody") == []


@each_row("query", ["after=x", "after=-2", "after=1.5", "limit=0", "limit=1001", "limit=-1", "limit=1_0"])
async def test_bad_numbers_are_refused(web: Web, query: str) -> None:
    assert error_of(await web.client.get(f"/api/sessions/a/messages?{query}"), 400) == "bad_request"


@each_row("name", ["小红", "a b", "100%", "100%25", "a/b", "ü+?#&", "%", "...", "a%2Fb"])
async def test_a_session_is_found_under_its_key_and_its_encoded_name(web: Web, name: str) -> None:
    posted = await web.post(session=name, text="x", id="n1")
    key = posted.json()["session"]
    await answer(web, key, name)

    for segment in (key, quote(key, safe=""), quote(name, safe="")):
        assert [each["content"] for each in await web.messages(segment)] == ["x", name], segment


@each_row("segment", ["web:a%zz", "a%zz", "%FF", "web:a:b:c:d", "web:"])
async def test_a_bad_session_in_an_address_is_refused(web: Web, segment: str) -> None:
    got = await sent(web, f"GET /api/sessions/{segment}/messages HTTP/1.1")

    assert got.startswith(b"HTTP/1.1 400") and b"bad_session" in got


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40))
def test_a_session_name_survives_an_address(name: str) -> None:
    key = SessionKey(channel="web", chat=name)

    assert session_of(str(key), "web") == key
    assert session_of(quote(str(key), safe=""), "web") == key
    if ":" not in name:
        assert session_of(quote(name, safe=""), "web") == key


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="/?#"), min_size=1))
def test_any_segment_is_a_session_or_refused(segment: str) -> None:
    try:
        key = session_of(segment, "web")
    except BadSessionKey:
        return
    assert SessionKey.parse(str(key)) == key


async def test_sessions_are_listed_newest_first(web: Web) -> None:
    bus = web.process.bus
    for at, name in enumerate(("list-a", "list-b")):
        await web.post(session=name, text="x")
        await answer(web, f"web:{name}", "y")
        await bus.activity.written()
        await bus.call("ZADD", bus.keys.sessions, 2**42 + at, f"web:{name}")

    listed = (await web.client.get("/api/sessions", params={"limit": 2})).json()["sessions"]

    assert [each["session"] for each in listed] == ["web:list-b", "web:list-a"]
    assert {key: listed[0][key] for key in ("head", "cursor", "waiting")} == {"head": 2, "cursor": 0, "waiting": 0}
    assert listed[0]["last_activity"].endswith("Z")
    assert error_of(await web.client.get("/api/sessions?limit=x"), 400) == "bad_request"


Event = tuple[str, str, Any]  # name, id and data


@asynccontextmanager
async def watching(web: Web, session: str, *, last: str = "", after: str = "") -> AsyncIterator[AsyncIterator[Event]]:
    headers = {"Last-Event-ID": last} if last else {}
    params = {"session": session, "after": after}
    async with web.client.stream("GET", "/api/events", params=params, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.aiter_lines()
        assert await anext(lines) == "retry: 1000"
        assert await anext(lines) == ""
        yield events_of(lines)


async def events_of(lines: AsyncIterator[str]) -> AsyncIterator[Event]:
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        else:
            yield fields.get("event", ""), fields.get("id", ""), json.loads(fields.get("data", "null"))
            fields = {}


async def take(events: AsyncIterator[Event], count: int) -> list[Event]:
    with anyio.fail_after(HANG_S):
        return [await anext(events) for _ in range(count)]


def live(session: str, turn: int, sequence: int, offset: int, text: str, fence: int = 1) -> Live:
    return Live(session=session, turn=turn, fence=fence, sequence=sequence, offset=offset, text=text)


async def show(web: Web, claim: Claim, sequence: int, before: str, piece: str) -> None:
    """Publish ``piece`` after the text ``before``."""
    session, turn = claim.session, claim.begun.head
    await show_live(
        web.process.bus, live(session, turn, sequence, 0, before + piece, claim.fence),
        live(session, turn, sequence, len(before), piece, claim.fence), nonce=claim.nonce,
        config=web.process.config.queue,
    )  # fmt: skip


async def tell(web: Web, session: str, notice: Notice) -> None:
    bus, text = web.process.bus, msgspec.json.encode(notice)
    await bus.call("XADD", bus.keys.notices(session), "*", "notice", text)
    await bus.call("PEXPIRE", bus.keys.notices(session), 60_000)
    await bus.call("PUBLISH", bus.keys.events(session), text)


async def test_a_viewer_gets_the_log_and_what_comes_after(web: Web) -> None:
    await web.post(session="sse", text="one", id="1")
    await answer(web, "web:sse", "eins")

    async with watching(web, "sse") as events:
        old = await take(events, 2)
        await web.post(session="sse", text="two", id="2")
        await answer(web, "web:sse", "zwei")
        new = await take(events, 2)

    assert [(name, at, data["content"]) for name, at, data in old + new] == [
        ("message", "0", "one"), ("message", "1", "eins"), ("message", "2", "two"), ("message", "3", "zwei"),
    ]  # fmt: skip
    assert [data for _, _, data in old + new] == await web.messages("sse")


async def test_a_viewer_who_comes_back_goes_on_where_it_was(web: Web) -> None:
    for number in range(3):
        await web.post(session="resume", text=f"q{number}")
        await answer(web, "web:resume", f"a{number}")

    async with watching(web, "resume", last="3") as events:
        by_header = await take(events, 2)
    async with watching(web, "resume", last="4", after="0") as events:
        header_wins = await take(events, 1)

    assert [at for _, at, _ in by_header] == ["4", "5"]
    assert [at for _, at, _ in header_wins] == ["5"]


async def test_a_position_that_the_log_has_lost_starts_at_its_end(web: Web) -> None:
    await web.post(session="lost", text="one")
    await answer(web, "web:lost", "eins")

    async with watching(web, "lost", last="500") as events:
        await web.post(session="lost", text="two")
        await answer(web, "web:lost", "zwei")
        found = await take(events, 2)

    assert [at for _, at, _ in found] == ["2", "3"]


async def test_text_is_shown_while_it_is_written_and_not_after(web: Web) -> None:
    await web.post(session="delta", text="Tell me")
    claim = await claim_of(web.process, "web:delta")
    await show(web, claim, 0, "", "Once")

    async with watching(web, "delta") as events:
        joined = await take(events, 1)
        await show(web, claim, 1, "Once", " upon")
        await show(web, claim, 1, "Once", " upon")  # heard twice
        await notify(
            web.process.bus,
            ToolEvent(session="web:delta", turn=0, fence=claim.fence, call="c", name="time", state="started"),
        )
        passing = await take(events, 2)
        await commit(web.process, claim, "Once upon a time")
        late = live("web:delta", 0, 2, 9, " a time", claim.fence)
        await web.process.bus.call("PUBLISH", web.process.bus.keys.events("web:delta"), msgspec.json.encode(late))
        await tell(web, "web:delta", Notice(kind="aside", text="done", time="2026-11-20T10:00:00.000Z"))
        committed = await take(events, 3)

    assert joined == [("delta", "", {"turn": 0, "fence": 1, "sequence": 0, "offset": 0, "text": "Once"})]
    assert passing == [
        ("delta", "", {"turn": 0, "fence": 1, "sequence": 1, "offset": 4, "text": " upon"}),
        ("tool", "", {"turn": 0, "fence": 1, "call": "c", "name": "time", "state": "started"}),
    ]
    assert [(name, at) for name, at, _ in committed] == [("message", "0"), ("message", "1"), ("notice", "")]
    assert committed[2][2]["text"] == "done"


async def test_a_viewer_who_joins_gets_the_notices_after_the_last_message(web: Web) -> None:
    await web.post(session="notice", text="one")
    await answer(web, "web:notice", "eins")
    for text, time_ in (("old", "2026-11-20T08:00:00.000Z"), ("new", "2026-11-20T10:00:00.000Z")):
        notice = Notice(kind="parked", text=text, time=time_, message_id="m")
        await tell(web, "web:notice", notice)

    async with watching(web, "notice", after="1") as events:
        [(name, at, data)] = await take(events, 1)

    assert (name, at, data["kind"], data["text"], data["message_id"]) == ("notice", "", "parked", "new", "m")


async def test_a_cursor_that_moved_is_told(web: Web) -> None:
    await web.post(session="cursor", text="one")
    await answer(web, "web:cursor", "eins")
    keys = web.process.bus.keys

    async with watching(web, "cursor", after="1") as events:
        await web.process.bus.call("HSET", keys.session("web:cursor"), "cursor", 2)
        moved = b'{"type":"moved","session":"web:cursor","head":2,"cursor":2}'
        await web.process.bus.call("PUBLISH", keys.events("web:cursor"), moved)
        found = await take(events, 1)

    assert found == [("cursor", "", {"session": "web:cursor", "head": 2, "cursor": 2})]


async def leave(web: Web, session: str, *upto: int) -> list[Segment]:
    """Have a session's messages archived, a segment up to each of these indexes, and leave Redis."""
    keys, archive, first = web.process.bus.keys, Archive(web.process.bus, web.process.data_dir), 0
    raws = await web.process.bus.call("LRANGE", keys.log(session), 0, -1)
    segments: list[Segment] = []
    for end in upto:
        segments.append(await archive.write(session, first, raws[first:end]))
        first = end
    await web.process.bus.call("LTRIM", keys.log(session), first, -1)
    await web.process.bus.call("HSET", keys.session(session), "base", first, "cursor", first, "start", first)
    return segments


async def talked(web: Web, name: str, turns: int = 4) -> None:
    for number in range(turns):
        await web.post(session=name, text=f"q{number}")
        await answer(web, f"web:{name}", f"a{number}")


async def test_pages_go_on_over_what_has_left_redis(web: Web) -> None:
    await talked(web, "paged")
    before = await web.messages("paged")
    await leave(web, "web:paged", 2, 6)

    assert await web.messages("paged") == before
    pages = [await web.messages("paged", after=after, limit=3) for after in (-1, 2, 5, 7)]
    assert [message["index"] for page in pages for message in page] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert [len(page) for page in pages] == [3, 3, 2, 0]


async def test_a_viewer_comes_back_to_an_index_that_lies_in_the_archive(web: Web) -> None:
    await talked(web, "back")
    await leave(web, "web:back", 2, 6)

    async with watching(web, "back", after="2") as events:
        found = await take(events, 5)
        await talked(web, "back", 1)
        found += await take(events, 3)

    said = [(at, data["content"]) for kind, at, data in found if kind == "message"]
    assert said == [("3", "a1"), ("4", "q2"), ("5", "a2"), ("6", "q3"), ("7", "a3"), ("8", "q0"), ("9", "a0")]


async def test_what_cannot_be_read_is_said_and_the_stream_goes_on(web: Web) -> None:
    await talked(web, "gap")
    segments = await leave(web, "web:gap", 2, 4, 6)
    segments[1].path(web.process.data_dir).write_bytes(b"spoilt")

    async with watching(web, "gap", after="0") as events:
        found = await take(events, 6)

    assert [at or kind for kind, at, _ in found] == ["1", "missing", "4", "5", "6", "7"]
    missing = found[1][2]
    assert (missing["session"], missing["first"], missing["upto"]) == ("web:gap", 2, 4)
    assert segments[1].name in missing["reason"]
    assert [message["index"] for message in await web.messages("gap")] == [0, 1]
    refused = await web.client.get("/api/sessions/gap/messages", params={"after": 1})
    assert error_of(refused, 503) == "archive"
    assert [message["index"] for message in await web.messages("gap", after=3)] == [4, 5, 6, 7]


async def test_an_archive_that_cannot_be_read_at_all_keeps_nobody_from_what_is_in_redis(web: Web) -> None:
    await talked(web, "away", 6)
    for segment in await leave(web, "web:away", 2, 4, 6, 8, 10):
        segment.path(web.process.data_dir).unlink()

    async with watching(web, "away") as events:
        found = await take(events, 5)

    ranges = [(data["first"], data["upto"]) for kind, _, data in found if kind == "missing"]
    assert ranges == [(0, 2), (2, 4), (4, 10)]
    assert [at for kind, at, _ in found if kind == "message"] == ["10", "11"]


async def test_silence_is_broken_by_comments(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "POLL_S", 0.05)
    monkeypatch.setattr(event_streams, "KEEP_ALIVE_S", 0.1)

    async with web.client.stream("GET", "/api/events?session=silent") as response:
        lines = response.aiter_lines()
        with anyio.fail_after(HANG_S):
            said = [await anext(lines) for _ in range(3)]

    assert said == ["retry: 1000", "", ": keep-alive"]


async def test_there_is_a_limit_to_viewers(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "VIEWERS_MAX", 1)

    async with watching(web, "crowded"):
        refused = await web.client.get("/api/events?session=crowded")

    assert error_of(refused, 503) == "too_many_viewers"
    assert refused.headers["retry-after"]


async def test_events_need_a_session_and_good_numbers(web: Web) -> None:
    assert error_of(await web.client.get("/api/events"), 400) == "bad_request"
    assert error_of(await web.client.get("/api/events?session=a&after=x"), 400) == "bad_request"
    assert error_of(await web.client.get("/api/events?session=web:"), 400) == "bad_session"
    assert error_of(await web.client.get("/api/events?session=%ff"), 400) == "bad_session"
    head = await web.client.head("/api/events?session=a")
    assert head.status_code == 200 and head.headers["content-type"].startswith("text/event-stream")


async def test_a_viewer_who_goes_is_forgotten(web: Web) -> None:
    async with watching(web, "gone"):
        assert "mp:events:web:gone" in web.process.listener._readers

    with anyio.fail_after(HANG_S):
        while "mp:events:web:gone" in web.process.listener._readers:  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(0.01)


def test_a_preview_shows_each_piece_of_the_newest_writer_once() -> None:
    preview = TextPreview()
    judged = [
        preview.judge(live("s", *piece), upto=0)
        for piece in [
            (0, 0, 0, "ab", 1), (0, 1, 2, "c", 1), (0, 1, 2, "c", 1),  # the last one twice
            (0, 3, 5, "x", 1),  # one is missing before it
            (0, 3, 0, "abcdex", 1),  # the whole text instead
            (0, 4, 0, "again", 1),  # the model's next answer in the same turn
            (0, 0, 0, "y", 2), (0, 5, 5, "z", 1),  # another worker takes over, the first one goes on
            (3, 0, 0, "next turn", 2),
        ]
    ]  # fmt: skip

    assert judged == ["show", "show", "old", "gap", "show", "show", "show", "old", "show"]
    assert preview.judge(live("s", 3, 1, 9, "!", 2), upto=5) == "old"


@each_row(
    ("authority", "host"),
    [
        ("localhost", "localhost"), ("LocalHost:80", "localhost"), ("127.0.0.1:8765", "127.0.0.1"),
        ("[::1]:8765", "::1"), ("[::1]", "::1"), ("", ""), ("a:b", ""), ("a:1:2", ""), ("::1", ""), ("[::1", ""),
    ],
)  # fmt: skip
def test_the_host_of_an_authority(authority: str, host: str) -> None:
    assert host_in(authority) == host


async def test_foreign_host_names_are_refused_and_ours_are_not(data_dir: Path) -> None:
    async with serving(data_dir, WebConfig(port=0, allowed_hosts=("Pond.example",))) as web:
        statuses = {
            host: (await web.client.get("/healthz", headers={"Host": host})).status_code
            for host in ("localhost", "127.0.0.1:1", "[::1]:8765", "pond.example:443", "evil.example", "127.0.0.1.evil")
        }
        refused = await web.client.get("/", headers={"Host": "evil.example"})

    assert list(statuses.values()) == [200, 200, 200, 200, 421, 421]
    assert error_of(refused, 421) == "unknown_host"


@each_row(
    ("origin", "status"),
    [
        ("http://localhost:3000", 202), ("http://127.0.0.1", 202), ("https://evil.example", 403), ("null", 403),
        ("http://[", 403),
    ],
)  # fmt: skip
async def test_a_page_of_another_site_cannot_write(web: Web, origin: str, status: int) -> None:
    body = {"session": "origin", "text": "x"}

    assert (await web.client.post("/api/messages", json=body, headers={"Origin": origin})).status_code == status


async def test_a_token_is_demanded_where_one_is_configured(data_dir: Path) -> None:
    async with serving(data_dir, WebConfig(port=0, token=Secret("s3cret"))) as web:
        for path in (
            "/api/sessions", "/api/events?session=a", "/metrics", "/api/sessions/a/messages", "/%61pi/sessions",
        ):  # fmt: skip
            refused = await web.client.get(path)
            assert error_of(refused, 401) == "unauthorized"
            assert refused.headers["www-authenticate"] == "Bearer"
        for given in ("Bearer wrong", "Basic s3cret", "s3cret", "Bearer é".encode("latin-1")):
            assert (await web.client.get("/api/sessions", headers={"Authorization": given})).status_code == 401

        right = await web.client.get("/api/sessions", headers={"Authorization": "Bearer s3cret"})
        front = await web.client.get("/")

        assert right.status_code == 200
        assert (await web.client.get("/healthz")).status_code == 200
        assert "Bearer" in front.text and "s3cret" not in front.text


async def test_answers_carry_security_headers(web: Web) -> None:
    for path in ("/", "/healthz", "/api/sessions", "/nothing"):
        headers = (await web.client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


async def test_the_front_page_tells_how_to_talk_to_it_and_metrics_show_counters_and_queues(web: Web) -> None:
    await web.post(session="metrics", text="x")

    front, text = await web.client.get("/"), (await web.client.get("/metrics")).text

    assert front.headers["content-type"].startswith("text/plain")
    assert f"{web.address}/api/messages" in front.text
    assert 'millpond_messages_total{channel="web",status="accepted"}' in text
    for gauge in ("backlog", "ready", "due", "dead", 'workers{role="web"}'):
        assert f"\nmillpond_{gauge} " in text


async def test_an_outage_is_told_and_over_when_it_is_over(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daemon.bus.connection.PATIENCE_S", 1.0)
    monkeypatch.setattr("channels.web.health_endpoints.PING_S", HANG_S)
    async with serving(data_dir) as web:
        assert (await web.client.get("/healthz")).json() == {"status": "ok"}
        assert (await web.client.get("/readyz")).json() == {"status": "ok"}
        pid = int((data_dir / "redis" / "server.pid").read_text())
        found: dict[str, httpx2.Response] = {}

        async def ask(path: str) -> None:
            found[path] = await web.client.get(path)

        os.kill(pid, signal.SIGSTOP)
        try:
            with monkeypatch.context() as hasty:
                for limit in (
                    "daemon.bus.pipeline_connection.ANSWER_TIMEOUT_S",
                    "channels.web.health_endpoints.PING_S",
                ):
                    hasty.setattr(limit, 0.1)
                async with anyio.create_task_group() as tg:
                    for path in ("/healthz", "/readyz", "/metrics", "/api/sessions"):
                        tg.start_soon(ask, path)
                    refused = await web.post(session="away", text="x", id="safe")
        finally:
            os.kill(pid, signal.SIGCONT)

        assert error_of(refused, 503) == "unavailable"
        assert int(refused.headers["retry-after"]) > 0
        assert error_of(found["/api/sessions"], 503) == "unavailable"
        for path in ("/healthz", "/readyz"):
            assert found[path].status_code == 503
            assert found[path].json()["reason"]
        assert found["/metrics"].status_code == 200
        with anyio.fail_after(HANG_S):
            while (await web.post(session="away", text="x", id="safe")).status_code != 202:
                pass  # its patience is short
            assert (await web.client.get("/healthz")).json() == {"status": "ok"}


async def test_a_viewer_outlives_a_restart_of_the_server(data_dir: Path) -> None:
    async with serving(data_dir) as web, watching(web, "restart") as events:
        os.kill(int((data_dir / "redis" / "server.pid").read_text()), signal.SIGKILL)
        assert (await web.post(session="restart", text="x")).status_code == 202
        await answer(web, "web:restart", "y")

        found = await take(events, 2)

    assert [data["content"] for _, _, data in found] == ["x", "y"]


async def test_a_cancelled_server_leaves_nothing_open(data_dir: Path) -> None:
    config, said = Config(channels={"web": WebConfig(port=0)}), list[str]()
    async with open_process(config, data_dir, announce=said.append) as process, client_of("") as client:
        async with anyio.create_task_group() as tg:
            await tg.start(serve, process)
            [address] = addresses_in(said)
            async with client.stream(
                "GET", f"{address}/api/events?session=cut", headers=header_of(data_dir)
            ) as response:
                assert response.status_code == 200
                tg.cancel_scope.cancel()
        with pytest.raises(httpx2.ConnectError):
            await client.get(f"{address}/healthz")


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request is cut off for taking long: a stop that needs this hangs."""
    monkeypatch.setattr("channels.http.http_server.SHUTDOWN_S", round(HANG_S))
    monkeypatch.setattr("channels.web.service.GRACE_S", HANG_S)


@pytest.mark.usefixtures("patient")
async def test_a_stop_ends_streams_in_order(data_dir: Path) -> None:
    with anyio.fail_after(HANG_S / 2):
        async with serving(data_dir) as web, watching(web, "stopping") as events:
            web.process.stopping.set()
            assert [event async for event in events] == []


async def test_a_stop_cuts_off_a_request_that_never_ends(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("channels.http.http_server.SHUTDOWN_S", round(HANG_S))
    monkeypatch.setattr("channels.web.service.GRACE_S", 0.0)
    with anyio.fail_after(HANG_S / 2):
        async with serving(data_dir) as web:
            host, port = web.address.removeprefix("http://").split(":")
            async with await anyio.connect_tcp(host, int(port)) as slow:
                await slow.send(b"POST /api/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
                await slow.send(f"{token_line(web)}Content-Length: 100\r\n\r\n{{".encode())  # and never the rest
                await web.client.get("/healthz")  # answered after the other was read
                web.process.stopping.set()
                answer = await slow.receive()

    assert answer.startswith(b"HTTP/1.1 503") and b"stopping" in answer


@pytest.mark.usefixtures("patient")
async def test_a_viewer_who_reads_nothing_holds_up_no_stop(data_dir: Path) -> None:
    with socket.socket() as stalled, anyio.fail_after(HANG_S / 2):
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        async with serving(data_dir) as web:
            await web.post(session="stalled", text="x" * 200_000)
            await answer(web, "web:stalled", "y" * 6_000_000)  # more than the kernel keeps
            host, port = web.address.removeprefix("http://").split(":")
            stalled.connect((host, int(port)))
            head = f"GET /api/events?session=stalled HTTP/1.1\r\nHost: localhost\r\n{token_line(web)}\r\n"
            stalled.send(head.encode())
            await web.client.get("/healthz")


async def test_without_a_port_the_next_free_one_is_taken() -> None:
    with (
        await listen("channels.web", "127.0.0.1", None) as first,
        await listen("channels.web", "127.0.0.1", None) as second,
    ):
        assert FIRST_PORT <= first.getsockname()[1] < second.getsockname()[1]


@each_row("host", ["no-such-host.invalid", "192.0.2.1"])
async def test_a_host_of_another_machine_is_an_error(host: str) -> None:
    with pytest.raises(ConfigError, match=r"channels\.web\.host"):
        await listen("channels.web", host, 0)


async def test_each_channel_has_an_address_and_sessions_of_its_own(data_dir: Path) -> None:
    config = Config(channels={"one": WebConfig(port=0), "two": WebConfig(port=0), "off": WebConfig(enabled=False)})
    said: list[str] = []
    async with open_process(config, data_dir, announce=said.append) as process, anyio.create_task_group() as tg:
        await tg.start(serve, process)
        async with client_of("", **header_of(data_dir)) as client:
            posted = [
                (await client.post(f"{address}/api/messages", json={"session": "a", "text": "x"})).json()["session"]
                for address in addresses_in(said)
            ]
        process.stopping.set()

    assert posted == ["one:a", "two:a"]


async def test_ipv6_works_where_there_is_any(data_dir: Path) -> None:
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 here")
    async with serving(data_dir, WebConfig(host="::1", port=0)) as web:
        assert web.address.startswith("http://[::1]:")
        assert (await web.client.get("/healthz")).status_code == 200
