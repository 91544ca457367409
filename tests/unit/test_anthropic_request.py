"""Every history becomes a request that Anthropic's API takes, and its events become the same answers as others'."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.config.schema import ThinkingConfig
from daemon.config.secret import Secret
from daemon.model.adaptation import MessageForm, with_own
from daemon.model.answer_parts import AnswerParts
from daemon.model.anthropic.anthropic_events import AnthropicEvents
from daemon.model.anthropic.anthropic_request import BEGINNING, CONTINUE, NO_RESULT, body
from daemon.model.chat_model import Answer, CutOff, Request
from daemon.model.dialect import Dialect
from daemon.model.event_stream import EventLines
from daemon.model.model_errors import Endpoint
from tests.fakes.anthropic_server import Said, event, events, message, problem, signature
from tests.fakes.openai_server import Call
from tests.tables import each_row

OF = "anthropic:host claude"
THINKING = ThinkingConfig(type="enabled", budget_tokens=1_024)
TOOL = {"type": "function", "function": {"name": "time", "description": "The time.", "parameters": {"type": "object"}}}
PNG = "data:image/png;base64,iVBORw0KGgo="


def call(identity: str, name: str = "time", arguments: str = "{}") -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def thought(text: str, at: int = 0) -> dict[str, Any]:
    return {"type": "thinking", "index": at, "at": at, "thinking": text, "signature": signature(text)}


def kept(fields: dict[str, Any], *blocks: dict[str, Any], of: str = OF) -> bytes:
    own = {"of": of, "message": {"thinking_blocks": [*blocks]}}
    return with_own(msgspec.json.encode(fields), msgspec.json.encode(own))


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def calls(*ids: str, text: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": [call(identity) for identity in ids]}


def result(identity: str, content: Any = "nine") -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": identity}


def sent(
    *messages: dict[str, Any] | bytes,
    thinking: ThinkingConfig = THINKING,
    dialect: Dialect = Dialect(form=MessageForm(own="window")),  # noqa: B008 - a value
    tools: tuple[Any, ...] = (TOOL,),
    **more: Any,
) -> dict[str, Any]:
    """The request's body; the API takes it."""
    wires = [each if isinstance(each, bytes) else msgspec.json.encode(each) for each in messages]
    request = Request(
        messages=wires, tools=[msgspec.json.encode(tool) for tool in tools], **{"max_completion_tokens": 2_000, **more}
    )
    found = msgspec.json.decode(body("claude", request, dialect, of=OF, thinking=thinking))
    assert problem(found) == ""
    return found


TEXTS = st.sampled_from(["", " \n", "hello", "你好"])
CONTENTS = (
    TEXTS
    | st.none()
    | st.lists(
        st.builds(lambda text: {"type": "text", "text": text}, TEXTS)
        | st.sampled_from([PNG, "https://host/cat.png", "data:image/bmp;base64,AAAA", "file:///cat"]).map(
            lambda url: {"type": "image_url", "image_url": {"url": url}}
        )
        | st.just({"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}),
        max_size=3,
    )
)
IDS = st.sampled_from(["a", "call_1", "functions.time:0", "ü", "", "x" * 80])
NAMES = st.sampled_from(["time", "a.b", "", "n" * 200])
ARGUMENTS = st.sampled_from(["{}", "", '{"a": 1}', "[1]", "no json", '{"a": '])
CALLS = st.lists(st.builds(call, IDS, NAMES, ARGUMENTS), max_size=3)
THOUGHTS = st.lists(
    st.builds(thought, TEXTS, st.integers(0, 4))
    | st.builds(lambda at: {"type": "redacted_thinking", "index": 9, "at": at, "data": "sealed:"}, st.integers(0, 4))
    | st.sampled_from([{"type": "thinking", "thinking": "unsigned"}, {"type": "reasoning.text", "text": "another's"}]),
    max_size=3,
)
MESSAGES = (
    st.builds(lambda role, content: {"role": role, "content": content}, st.sampled_from(["user", "system"]), CONTENTS)
    | st.builds(result, IDS, CONTENTS)
    | st.builds(
        lambda content, made, thoughts, of: kept(
            {"role": "assistant", "content": content, "tool_calls": made}, *thoughts, of=of
        ),
        TEXTS,
        CALLS,
        THOUGHTS,
        st.sampled_from([OF, "another m"]),
    )
)


@given(
    st.lists(MESSAGES, max_size=12),
    st.sampled_from([ThinkingConfig(), THINKING, ThinkingConfig(type="adaptive")]),
    st.sampled_from([(), (TOOL,)]),
    st.booleans(),
    st.integers(0, 4),
)
def test_every_history_becomes_a_request_that_the_api_takes(history, thinking, tools, force, current) -> None:
    sent(
        *history,
        thinking=thinking,
        tools=tools,
        force_tool="time" if force and tools else "",
        current=min(current, len(history)),
    )


def test_system_messages_stand_apart_and_messages_of_one_role_are_one() -> None:
    found = sent(
        {"role": "system", "content": "Be kind."}, user("one"), user("two"), user([{"type": "text", "text": "3"}])
    )

    assert found["system"] == [{"type": "text", "text": "Be kind."}]
    assert [block["text"] for block in found["messages"][0]["content"]] == ["one", "two", "3"]


def test_results_stand_before_what_was_said_in_the_order_of_the_calls_and_each_call_has_one() -> None:
    found = sent(
        user("hi"),
        calls("b", "a", "c"),
        user("hurry"),
        result("a"),
        result("z"),
        result("b", [{"type": "image_url", "image_url": {"url": PNG}}]),
    )

    blocks = found["messages"][2]["content"]
    assert [block.get("tool_use_id", block.get("text")) for block in blocks] == ["b", "a", "c", "hurry"]
    picture = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    assert blocks[0]["content"] == [{"type": "image", "source": picture}]
    assert blocks[2]["content"] == [{"type": "text", "text": NO_RESULT}]


def test_ids_that_come_again_are_told_apart_and_others_stay() -> None:
    found = sent(user("hi"), calls("call_1"), result("call_1"), calls("call_1", "a.b"), result("call_1"), result("a.b"))

    made = [block["id"] for each in found["messages"] for block in each["content"] if block["type"] == "tool_use"]
    assert made == ["call_1", "call_1_2", "a_b"]


def test_a_history_begins_and_ends_with_the_user() -> None:
    found = sent({"role": "assistant", "content": "hello"})

    assert [each["content"][0]["text"] for each in found["messages"]] == [BEGINNING, "hello", CONTINUE]


def test_thinking_comes_back_unchanged_in_its_order_and_only_to_its_own_model() -> None:
    seal = {"type": "redacted_thinking", "index": 2, "at": 0, "data": "sealed:x"}
    answer = calls("a", "b", text="I look.")
    own = (thought("first"), seal, thought("between", 2))

    mine = sent(user("hi"), kept(answer, *own), result("a"), result("b"))
    others = sent(user("hi"), kept(answer, *own, of="another m"), result("a"), result("b"))

    blocks = mine["messages"][1]["content"]
    assert [block["type"] for block in blocks] == [
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
        "thinking",
        "tool_use",
    ]
    assert blocks[0] == {"type": "thinking", "thinking": "first", "signature": signature("first")}
    assert mine["thinking"] == {"type": "enabled", "budget_tokens": 1_024}
    assert [block["type"] for block in others["messages"][1]["content"]] == ["text", "tool_use", "tool_use"]
    # Without its thinking the answer would be refused.
    assert "thinking" not in others


@each_row(
    "thinking, asked, choice, budget",
    [
        (ThinkingConfig(), {"force_tool": "time"}, {"type": "tool", "name": "time"}, None),
        (ThinkingConfig(type="disabled"), {"force_tool": "time"}, {"type": "tool", "name": "time"}, "disabled"),
        (ThinkingConfig(type="adaptive"), {"force_tool": "time"}, None, "adaptive"),
        (THINKING, {"force_tool": "time"}, None, "enabled"),
        (THINKING, {"max_completion_tokens": 1_024}, None, None),
    ],
)
def test_no_tool_is_forced_while_the_model_thinks_and_thinking_leaves_room_for_an_answer(
    thinking, asked, choice, budget
) -> None:
    found = sent(user("hi"), thinking=thinking, **asked)

    assert (found.get("tool_choice"), found.get("thinking", {}).get("type")) == (choice, budget)


def test_calls_of_tools_that_are_not_offered_any_more_cannot_be_made_again() -> None:
    found = sent(user("hi"), calls("a"), result("a"), tools=())

    assert [tool["name"] for tool in found["tools"]] == ["time"]
    assert found["tool_choice"] == {"type": "none"}


def test_what_is_the_same_at_the_next_call_is_marked_to_be_cached() -> None:
    history = (
        {"role": "system", "content": "Be kind."},
        user("compressed"),
        {"role": "assistant", "content": "understood"},
        user("hi"),
        {"role": "assistant", "content": "hello"},
        user("so"),
    )

    turn, once = sent(*history, current=1, head=3), sent(*history)

    marked = [
        block["text"]
        for block in (*turn["system"], *(b for m in turn["messages"] for b in m["content"]))
        if "cache_control" in block
    ]
    assert marked == ["Be kind.", "understood", "hello", "so"]
    assert "cache_control" not in str(once)


def read(pieces: list[bytes]) -> Answer:
    lines, parts = (
        EventLines(),
        AnswerParts(Endpoint(model="claude", host="host", key=Secret("")), read=AnthropicEvents().read),
    )
    for payload in [payload for piece in pieces for payload in lines.feed(piece)] + lines.end():
        parts.feed(payload)
    parts.text()
    return parts.finished(marked=lines.done)


ANSWERS = st.builds(
    Said,
    text=st.text("ab \n你", max_size=8).filter(lambda text: text.strip()),
    calls=st.lists(st.builds(Call, st.just("time"), st.sampled_from(['{"a":[1]}', "{}"]), st.uuids().map(str))),
    thinking=st.text("ab", max_size=8),
    sealed=st.sampled_from(["", "x"]),
    usage=st.sampled_from(
        [{"input_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 100}, {"input_tokens": 123}]
    ),
)


@given(ANSWERS, st.integers(1, 40))
def test_a_stream_and_a_whole_message_are_the_same_answer_however_they_are_torn(answer, size) -> None:
    streamed = b"".join(events(answer))
    found = read([streamed[at : at + size] for at in range(0, len(streamed), size)])

    assert found == read([msgspec.json.encode(message(answer))])
    assert (found.text, found.reasoning, found.version) == (answer.text, answer.thinking, "claude-1")
    assert [(made.id, made.name, msgspec.json.decode(made.arguments)) for made in found.tool_calls] == [
        (made.id, made.name, msgspec.json.decode(made.arguments)) for made in answer.calls
    ]
    reports = len(answer.usage) > 1
    assert (found.usage.tokens_in, found.usage.cached_in, found.usage.tokens_out) == (123, 20 * reports, 5)
    assert found.usage.reports_cached is reports


@given(ANSWERS)
def test_an_answer_can_be_sent_back_as_it_came(answer) -> None:
    found = read(events(answer))
    of = msgspec.json.decode(found.own)["of"] if found.own else ""
    made = [call(each.id, each.name, each.arguments) for each in found.tool_calls]
    said = with_own(msgspec.json.encode({"role": "assistant", "content": found.text, "tool_calls": made}), found.own)
    results = [msgspec.json.encode(result(each.id)) for each in found.tool_calls]
    request = Request(messages=[b'{"role":"user","content":"hi"}', said, *results], max_completion_tokens=10)

    written = msgspec.json.decode(
        body("claude", request, Dialect(form=MessageForm(own="window")), of=of, thinking=ThinkingConfig())
    )

    assert written["messages"][1]["content"] == message(answer)["content"]


@each_row(
    "stop, finish",
    [
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "length"),
        ("refusal", "content_filter"),
    ],
)
def test_an_answer_that_is_not_whole_is_cut_off(stop, finish) -> None:
    with pytest.raises(CutOff) as caught:
        read(events(Said("half an", stop=stop)))

    assert (caught.value.finish_reason, caught.value.answer.text) == (finish, "half an")


@each_row("stop", ["end_turn", "stop_sequence", "tomorrow's reason"])
def test_any_other_reason_to_stop_is_an_end(stop) -> None:
    assert read(events(Said("whole", stop=stop))).text == "whole"


def test_unknown_events_and_blocks_are_passed_over() -> None:
    strange = [
        event("content_block_start", index=7, content_block={"type": "server_tool_use", "id": "s", "name": "search"}),
        event("content_block_delta", index=7, delta={"type": "citations_delta", "citation": {}}),
        event("tomorrow", more={"nested": True}),
    ]

    assert read([*events(Said("whole"))[:-2], *strange, *events(Said("whole"))[-2:]]).text == "whole"
