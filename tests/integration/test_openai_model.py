import datetime as dt
import json
import ssl
import sys
from contextlib import aclosing, asynccontextmanager

import anyio
import anyio.lowlevel
import httpcore2
import httpx2
import msgspec
import openai
import pytest
from httpx2._transports.default import _load_httpcore_exceptions
from msgspec.structs import replace

from daemon.config.schema import ModelConfig, PricesConfig
from daemon.config.secret import Secret
from daemon.errors import (
    ConfigError,
    ContentFiltered,
    ContextOverflow,
    InvalidAnswer,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    SetupFault,
)
from daemon.model import Answer, CutOff, OnlyThought, Request, TextChunk, Usage, connect
from daemon.model.chat_model import places_of
from daemon.model.dialect import Dialect, dialect_of
from daemon.model.model_errors import KINDS, Endpoint, Refusal, by_status, reported, retry_after_s, translated
from daemon.model.openai_model import OpenAIModel
from daemon.model.usage_counts import priced
from daemon.tokens import calibration
from tests.fakes.openai_server import Call, Events, Failure, Hang, Plain, Say, completion, delta, fake_openai
from tests.limits import HANG_S
from tests.tables import each_row

KEY = "sk-very-secret-1234567890"
NOW = dt.datetime(2026, 11, 20, 9, 0, tzinfo=dt.UTC)
USER = msgspec.json.encode({"role": "user", "content": "héllo 你好"})
SYSTEM = msgspec.json.encode({"role": "system", "content": "be kind"})
TOOL = msgspec.json.encode({"type": "function", "function": {"name": "time", "parameters": {"type": "object"}}})


def request(*, force_tool: str = "", tools: tuple[bytes, ...] = ()) -> Request:
    return Request(messages=[USER], tools=tools, force_tool=force_tool, max_completion_tokens=100)


@asynccontextmanager
async def asking(script=(), *, call_timeout_s=HANG_S, chunk_timeout_s=HANG_S, **more):
    async with fake_openai(script) as server:
        config = ModelConfig(
            base_url=server.base_url, api_key=Secret(KEY), call_timeout_s=call_timeout_s,
            chunk_timeout_s=chunk_timeout_s, **{"name": "fake", **more},
        )  # fmt: skip
        model = OpenAIModel(config)
        try:
            yield model, server
        finally:
            await model.aclose()


async def answer_of(model, asked: Request | None = None) -> tuple[list[str], Answer]:
    texts: list[str] = []
    answers: list[Answer] = []
    async with aclosing(model.stream(asked or request())) as chunks:
        async for chunk in chunks:
            texts.append(chunk.text) if isinstance(chunk, TextChunk) else answers.append(chunk)
    (answer,) = answers
    return texts, answer


async def failure_of(script, **timeouts) -> ModelError:
    async with asking(script, **timeouts) as (model, _):
        with pytest.raises(ModelError) as caught:
            await answer_of(model)
    assert KEY not in f"{caught.value} {caught.value!r} {caught.value.__cause__!r} {caught.value.__cause__}"
    return caught.value


async def test_text_comes_in_pieces_and_the_answer_ends_it_with_its_usage():
    async with asking([Say("one two three", usage=(12, 3))]) as (model, server):
        texts, answer = await answer_of(model)

    assert "".join(texts) == answer.text == "one two three"
    assert (answer.usage.tokens_in, answer.usage.tokens_out, answer.usage.estimated) == (12, 3, False)
    assert (answer.model, answer.version) == ("fake", "fake-1")
    sent = server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["content-type"] == "application/json"


async def test_messages_and_tools_are_sent_as_the_bytes_they_are():
    async with asking() as (model, server):
        await answer_of(model, request(tools=(TOOL,), force_tool="time"))

    sent = server.requests[0]
    assert b'"messages":[' + USER + b"]" in sent.raw
    assert b'"tools":[' + TOOL + b"]" in sent.raw
    assert sent.body["tool_choice"] == {"type": "function", "function": {"name": "time"}}
    assert (sent.body["max_completion_tokens"], sent.body["stream"], sent.body["model"]) == (100, True, "fake")
    assert sent.body["stream_options"] == {"include_usage": True}


async def test_a_connection_is_used_again():
    async with asking() as (model, server):
        for _ in range(3):
            await answer_of(model)

        assert server.connections == 1


async def test_without_a_key_no_authorization_is_sent():
    async with fake_openai() as server:
        model = await connect(ModelConfig(base_url=server.base_url, name="local"))
        await answer_of(model)
        await model.aclose()

    assert "authorization" not in server.requests[0].headers


async def test_tool_calls_are_put_together_from_their_fragments():
    calls = (Call("read_file", '{"path": "a b.txt"}', "call_1"), Call("time", "{}", "call_2"))

    async with asking([Say("I look.", calls)]) as (model, _):
        texts, answer = await answer_of(model)

    assert "".join(texts) == "I look."
    assert [(c.id, c.name, c.arguments) for c in answer.tool_calls] == [
        ("call_1", "read_file", '{"path": "a b.txt"}'),
        ("call_2", "time", "{}"),
    ]


async def test_calls_without_index_or_id_and_with_arguments_as_an_object_are_understood():
    fragments = [
        {"function": {"name": "time", "arguments": {"zone": "UTC"}}},
        {"function": {"name": "time", "arguments": None}},
    ]

    async with asking([Events([delta(tool_calls=fragments), delta("tool_calls")])]) as (model, _):
        _, answer = await answer_of(model)

    assert [json.loads(call.arguments) for call in answer.tool_calls] == [{"zone": "UTC"}, {}]
    assert len({call.id for call in answer.tool_calls}) == 2
    assert all(call.id for call in answer.tool_calls)


async def test_calls_with_one_index_but_their_own_ids_are_two_and_equal_ids_are_made_unique():
    first = {"index": 0, "id": "a", "function": {"name": "one", "arguments": "{}"}}
    second = {"index": 0, "id": "b", "function": {"name": "two", "arguments": "{}"}}
    third = {"index": 1, "id": "a", "function": {"name": "three", "arguments": "{}"}}

    async with asking([Events([delta(tool_calls=[call]) for call in (first, second, third)] + [delta("stop")])]) as (
        m,
        _,
    ):
        _, answer = await answer_of(m)

    assert [call.name for call in answer.tool_calls] == ["one", "two", "three"]
    assert len({call.id for call in answer.tool_calls}) == 3


async def test_a_server_that_repeats_id_and_name_in_every_fragment_makes_one_call():
    parts = ['{"a"', ": 1}"]
    events = [delta(tool_calls=[{"index": 0, "id": "x", "function": {"name": "t", "arguments": p}}]) for p in parts]

    async with asking([Events([*events, delta("tool_calls")])]) as (model, _):
        _, answer = await answer_of(model)

    assert [call.arguments for call in answer.tool_calls] == ['{"a": 1}']


def call(name: str | None = None, arguments: object = None, **fields: object) -> dict[str, object]:
    return delta(tool_calls=[{**fields, "function": {"name": name, "arguments": arguments}}])


ZONE = '{"zone":"x"}'
ONE = [("time", ZONE)]
BROKEN = ['{"zone":', '"x"}']


@each_row(
    ("events", "calls"),
    [
        ([call("time", piece, index=1, id="a") for piece in BROKEN], ONE),
        ([call("time", piece, index=0, id=f"new{piece}") for piece in BROKEN], ONE),
        ([call("time", piece) for piece in BROKEN], ONE),
        ([call("ti", index=0, id="a"), call("me", index=0), call(arguments=ZONE, index=0)], ONE),
        ([call("time", ZONE, index=0, id=5), call("", "", index=1, id="")], ONE),
        ([call("time", each, index=0, id="a") for each in (*BROKEN, ZONE)], ONE),
        ([call("time", "{}", index=0, id="a"), call(arguments=ZONE, index=0)], ONE),
        ([call("time", ZONE), call("time", "{}")], [*ONE, ("time", "{}")]),
        ([call("time", each, index=0, id="") for each in (ZONE, "{}")], [*ONE, ("time", "{}")]),
        (
            [call("time", index=0, id="a"), call("time", index=0, id="b")]
            + [call(arguments=each, index=0, id=name) for name, each in (("a", ZONE), ("b", "{}"))],
            [*ONE, ("time", "{}")],
        ),
        (
            [call("time", BROKEN[0], id="a"), call("time", "{}", id="b"), call(arguments=BROKEN[1], id="a")],
            [*ONE, ("time", "{}")],
        ),
        ([call("time", BROKEN[0], index=0, id="a"), call(arguments=BROKEN[1], index=3)], ONE),
        ([call("time", BROKEN[0], index=0, id="a"), call(arguments=BROKEN[1], index=3, id="a")], ONE),
        (
            [
                call("time", "{}", index=0, id="a"),
                call("time", BROKEN[0], index=0, id="b"),
                call(None, BROKEN[1], index=1),
            ],
            [("time", "{}"), *ONE],
        ),
        ([delta(tool_calls={"id": "a", "function": {"name": "time", "arguments": ZONE}})], ONE),
        ([delta(tool_calls=[None, {"id": "a", "function": None}]), call("time", ZONE, id="a")], ONE),
        *(([call(name, ZONE, id="a")], ONE) for name in ("functions.time:0", " time ", "time<|channel|>commentary")),
        *(([call("time", given, id="a")], ONE) for given in (f"```json\n{ZONE}\n```", json.dumps(ZONE))),
        *(([call("time", given, id="a")], [("time", "{}")]) for given in ("null", " \n", [], '""')),
        ([call("time", "{broken", id="a")], [("time", "{broken")]),
    ],
)
async def test_calls_are_put_together_in_whatever_fragments_they_come(events, calls):
    async with asking([Events([*events, delta("tool_calls")])]) as (model, _):
        _, answer = await answer_of(model, request(tools=(TOOL,)))

    assert [(each.name, each.arguments) for each in answer.tool_calls] == calls
    assert len({each.id for each in answer.tool_calls}) == len(calls)


@each_row(
    "events",
    [
        [b"data: null\n\n", b"data:\n\n", {"choices": [None]}, delta(content="hi"), delta("stop")],
        [b'\xef\xbb\xbfdata: {\ndata: "choices": [{"delta":\ndata: {"content": "hi"}}]}\n\n', delta("stop")],
        [b'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\r\r', b'data: "[DONE]"\r\r'],
        [
            {**delta(content="hi"), "model": 5, "message": {}, "code": 200, "base_resp": {"status_code": 0}},
            delta("stop"),
        ],
        [delta(content="hi"), {"choices": [{"delta": {}, "message": {"content": "hi"}, "finish_reason": 0}]}],
        [
            delta(content=[None, {"text": None}, "h", {"type": "reference"}, {"text": "i"}], tool_calls={}),
            delta("stop"),
        ],
        [delta(content={"type": "text", "text": "hi"}), delta("stop")],
        [delta(refusal="hi"), delta("stop")],
        [delta(content="hi", logprobs=float("nan")), delta("stop")],
    ],
)
async def test_a_text_is_read_in_whatever_events_it_comes(events):
    async with asking([Events(events)]) as (model, _):
        _, answer = await answer_of(model)

    assert answer.text == "hi"


@each_row("name", ["reasoning_content", "reasoning", "reasoning_text", "thinking", "reasoning_details"])
async def test_reasoning_is_recognized_in_each_field_and_form(name):
    for given in ("hm", {"content": "hm"}, [{"type": "reasoning.text", "text": "hm"}]):
        error = await failure_of([Events([delta(**{name: given}, content=""), delta("stop")])])

        assert isinstance(error, OnlyThought)
        assert error.answer.reasoning == "hm"


async def test_reasoning_comments_and_unknown_fields_are_no_text():
    odd = [
        b": keep-alive\n\n", {"type": "ping"}, delta(reasoning_content="hm"), delta(reasoning="hm"),
        delta(content=[{"type": "text", "text": "li"}, {"type": "text", "text": "st"}]),
        b'event: message\r\ndata:{"choices":[{"delta":{"content":"\xe2\x80\xa8en\xc2\x85d"}}],"x":[1]}\r\n\r\n',
        delta("stop"), {"choices": None, "usage": None},
    ]  # fmt: skip

    async with asking([Events(odd)]) as (model, _):
        _, answer = await answer_of(model)

    assert answer.text == "list\u2028en\u0085d"
    assert answer.reasoning == "hmhm"


async def test_reasoning_written_into_the_text_is_taken_out_of_it():
    pieces = ["\n<th", "ink>\nLet me", " see</thi", "nk>\n", "\nIt is", " <think>late</think>"]

    async with asking([Events([*(delta(content=piece) for piece in pieces), delta("stop")])]) as (model, _):
        texts, answer = await answer_of(model)

    assert texts == ["It is", " <think>late</think>"]
    assert (answer.text, answer.reasoning) == ("It is <think>late</think>", "\nLet me see")


async def test_text_that_only_begins_like_a_mark_is_shown_in_the_end():
    async with asking([Events([delta(content="  <thi"), delta("stop")])]) as (model, _):
        texts, answer = await answer_of(model)

    assert (texts, answer.text) == (["  <thi"], "  <thi")


async def test_reasoning_that_never_ends_in_an_answer_is_an_empty_answer():
    for reply in (Say("<think>hm hm"), Events([delta(reasoning_content="hm"), delta("stop")])):
        assert isinstance(await failure_of([reply]), OnlyThought)


def usage_of(**usage: object) -> Events:
    return Events([delta(content="hi"), delta("stop"), {**delta(), "choices": [], "usage": usage}])


PRICES = PricesConfig(input=2.0, cached_input=0.5, cache_write=3.0, output=10.0, currency="EUR")


@each_row(
    ("usage", "cached", "written", "nano"),
    [
        ({"prompt_tokens": 1_000, "completion_tokens": 100}, None, 0, 3_000_000),
        ({"prompt_tokens": 1_000, "prompt_tokens_details": {"cached_tokens": 600}}, 600, 0, 1_100_000),
        ({"prompt_tokens": 1_000, "prompt_tokens_details": {"cached_tokens": 0}}, 0, 0, 2_000_000),
        (  # OpenAI since GPT-5.6, and OpenRouter
            {"prompt_tokens": 1_000, "prompt_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 200}},
            *(600, 200, 1_300_000),
        ),
        ({"input_tokens": 1_000, "input_tokens_details": {"cached_tokens": 600}}, 600, 0, 1_100_000),
        ({"prompt_tokens": 1_000, "prompt_tokens_details": None, "prompt_cache_hit_tokens": 600}, 600, 0, 1_100_000),
        ({"prompt_tokens": 1_000, "cached_tokens": 600}, 600, 0, 1_100_000),  # Kimi
        ({"prompt_tokens": 1_000, "cachedContentTokenCount": 600}, 600, 0, 1_100_000),  # gateways to Gemini
        ({"prompt_tokens": 1_000, "cached_content_token_count": "600"}, 600, 0, 1_100_000),
        (
            {"input_tokens": 200, "cache_read_input_tokens": 600, "cache_creation_input_tokens": 200},
            *(600, 200, 1_300_000),
        ),
        ({"prompt_tokens": 1_000, "cache_read_input_tokens": 600}, 600, 0, 1_100_000),  # LiteLLM
        ({"prompt_tokens": 400, "cache_read_input_tokens": 600}, 600, 0, 1_100_000),
        ({"prompt_tokens": 1_000, "prompt_tokens_details": {"cached_tokens": 9_000}}, 1_000, 0, 500_000),
        ({"prompt_tokens": 1_000, "prompt_tokens_details": {"cached_tokens": {}}}, None, 0, 2_000_000),
        ({"prompt_tokens": 1_000.0, "completion_tokens": -5}, None, 0, 2_000_000),
    ],
)
async def test_usage_is_priced_and_what_was_cached_costs_less(usage, cached, written, nano):
    async with asking([usage_of(**usage)], prices=PRICES) as (model, _):
        _, answer = await answer_of(model)

    found = answer.usage
    assert (found.tokens_in, found.cached_in, found.written_in) == (1_000, cached or 0, written)
    assert found.reports_cached is (cached is not None)
    assert (found.cost_nano, found.cached_nano, found.currency) == (nano, (cached or 0) * 500, "EUR")


def test_cached_tokens_without_a_price_of_their_own_cost_as_others():
    assert priced(Usage(tokens_in=10, cached_in=10), PricesConfig(input=1.0)).cost_nano == 10_000


@each_row(
    "reply",
    [
        Events([delta(content="hello world"), delta("stop")]),
        Events([delta(content="hello world"), delta("stop"), {"choices": [], "usage": {"prompt_tokens": "many"}}]),
        Events([delta(content="hello world"), delta("stop"), {"choices": [], "usage": {"prompt_tokens": 0}}]),
        Events([delta(content="hello world"), delta("stop"), {"choices": [], "usage": "unknown"}]),
    ],
)
async def test_usage_that_is_missing_or_unreadable_is_counted_by_us_and_marked(reply):
    async with asking([reply] * 2, prices=PRICES) as (model, _):
        _, answer = await answer_of(model, request(tools=(TOOL,)))
        _, counted = await answer_of(model, replace(request(), tokens=77))

    assert answer.usage.estimated
    assert answer.usage.tokens_out == 2
    assert answer.usage.tokens_in > 20
    assert answer.usage.cost_nano == answer.usage.tokens_in * 2_000 + 2 * 10_000
    assert counted.usage.tokens_in == 77


async def test_what_the_provider_counts_calibrates_our_counts():
    async with asking([usage_of(prompt_tokens=3_000)] * 9, name="counts-more") as (model, server):
        for _ in range(9):
            await answer_of(model, replace(request(), tokens=2_000))

    assert calibration("counts-more", server.base_url).factor == pytest.approx(1.5, abs=0.01)


async def test_events_torn_into_single_bytes_are_the_same_answer():
    payload = b"".join(b"data: " + json.dumps(d).encode() + b"\n\n" for d in (delta(content="你好"), delta("stop")))

    async with asking([Events([bytes([byte]) for byte in payload], done=False)]) as (model, _):
        _, answer = await answer_of(model)

    assert answer.text == "你好"


async def test_a_server_that_ignores_stream_is_understood():
    whole = json.dumps(completion(Say("all at once", (Call("time"),))), indent=1).encode()

    async with asking([Plain(whole, "application/json")]) as (model, _):
        texts, answer = await answer_of(model)

    assert texts == ["all at once"]
    assert (answer.text, answer.tool_calls[0].name, answer.usage.tokens_in) == ("all at once", "time", 10)


async def test_a_connection_cut_in_the_middle_is_an_outage():
    error = await failure_of([Events([delta(content="half")], abort=True)])

    assert isinstance(error, ModelUnavailable)
    assert not isinstance(error, ModelTimeout)


async def test_a_connection_cut_after_the_end_marker_loses_nothing():
    whole = [delta(content="all"), delta("stop"), b"data: [DONE]\n\n"]

    async with asking([Events(whole, abort=True)]) as (model, _):
        _, answer = await answer_of(model)

    assert answer.text == "all"


async def test_a_cut_off_answer_is_invalid_and_keeps_its_text_whatever_its_server_calls_the_reason():
    reasons = {
        "length": ("length", "max_tokens", "MAX_TOKENS", "model_length", "model_context_window_exceeded"),
        "content_filter": ("content_filter", "SAFETY", "sensitive", "refusal"),
    }

    for expected, names in reasons.items():
        for name in names:
            error = await failure_of([Say("half an", finish=name)])

            assert isinstance(error, CutOff), name
            assert (error.finish_reason, error.answer.text) == (expected, "half an"), name
            assert (error.answer.usage.tokens_in, error.answer.usage.tokens_out) == (10, 5), name


async def test_a_server_that_failed_within_its_answer_is_unavailable():
    for name in ("error", "network_error", "insufficient_system_resource"):
        assert type(await failure_of([Say("half an", finish=name)])) is ModelUnavailable, name


async def test_a_prompt_that_a_content_filter_refuses_is_told_from_other_refusals():
    words = [
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "Input data may contain inappropriate content. (data_inspection_failed)",
        "Content Exists Risk",
        "The request was rejected because it was considered high risk",
        "系统检测到输入或生成内容可能包含不安全或敏感内容",
    ]

    assert [type(await failure_of([Failure(400, text)])) for text in words] == [ContentFiltered] * len(words)


async def test_reasoning_in_a_list_of_parts_is_reasoning():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "nine"}]

    async with asking([Events([delta(content=parts), delta("stop")])]) as (model, _):
        _, answer = await answer_of(model)

    assert (answer.text, answer.reasoning) == ("nine", "hm")


async def test_an_error_without_a_field_of_that_name_is_an_error():
    event = b'data: {"object":"error","message":"This model\'s maximum context length is 10 tokens","code":400}\n\n'

    assert type(await failure_of([Events([event])])) is ContextOverflow


@pytest.mark.parametrize(
    "reply",
    [
        Say(""),
        Plain(b"", "application/json"),
        Plain(b"{'single': 'quotes'}", "application/json"),
        Plain(b"[" * 100_000, "application/json"),
        Events([b"data: {broken\n\n"]),
        Events([b'data: {"choices": "none"}\n\n']),
        Events([delta(tool_calls=[{"index": 0, "id": "a", "function": {"arguments": "{}"}}]), delta("tool_calls")]),
        Events([b"x" * 1_000_000] * 10),
        Say("one two three", cut_after=3),
    ],
)
async def test_what_is_no_answer_is_invalid(reply):
    error = await failure_of([reply])

    assert type(error) is InvalidAnswer
    assert not isinstance(reply, Say) or not reply.cut_after or "was cut off before the end" in str(error)


async def test_a_web_page_in_place_of_an_answer_is_a_fault_of_the_set_up():
    error = await failure_of([Plain(b" \n<html><body>Sign in</body></html>")])

    assert type(error) is SetupFault
    assert "returned a web page" in str(error)


async def test_silence_within_an_answer_is_a_timeout():
    error = await failure_of([Events([delta(content="a"), 3_600.0, delta("stop")])], chunk_timeout_s=0.05)

    assert isinstance(error, ModelTimeout)
    assert "chunk_timeout_s" in str(error)


async def test_the_first_piece_may_take_longer_than_a_silence():
    rest = b"".join(b"data: %s\n\n" % msgspec.json.encode(piece) for piece in (delta(content="late"), delta("stop")))
    async with asking([Events([0.2, rest], done=False)], chunk_timeout_s=0.05) as (model, _):
        _, answer = await answer_of(model)

    assert answer.text == "late"


@each_row("reply", [Say("word " * 500, delay_s=0.01), Hang()])
async def test_an_answer_that_takes_too_long_in_all_is_a_timeout(reply):
    error = await failure_of([reply], call_timeout_s=0.15)

    assert isinstance(error, ModelTimeout)


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Failure(429), RateLimited),
        (Failure(500), ModelUnavailable),
        (Failure(503), ModelUnavailable),
        (Failure(408), ModelUnavailable),
        (Failure(401, f"Incorrect API key provided: {KEY}"), SetupFault),
        (Failure(418, f"No tea for {KEY}"), ModelRefused),
        (Failure(404), SetupFault),
        (Failure(409), ModelRefused),
        (Failure(400), ModelRefused),
        (Failure(422), ModelRefused),
        (Failure(400, "too long", code="context_length_exceeded"), ContextOverflow),
        (Failure(400, "This model's maximum context length is 4096 tokens; max_completion_tokens"), ContextOverflow),
        (Failure(413, "input is too long"), ContextOverflow),
    ],
)
async def test_a_status_becomes_the_error_that_it_means(failure, kind):
    async with asking([failure] * 3) as (model, server):
        with pytest.raises(ModelError) as caught:
            await answer_of(model)

    assert type(caught.value) is kind
    assert KEY not in f"{caught.value} {caught.value.__cause__}"
    assert len(server.requests) == 1


async def test_the_key_stands_in_no_traceback_when_the_server_repeats_it():
    error = await failure_of([Failure(418, f"No tea for {KEY}")])

    assert error.__cause__ is None
    assert "No tea for ********" in str(error)


async def test_a_short_rate_limit_is_waited_out_once_within_the_call():
    limited = Failure(429, headers={"Retry-After-Ms": "20"})
    async with asking([limited, Say("fine"), limited, limited, Say("unheard")]) as (model, server):
        _, answer = await answer_of(model)
        with pytest.raises(RateLimited):
            await answer_of(model)

    assert answer.text == "fine"
    assert len(server.requests) == 4
    beyond_the_deadline = await failure_of([Failure(429, headers={"Retry-After": "1.5"})], call_timeout_s=1.0)
    assert isinstance(beyond_the_deadline, RateLimited)


async def test_a_long_rate_limit_holds_for_all_calls_of_the_client_until_it_is_over(monkeypatch):
    async with asking([Failure(429, headers={"Retry-After": "300"}), Say("fine")]) as (model, server):
        with pytest.raises(RateLimited) as first:
            await answer_of(model)
        with pytest.raises(RateLimited, match="will not be called for another 60 s") as caught:
            await answer_of(model)
        asked = len(server.requests)
        model._limited_until -= 300
        _, answer = await answer_of(model)

    assert (first.value.retry_after_s, caught.value.retry_after_s) == (300.0, pytest.approx(60, abs=1))
    assert (asked, answer.text) == (1, "fine")


async def test_no_more_calls_than_allowed_are_under_way_and_others_wait_in_order():
    script = [Events([delta(content=str(number)), 0.02, delta("stop")]) for number in range(6)]
    begun: list[str] = []

    async def call(number, model):
        async with aclosing(model.stream(request())) as chunks:
            begun.append(f"{number}={(await anext(chunks)).text}")
            async for _ in chunks:
                pass

    async with asking(script, max_concurrent=2) as (model, server):
        async with anyio.create_task_group() as tasks:
            for number in range(6):
                tasks.start_soon(call, number, model)

        assert server.connections <= 2
    # The two that run at a time may be answered in either order.
    assert [sorted(number[0] for number in begun[at : at + 2]) for at in (0, 2, 4)] == [
        ["0", "1"],
        ["2", "3"],
        ["4", "5"],
    ]


async def test_waiting_for_a_place_ends_at_the_deadline_or_when_it_is_cancelled():
    async with asking([Hang()], max_concurrent=1) as (model, server):
        hurried = OpenAIModel(msgspec.structs.replace(model._config, call_timeout_s=0.1))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_of, model)
            await server.asked.wait()
            with anyio.move_on_after(0.01) as cancelled:
                await answer_of(model)
            with pytest.raises(ModelTimeout, match=r"waited for 0\.1 s .*\(max_concurrent = 1\)"):
                await answer_of(hurried)
            tasks.cancel_scope.cancel()
        _, answer = await answer_of(model)
        await hurried.aclose()

    assert cancelled.cancelled_caught
    assert answer.text.startswith("echo")
    assert len(server.requests) == 2


async def test_bots_with_the_same_model_share_its_places():
    one = ModelConfig(base_url="http://h/v1", name="m", max_concurrent=3)

    places = places_of(one)
    assert places_of(msgspec.structs.replace(one, chunk_timeout_s=1.0)) is places
    assert places_of(msgspec.structs.replace(one, name="n")) is not places
    assert places_of(msgspec.structs.replace(one, base_url="http://i/v1")) is not places


async def test_nobody_there_on_this_machine_is_a_fault_of_the_set_up():
    async with fake_openai() as server:
        base_url = server.base_url
    model = OpenAIModel(ModelConfig(base_url=base_url, name="gone", api_key=Secret(KEY)))

    with pytest.raises(SetupFault, match="No server listens"):
        await answer_of(model)

    await model.aclose()


@pytest.mark.parametrize("parameter", ["max_completion_tokens", "stream_options", "tool_choice"])
async def test_a_refused_parameter_is_left_out_and_not_sent_again(parameter):
    def choose(body):
        refused = Failure(400, f"Unrecognized request argument supplied: {parameter}")
        return refused if parameter in body else Say("fine")

    async with asking(choose) as (model, server):
        _, first = await answer_of(model, request(force_tool="time", tools=(TOOL,)))
        _, second = await answer_of(model, request(force_tool="time", tools=(TOOL,)))

    assert (first.text, second.text) == ("fine", "fine")
    assert [parameter in received.body for received in server.requests] == [True, False, False]
    assert ("max_tokens" in server.requests[-1].body) is (parameter == "max_completion_tokens")


async def test_all_parameters_can_be_refused_one_after_the_other():
    def choose(body):
        names = [n for n in ("tool_choice", "max_completion_tokens", "stream_options") if n in body]
        return Failure(422, f"Extra inputs are not permitted: {names[0]}") if names else Say("fine")

    async with asking(choose) as (model, server):
        _, answer = await answer_of(model, request(force_tool="time", tools=(TOOL,)))

    assert answer.text == "fine"
    assert len(server.requests) == 4


async def test_a_value_that_is_refused_under_both_names_is_not_remembered_as_unknown():
    async with asking(
        [Failure(400, "max_completion_tokens is too large"), Failure(400, "max_tokens is too large")]
    ) as (model, server):
        with pytest.raises(ModelRefused, match="too large"):
            await answer_of(model)
        await answer_of(model)

    assert "max_completion_tokens" in server.requests[-1].body


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"message": "slow down", "code": 429}, RateLimited),
        ({"message": "slow down", "type": "rate_limit_error"}, RateLimited),
        ({"message": "upstream failed", "code": 502}, ModelUnavailable),
        ({"message": "overloaded", "type": "overloaded_error"}, ModelUnavailable),
        ("something", ModelUnavailable),
        ({"message": "prompt is too long: 9 > 8"}, ContextOverflow),
        ({"message": "no such tool", "type": "invalid_request_error"}, ModelRefused),
        ({"message": "slow down", "code": "429"}, RateLimited),
        ({"message": "Your account has insufficient balance"}, SetupFault),
    ],
)
async def test_an_error_inside_a_stream_becomes_the_error_that_it_means(body, kind):
    assert type(await failure_of([Events([delta(content="a"), {"error": body}])])) is kind


@each_row(
    ("event", "kind"),
    [
        ({"message": "overloaded", "code": 503}, ModelUnavailable),
        ({"detail": "prompt is too long"}, ContextOverflow),
        ({"code": "429", "msg": "slow down", "data": None}, RateLimited),
        ({"choices": None, "base_resp": {"status_code": 1004, "status_msg": "login fail"}}, SetupFault),
        (b'data: [{"error": {"code": 503, "message": "overloaded"}}]\n\n', ModelUnavailable),
    ],
)
async def test_an_error_in_any_field_of_an_event_is_an_error(event, kind):
    assert type(await failure_of([Events([delta(content="a"), event])])) is kind


PUZZLING = Plain(b"<html>oops</html>", status=400)


@each_row(
    ("script", "requests"),
    [
        ([PUZZLING], 2),
        ([PUZZLING] * 2, 3),
        ([Failure(500, "System role not supported")], 2),
        ([Failure(400, "no", code="tool_use_failed")], 2),
    ],
)
async def test_a_refusal_is_believed_when_it_came_twice(script, requests):
    asked = Request(messages=[SYSTEM, USER], tools=[TOOL], max_completion_tokens=100)

    async with asking([*script, Say("fine")]) as (model, server):
        _, answer = await answer_of(model, asked)

        assert answer.text == "fine"
        assert len(server.requests) == requests
        assert (dialect_of(model._server, model.name) == Dialect()) is (requests == 2)


async def test_a_refusal_that_stays_ends_after_a_few_requests():
    asked = Request(messages=[SYSTEM, USER], tools=[TOOL], max_completion_tokens=100)

    async with asking([PUZZLING] * 10) as (model, server):
        with pytest.raises(ModelRefused, match="a web page"):
            await answer_of(model, asked)

    assert len(server.requests) == 4


@each_row(
    ("text", "seconds"),
    [
        ("Rate limit reached. Please try again in 1.5s.", 1.5),
        ("try again in 20ms", 0.02),
        ("try again in 1m2s", 62.0),
        ('{"retryDelay": "7s"}', 7.0),
        ("later", None),
    ],
)
async def test_the_words_of_a_rate_limit_say_how_long_it_lasts(text, seconds):
    for status in (429, 503):
        refused = Refusal(httpx2.Response(status, text=text), text)

        assert translated(refused, Endpoint(model="m", host="h", key=Secret("")), NOW).retry_after_s == seconds


async def test_another_address_and_words_within_words_are_understood():
    meant = {"metadata": {"raw": '{"message":"prompt is too long"}'}, "message": "Provider returned error"}

    assert type(by_status(400, meant, Endpoint(model="m", host="h", key=Secret("")))) is ContextOverflow
    assert type(by_status(307, "", Endpoint(model="m", host="h", key=Secret("")))) is SetupFault


@pytest.mark.parametrize("where", ["waiting for the next piece", "busy with the first"])
async def test_cancellation_in_the_middle_closes_the_connection(where):
    begun = anyio.Event()

    async def listen(model):
        async with aclosing(model.stream(request())) as chunks:
            async for _ in chunks:
                begun.set()
                await (anyio.lowlevel.checkpoint() if where.startswith("waiting") else anyio.sleep_forever())

    async with asking([Events([delta(content="a"), 3_600.0, delta("stop")])]) as (model, server):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen, model)
            await begun.wait()
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

        with anyio.fail_after(HANG_S):
            await server.client_left.wait()


async def test_cancellation_before_the_first_byte_closes_the_connection():
    async with asking([Hang()]) as (model, server):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_of, model)
            await server.asked.wait()
            tasks.cancel_scope.cancel()

        with anyio.fail_after(HANG_S):
            await server.client_left.wait()


async def test_whoever_stops_listening_closes_the_connection():
    async with asking([Events([delta(content="a"), 3_600.0, delta("stop")])]) as (model, server):
        async with aclosing(model.stream(request())) as chunks:
            await anext(chunks)

        with anyio.fail_after(HANG_S):
            await server.client_left.wait()


@each_row("base_url", ["localhost:1/v1", "http://[::1", "ftp://x/v1", "http://"])
async def test_a_base_url_that_is_no_address_is_a_configuration_error(base_url):
    with pytest.raises(ConfigError, match="base_url"):
        await connect(ModelConfig(base_url=base_url, name="x"))


async def test_a_user_in_the_address_is_not_shown():
    model = OpenAIModel(ModelConfig(base_url="http://me:hidden@127.0.0.1:1/v1", name="x"))

    with pytest.raises(SetupFault) as caught:
        await answer_of(model)

    await model.aclose()
    assert "hidden" not in str(caught.value)


def test_a_key_with_a_line_break_is_not_shown():
    # What h11 says of a header that it cannot send holds the header.
    cause = httpx2.LocalProtocolError(f"Illegal header value b'Bearer {KEY}'")
    error = openai.APIConnectionError(request=httpx2.Request("POST", "http://x"))
    error.__cause__ = cause

    assert KEY not in str(translated(error, Endpoint(model="m", host="h", key=Secret(KEY)), NOW))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None), ({"retry-after": "2.5"}, 2.5), ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Fri, 20 Nov 2026 09:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 20 Nov 2026 08:00:00 GMT"}, 0.0), ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "nan"}, None), ({"retry-after": "soon"}, None),
    ],
)  # fmt: skip
def test_retry_after_is_read_as_seconds_milliseconds_or_date(headers, seconds):
    assert retry_after_s(headers, NOW) == seconds


ELSEWHERE = {
    "SubjectTokenProviderError": "of workload identities in place of keys, which no configuration can ask for",
    "_TransientTokenExchangeError": "of the same",
    "StreamAlreadyConsumed": "of the SDK's response objects; we read httpx2's own",
    "MissingStreamClassError": "a call without stream_cls; ours has one, and it is a bug if not",
    "UnsupportedOperation": "of the standard library",
    "_AmbiguousModuleClientUsageError": "raised by the module's global client, which is not used",
    "MissingDependencyError": "raised by the SDK's own command line and extras",
    "APIRemovedInV1": "raised by names of 2023",
    "MutuallyExclusiveAuthError": "of the Azure client",
}
"""Exceptions of modules that are imported all the same, and why none of them can come out of a call."""


def exceptions_of(*libraries: str) -> list[type[Exception]]:
    """Every exception class that the modules of installed libraries define, as far as a call imports them."""
    known: set[type[Exception]] = set()
    found = [Exception]
    while found:
        children = [child for child in found.pop().__subclasses__() if child not in known]
        known.update(children)
        found += children
    ours = [kind for kind in known if kind.__module__.partition(".")[0] in libraries and not issubclass(kind, Warning)]
    return sorted(ours, key=lambda kind: kind.__qualname__)


def test_the_exceptions_of_the_installed_libraries_are_found():
    names = {kind.__name__ for kind in exceptions_of("openai", "httpx2", "httpcore2")}

    assert {
        "RateLimitError", "APIConnectionError", "ReadTimeout", "StreamAlreadyConsumed", "ConnectionNotAvailable",
    } <= names  # fmt: skip
    assert len(names) > 50


@each_row("kind", exceptions_of("openai", "httpx2"))
def test_every_exception_of_both_libraries_is_mapped_on_purpose(kind):
    # The roots are in the table for what a later version may add; a class known today must not fall through to them.
    roots = {openai.OpenAIError, httpx2.HTTPError, httpx2.RequestError, Exception}
    ancestors = [ancestor for ancestor in kind.__mro__ if ancestor not in roots]

    assert kind in roots or kind.__name__ in ELSEWHERE or any(ancestor in KINDS for ancestor in ancestors)


@each_row("kind", exceptions_of("httpcore2"))
def test_every_exception_of_the_library_below_is_translated_by_the_one_above(kind):
    mapped = _load_httpcore_exceptions()

    assert kind is httpcore2.ConnectionNotAvailable or any(issubclass(kind, low) for low in mapped)  # the pool's own
    assert all(any(ancestor in KINDS for ancestor in high.__mro__) for high in mapped.values())


@each_row("error", [TimeoutError(), ssl.SSLError(), ConnectionResetError(), ValueError("unmapped")])
def test_other_exceptions_become_an_outage(error):
    assert isinstance(translated(error, Endpoint(model="m", host="h", key=Secret("")), NOW), ModelUnavailable)


def test_a_long_error_is_quoted_in_part():
    asked = Endpoint(model="m", host="h", key=Secret(KEY))

    assert len(str(by_status(400, {"message": "x" * 10_000}, asked))) < 500
    assert KEY not in str(reported({"message": KEY}, asked))


async def test_a_long_history_is_joined_undecoded_by_as_many_steps_as_a_short_one():
    message = msgspec.json.encode({"role": "user", "content": "word " * 40})
    asked = [Request(messages=[message] * count, max_completion_tokens=10) for count in (2, 2_000)]
    steps: list[list[str]] = [[], []]

    async with asking() as (model, _):
        await answer_of(model)
        for one, found in zip(asked, steps, strict=True):
            sys.setprofile(lambda _frame, event, _arg, found=found: found.append(event))
            try:
                body = Dialect().body("fake", one)
            finally:
                sys.setprofile(None)

    assert len(body) > 400_000
    assert 0 < steps[1].count("c_call") == steps[0].count("c_call")
    assert steps[1].count("call") == steps[0].count("call")
