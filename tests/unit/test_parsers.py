"""Whatever comes from outside is a value or the named error, never another exception, and soon.

What has such a test elsewhere is listed with these in docs/testing.md; ``make fuzz`` runs all of them for longer.
"""

import datetime as dt
import gzip
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Any

import anyio
import mcp_types
import msgspec
import pydantic
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from starlette.requests import Request

from channels.discord.gateway_connection import _payload as read_payload
from channels.slack.event_inlet import chat_of as slack_chat_of
from channels.slack.event_inlet import payload_of
from channels.slack.events_endpoint import _challenge, _of_form
from channels.slack.socket_mode import _read as read_frame
from channels.telegram.api import _read as read_answer
from channels.telegram.api_types import judged
from channels.telegram.event_inlet import chat_of, number_of
from channels.telegram.updates import Me, read
from channels.web.access.browser_headers import cookie_in, new_cookie
from channels.web.access.login import _Login
from channels.web.memory.forget_endpoints import _Body
from channels.web.memory.memory_endpoints import _Edit, _Restore, scope_of
from channels.web.message_endpoints import _decoded, _Post
from channels.web.request_params import (
    after_of,
    age_of,
    before_of,
    check_type,
    decoded,
    limit_of,
    number_in,
    session_in_path,
    session_in_query,
    turn_in,
    words_of,
)
from channels.web.system.queue_endpoints import _Chosen
from daemon.access import pairing_codes
from daemon.archive.segment import _epoch, segment_from, unpacked
from daemon.bus.dead_letters import DeadLetter
from daemon.bus.publish import argument_of, command_of
from daemon.clock import age_s
from daemon.config import Config, EmbeddingsConfig, McpConfig, RerankerConfig, Secret, load
from daemon.data.backup_records import FileTaken, Manifest, SessionTaken
from daemon.data.backup_restore import files_of, manifest_of, records_of
from daemon.errors import UNREADABLE, BadSessionKey, ChannelError, ConfigError, DataError, InvalidAnswer, ModelError
from daemon.events import Continuity, Inbound, LogEntry, Options, Reply
from daemon.memory.file_sync import is_shown
from daemon.memory.memory_file import MEMORY, SIDE_CAR, SideCar, look, read_side_car
from daemon.model.answer_parts import AnswerParts
from daemon.model.embeddings_client import EmbeddingsClient, Reranker
from daemon.model.event_stream import EventLines
from daemon.model.model_errors import Endpoint
from daemon.people import link_codes
from daemon.session.claim import continuity_from, options_from, waiting_from
from daemon.setup.foreign_data import history_entries, journal_entries, read_json5
from daemon.testing import ManualClock
from daemon.traces.trace_records import ms_of
from tests.junk import DEEP, NUMBERS, TEXTS, VALUES, junk, shaped
from workers.consolidation.summary.log_rendering import _time as time_shown
from workers.tools.mcp.tool_offer import offer_of, result_of
from workers.tools.mcp.tool_server_program import _Flood
from workers.tools.mcp.tool_server_program import _read as read_line

SOON = settings(
    max_examples=max(30, settings.default.max_examples // 4),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)

ME = Me(id=1, username="pond_bot")
CLOCK = ManualClock()
RERANKER = Reranker(RerankerConfig(model="m", base_url="http://h"), CLOCK)
EMBEDDINGS = EmbeddingsClient(EmbeddingsConfig(model="m", base_url="http://h"), CLOCK)
ASKED = Endpoint(model="m", host="h", key=Secret("a-key"))
INBOUND = (
    b'{"id":"m1","bot":"pond","session":"web:ann","chat":"ann","chat_kind":"direct","sender_id":"ann","text":"hi",'
    b'"received_at":"2026-11-20T09:00:00Z","correlation":"c"}'
)
UPDATE = (
    b'{"update_id":7,"message":{"message_id":5,"date":1,"chat":{"id":42,"type":"private"},'
    b'"from":{"id":42,"first_name":"Ann"},"text":"hi","entities":[{"type":"mention","offset":0,"length":2}]}}'
)
REACTION = (
    b'{"update_id":7,"message_reaction":{"chat":{"id":42,"type":"private"},"message_id":5,"user":{"id":42},"date":1,'
    b'"old_reaction":[],"new_reaction":[{"type":"emoji","emoji":"x"}]}}'
)
FRAME = b'{"type":"events_api","envelope_id":"e1","payload":{"event":{"type":"message","channel":"D1"}}}'
GATEWAY = b'{"op":0,"s":7,"t":"MESSAGE_CREATE","d":{"id":"5","channel_id":"6","author":{"id":"7"},"content":"hi"}}'
CHUNK = (
    b'data: {"choices":[{"delta":{"content":"hi","tool_calls":[{"index":0,"id":"a","function":{"name":"f",'
    b'"arguments":"{"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}\n\ndata: [DONE]\n\n'
)
MESSAGE = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi"}]}}'
JSON5 = b"{/* a */ agents: {'list': [1, 2,], }, // b\n}"
DEEP_JSON5 = b"//\n" + b"[" * DEEP
LISTED = b'{"first":0,"upto":2,"checksum":"ab","bytes":9,"time":"2026-11-20T09:00:00Z"}'
RECORD = b'{"type":"session","name":"web:ann","fields":{"head":"2"},"log":["{}",{"base64":"//8="}]}'


@dataclass(frozen=True)
class Parser:
    parse: Callable[[bytes], object]
    junk: st.SearchStrategy[bytes]
    errors: type[Exception] | UnionType | tuple[type[Exception], ...] = ()


def text_of(found: bytes) -> str:
    return found.decode("utf-8", "replace")


def letter(kind: Any) -> Callable[[bytes], object]:
    def parse(found: bytes) -> object:
        made = DeadLetter(
            name="1-0", partition=0, stream_id="1-0", session="", id="", reason="", attempts=0, kind=kind, payload=found
        )
        return made.message, made.reply

    return parse


PARSERS: dict[str, Parser] = {
    "number of an update of Telegram's": Parser(number_of, junk(UPDATE)),
    "chat of an update of Telegram's": Parser(chat_of, junk(UPDATE)),
    "update of Telegram's": Parser(lambda found: read(found, ME), junk(UPDATE), UNREADABLE),
    "reaction at Telegram": Parser(lambda found: read(found, ME), junk(REACTION), UNREADABLE),
    "answer of Telegram's": Parser(
        lambda found: judged(read_answer(found), status=200, method="getMe", base="http://h"),
        junk(
            b'{"ok":true,"result":{}}', names=("ok", "result", "error_code", "description", "parameters", "retry_after")
        ),
        ChannelError,
    ),
    "frame of a socket of Slack's": Parser(read_frame, junk(FRAME), UNREADABLE),
    "body of an event of Slack's": Parser(lambda found: slack_chat_of(payload_of(found)), junk(FRAME), UNREADABLE),
    "message of Discord's gateway": Parser(read_payload, junk(GATEWAY), UNREADABLE),
    "form of Slack's": Parser(_of_form, junk(b"command=%2Fpond&text=hi&payload=%7B%7D&a=" + b"&b=" * 200)),
    "question of Slack's": Parser(_challenge, junk(b'{"type":"url_verification","challenge":"x"}')),
    "message to the API": Parser(_decoded, junk(b'{"session":"ann","text":"hi"}', kind=_Post), HTTPException),
    "waiting message": Parser(lambda found: waiting_from([b"1-0", found]), junk(INBOUND, kind=Inbound)),
    "options of a session": Parser(options_from, junk(b'{"model":"x"}', kind=Options)),
    "continuity of a session": Parser(continuity_from, junk(b'{"text":"x"}', kind=Continuity)),
    "dead message": Parser(letter("message"), junk(INBOUND, kind=Inbound)),
    "dead reply": Parser(letter("reply"), junk(b'{"id":"r","session":"web:ann","turn":1,"text":"x"}', kind=Reply)),
    "segment of a list": Parser(lambda found: segment_from(found, "web:ann"), junk(LISTED), UNREADABLE),
    "time of an archived message": Parser(_epoch, junk(b'{"time":"2026-11-20T09:00:00Z"}', kind=LogEntry)),
    "settings of an OpenClaw": Parser(
        lambda found: read_json5(found.decode("utf-8", "replace")), junk(JSON5), ValueError
    ),
    "journal of a nanobot": Parser(
        lambda found: [*journal_entries(text_of(found))], junk(b'{"content":"x","timestamp":"2026"}')
    ),
    "history of a nanobot": Parser(
        lambda found: [*history_entries(text_of(found))], junk(b"[2026-11-20 09:00] x\n\n[2026-")
    ),
    "file of the archive": Parser(lambda found: unpacked(found, 100), junk(gzip.compress(b"{}\n" * 9))),
}


@pytest.mark.parametrize("name", PARSERS)
@SOON
@given(data=st.data())
def test_any_bytes_are_read_or_refused(name: str, data: st.DataObject) -> None:
    parser = PARSERS[name]
    with suppress(*([parser.errors] if isinstance(parser.errors, type) else parser.errors)):  # type: ignore[misc]
        parser.parse(data.draw(parser.junk))


def request(*, query: bytes = b"", path: bytes = b"/", body: bytes = b"", **headers: bytes) -> Request:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    named = [(name.replace("_", "-").encode(), value) for name, value in headers.items()]
    scope = {
        "type": "http", "method": "POST", "scheme": "http", "server": ("127.0.0.1", 80), "path": "/", "headers": named,
        "query_string": query, "raw_path": path,
    }  # fmt: skip
    return Request(scope, receive)


BODIES = (_Login, _Chosen, _Edit, _Restore, _Body)


@SOON
@given(st.sampled_from(BODIES), st.data())
def test_any_body_is_read_or_refused(kind: type[msgspec.Struct], data: st.DataObject) -> None:
    found = data.draw(junk(kind=kind))
    with suppress(HTTPException):
        anyio.run(lambda: decoded(request(body=found, content_type=b"application/json"), kind, "it is a form"))


QUERIES = st.one_of(
    st.binary(max_size=60),
    st.builds(
        lambda name, value: f"{name}={value}".encode("utf-8", "replace"),
        st.sampled_from(["session", "after", "limit", "before", "age", "q", "%73ession"]),
        st.one_of(TEXTS, NUMBERS, st.just("%ff%"), st.just("٣"), st.just("9" * 5_000)),
    ),
)


@SOON
@given(QUERIES)
def test_any_query_is_read_or_refused(query: bytes) -> None:
    asked = request(query=query)
    for read_one in (limit_of, before_of, age_of, words_of, lambda each: session_in_query(each, "web")):
        with suppress(HTTPException, BadSessionKey):
            read_one(asked)


@SOON
@given(st.one_of(TEXTS, QUERIES.map(lambda query: query.decode("latin-1"))))
def test_any_number_session_or_scope_of_an_address_is_read_or_refused(text: str) -> None:
    for read_one in (after_of, number_in, turn_in, scope_of):
        with suppress(HTTPException):
            read_one(text)
    path = b"/api/sessions/%s/messages" % text.encode("ascii", "ignore")
    with suppress(HTTPException, BadSessionKey):
        session_in_path(request(path=path), "web")


@SOON
@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=60))
def test_any_headers_are_read(cookie: bytes, host: bytes, kind: bytes) -> None:
    asked = request(cookie=cookie, host=host, origin=host, content_type=kind)
    cookie_in(asked.scope)
    new_cookie("secret", asked.headers)
    with suppress(HTTPException):
        check_type(asked)


@SOON
@example(b'{"usage":{"\x80":3}}', [])
@given(junk(CHUNK, CHUNK.replace(b"data: ", b"").partition(b"\n")[0]), st.lists(st.integers(0, 300), max_size=5))
def test_any_stream_of_a_model_is_an_answer_or_a_models_error(found: bytes, cuts: list[int]) -> None:
    lines, parts = EventLines(), AnswerParts(ASKED)
    places = sorted({0, len(found), *(min(cut, len(found)) for cut in cuts)})
    with suppress(ModelError):
        payloads = [each for a, b in pairwise(places) for each in lines.feed(found[a:b])]
        for payload in [*payloads, *lines.end()]:
            parts.feed(payload)
        parts.rest()
        parts.finished()


SCORES = b'{"results":[{"index":1,"relevance_score":0.5},{"index":0,"score":2}]}'
VECTORS = b'{"data":[{"embedding":[0.5,1],"index":1},{"embedding":[0.25,0],"index":0}]}'


@SOON
@given(junk(VECTORS, names=("data", "embedding", "index")))
def test_any_answer_of_a_server_of_embeddings_is_vectors_or_an_error(found: bytes) -> None:
    # Both are a model's error for whoever asked (``FOREIGN``).
    with suppress(InvalidAnswer, *UNREADABLE):
        vectors = EMBEDDINGS._read(found, 2).vectors
        assert len(vectors[0]) == len(vectors[1]) > 0


@SOON
@given(junk(SCORES, names=("results", "index", "relevance_score", "score")))
def test_any_answer_of_a_reranking_server_is_scores_or_an_error(found: bytes) -> None:
    with suppress(InvalidAnswer, *UNREADABLE):
        assert len(RERANKER._read(found, 2).scores) == 2


DELTAS = shaped(
    [
        *(
            "choices", "delta", "message", "content", "tool_calls", "index", "id", "function", "name", "arguments",
            "text",
        ),
        *("finish_reason", "usage", "prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens"),
        *("error", "code", "type", "status", "metadata", "reasoning", "model"),
    ]
)  # fmt: skip


@SOON
@example([{"content": {"type": []}}])
@given(st.lists(DELTAS, min_size=1, max_size=4))
def test_any_chunks_of_a_model_are_an_answer_or_a_models_error(said: list[dict[str, Any]]) -> None:
    parts = AnswerParts(ASKED)
    with suppress(ModelError):
        for each in said:
            parts.feed(json.dumps({"choices": [each], **each}).encode())
            parts.feed(json.dumps({"choices": [{"delta": each, "finish_reason": "stop"}]}).encode())
        parts.rest()
        parts.finished()


@SOON
@given(junk(MESSAGE, names=("jsonrpc", "id", "method", "params", "result", "error", "code", "message")))
def test_any_line_of_a_tool_server_is_a_message_or_none(line: bytes) -> None:
    with suppress(_Flood):
        anyio.run(read_line, line)


CONTENT = shaped(
    [
        *("type", "text", "data", "mimeType", "uri", "name", "resource", "blob", "content", "isError"),
        *("structuredContent", "annotations", "inputSchema", "description", "title"),
    ]
)
KINDS = st.sampled_from(["text", "image", "audio", "resource", "resource_link"])
PLAIN = {"text": "", "data": "", "mimeType": "image/png"}
BLOCKS = st.builds(lambda block, kind: PLAIN | block | {"type": kind}, CONTENT, KINDS)


@SOON
@given(st.lists(BLOCKS, max_size=3), VALUES)
def test_any_result_of_a_tool_server_can_be_shown(blocks: list[dict[str, Any]], structured: Any) -> None:
    try:
        found = mcp_types.CallToolResult.model_validate({"content": blocks, "structuredContent": structured})
    except pydantic.ValidationError:
        return  # the library's own refusal, which a call turns into an error
    result_of(found)


SCHEMAS = st.dictionaries(st.sampled_from(["type", "properties", "$ref", "pattern", "required", "items"]), VALUES)
OFFERS = st.builds(lambda name, schema, more: {"name": name, "inputSchema": schema, **more}, TEXTS, SCHEMAS, CONTENT)


@SOON
@given(st.lists(OFFERS, max_size=3))
def test_any_offer_of_a_tool_server_is_tools_or_none(offered: list[dict[str, Any]]) -> None:
    tools = list[mcp_types.Tool]()
    for each in offered:
        with suppress(pydantic.ValidationError):
            tools.append(mcp_types.Tool.model_validate(each))

    async def call(*_: object) -> Any:
        raise AssertionError("tools cannot be called")

    for tool in offer_of("sums", McpConfig(command="x"), tools, call).tools:
        tool.definition()


SECTIONS = [*Config.__struct_encode_fields__, "pond", "ann", "web", "model", "base_url", "api_key", "type", "token"]
EXAMPLE = b'[bots.pond.model]\nname = "x"\nbase_url = "http://h/v1"\n[channels.web]\nport = 0\n'


def toml(value: object) -> str:
    """A value as TOML has it; tables are inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return "''" if value is None else json.dumps(value)


def file_of(tables: dict[str, Any]) -> bytes:
    return "\n".join(f"{json.dumps(key)} = {toml(each)}" for key, each in tables.items()).encode()


@SOON
@given(st.one_of(junk(EXAMPLE), shaped(SECTIONS).map(file_of)))
def test_any_configuration_is_read_or_refused(tmp_path: Path, found: bytes) -> None:
    file = tmp_path / "millpond.toml"
    file.write_bytes(found)

    with suppress(ConfigError):
        load(file, environ={})


def backup(folder: Path, *, manifest: bytes, records: bytes, files: bytes) -> None:
    (folder / "backup.json").write_bytes(manifest)
    (folder / "redis.jsonl.gz").write_bytes(records)
    (folder / "files.jsonl").write_bytes(files)


@SOON
@given(
    junk(kind=Manifest),
    st.one_of(junk(gzip.compress(RECORD)), junk(RECORD, kind=SessionTaken).map(gzip.compress)),
    junk(b'{"path":"workspaces/pond/a","bytes":1,"sha256":"ab"}', kind=FileTaken),
    st.dictionaries(TEXTS, TEXTS, max_size=2),
)
def test_any_backup_is_read_or_refused(
    tmp_path: Path, manifest: bytes, records: bytes, files: bytes, digests: dict[str, str]
) -> None:
    told = Manifest(
        id="b",
        millpond="1",
        schema=1,
        partitions=1,
        prefix="mp",
        began="",
        ended="",  # type: ignore[arg-type]
        sessions=0,
        scopes=0,
        records=0,
        messages=0,
        files=0,
        file_bytes=0,
        retaken={},  # type: ignore[arg-type]
        bots=[],
        archive="",
        with_config=False,
        sha256=digests,  # type: ignore[arg-type]
    )
    for each in (manifest, msgspec.json.encode(told)):
        backup(tmp_path, manifest=each, records=records, files=files)
        with suppress(DataError):
            manifest_of(tmp_path)
    with suppress(DataError):
        list(records_of(tmp_path, told))
    with suppress(DataError):
        list(files_of(tmp_path))


@SOON
@given(junk(b'{"version":3,"sizes":{"HISTORY.md":9},"history":{"count":1,"last":"ab"}}', kind=SideCar))
def test_any_side_car_is_one_or_says_nothing(tmp_path: Path, found: bytes) -> None:

    (tmp_path / SIDE_CAR).write_bytes(found)
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        assert isinstance(read_side_car(folder), SideCar)
    finally:
        os.close(folder)


@SOON
@given(junk(b"# Memory\r\n\r\n- \xe2\x80\xa8 Ann\n"))
def test_any_edit_of_a_memory_is_read_or_told(tmp_path: Path, found: bytes) -> None:
    (tmp_path / MEMORY).write_bytes(found)
    os.utime(tmp_path / MEMORY, (0, 0))  # what was just written is waited for
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        look(folder, clean=None, written="")
    finally:
        os.close(folder)


DATES = st.one_of(
    TEXTS,
    st.datetimes(timezones=st.one_of(st.none(), st.timezones(no_cache=False))).map(dt.datetime.isoformat),
    st.dates().map(dt.date.isoformat),
    st.sampled_from(["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-W47-5", "20261120T090000Z"]),
)


@SOON
@given(DATES)
def test_any_time_is_read_or_nothing(text: str) -> None:
    assert age_s(text, CLOCK) >= 0
    ms_of(text)
    time_shown(text, dt.timezone(dt.timedelta(hours=14)))
    time_shown(text, dt.timezone(-dt.timedelta(hours=12)))
    is_shown(text)
    assert isinstance(_epoch(json.dumps({"time": text}).encode()), int)


@SOON
@given(st.text(max_size=40))
def test_any_text_is_a_command_or_words(text: str) -> None:
    command_of(text)
    argument_of(text)
    assert link_codes.plain(text)
    assert pairing_codes._plain(text)
