"""The client of Anthropic's API against a server as strict as that is documented to be.

What it shares with OpenAI's form (deadlines, places, rate limits, cancellation) is tested in ``test_openai_model.py``.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from importlib import import_module
from typing import Any

import msgspec
import pytest

from daemon.config import BotConfig, Secret
from daemon.config.schema import FallbackConfig, ModelConfig, PricesConfig, ThinkingConfig
from daemon.errors import (
    ConfigError,
    ContextOverflow,
    InvalidAnswer,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    SetupFault,
)
from daemon.model import Answer, CutOff, OnlyThought, Request, TextChunk, connect, with_own
from daemon.model.dialect import changes, dialect_of, known_of, server_of
from daemon.process import Process
from daemon.wording import text as sentence
from tests.conftest import Lab
from tests.fakes.anthropic_server import KEY, Claude, FakeAnthropic, Said, error, event, events, fake_anthropic, fault
from tests.fakes.openai_server import Call, Events, Plain, fake_openai
from tests.fakes.providers import SUMMARY, Gemini
from tests.fakes.socks import fake_socks
from tests.integration.test_openai_model import exceptions_of
from tests.integration.test_providers import Conversation, talk
from tests.integration.test_turns import wire
from tests.limits import HANG_S
from tests.tables import each_row
from workers.agent.bot_checks import probe

USER = msgspec.json.encode({"role": "user", "content": "héllo 你好"})
TOOL = msgspec.json.encode({"type": "function", "function": {"name": "time", "parameters": {"type": "object"}}})
THINKING = ThinkingConfig(type="enabled", budget_tokens=1_024)


def config_of(server: FakeAnthropic, **more: Any) -> ModelConfig:
    return ModelConfig(
        **{"api": "anthropic", "base_url": server.base_url, "api_key": Secret(KEY), "name": "claude"} | more
    )


@asynccontextmanager
async def asking(script: Any = (), **more: Any) -> AsyncIterator[tuple[Any, FakeAnthropic]]:
    async with fake_anthropic(script) as server:
        limits = {"call_timeout_s": HANG_S, "chunk_timeout_s": HANG_S}
        model = await connect(config_of(server, **limits | more))
        try:
            yield model, server
        finally:
            await model.aclose()


async def answer_of(model: Any, **more: Any) -> tuple[list[str], Answer]:
    asked = Request(**{"messages": [USER], "max_completion_tokens": 100} | more)
    async with aclosing(model.stream(asked)) as chunks:
        found = [chunk async for chunk in chunks]
    return [chunk.text for chunk in found if isinstance(chunk, TextChunk)], found[-1]


async def failure_of(script: Any, **more: Any) -> tuple[ModelError, int]:
    async with asking(script, **more) as (model, server):
        with pytest.raises(ModelError) as caught:
            await answer_of(model)
    assert KEY not in f"{caught.value} {caught.value!r} {caught.value.__cause__!r} {caught.value.__cause__}"
    return caught.value, len(server.requests)


async def test_text_comes_in_pieces_and_calls_and_usage_are_those_of_the_server() -> None:
    made = (Call("time", '{"zone": "UTC"}', "toolu_1"), Call("time", "{}", "toolu_2"))
    usage = {"input_tokens": 400, "cache_read_input_tokens": 500, "cache_creation_input_tokens": 100}
    prices = PricesConfig(input=2.0, cached_input=0.5, cache_write=4.0, output=10.0, currency="EUR")

    async with asking([Said("one two three", made, usage=usage)], prices=prices) as (model, server):
        texts, answer = await answer_of(model, tools=(TOOL,))

    assert "".join(texts) == "one two three"
    assert [(call.id, call.name, msgspec.json.decode(call.arguments)) for call in answer.tool_calls] == [
        ("toolu_1", "time", {"zone": "UTC"}),
        ("toolu_2", "time", {}),
    ]
    counted = answer.usage
    assert (counted.tokens_in, counted.cached_in, counted.written_in, counted.tokens_out) == (1_000, 500, 100, 5)
    assert (counted.cost_nano, counted.cached_nano, counted.reports_cached) == (1_500_000, 250_000, True)
    assert (counted.estimated, answer.version) == (False, "claude-1")
    assert server.requests[0].headers["x-api-key"] == KEY


async def test_the_address_may_end_in_v1_and_a_server_of_ones_own_may_want_no_key() -> None:
    async with fake_anthropic() as server:
        server.key = ""
        model = await connect(config_of(server, base_url=f"{server.base_url}/v1", api_key=Secret("")))
        _, answer = await answer_of(model)
        await model.aclose()

    assert answer.text == "echo: héllo 你好"
    assert not {"x-api-key", "authorization"} & set(server.requests[0].headers)


async def test_the_server_is_asked_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_socks() as proxy, fake_anthropic([Said("hello")]) as server:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        outside = server.base_url.replace("127.0.0.1", "model.example")
        model = await connect(config_of(server, base_url=outside))
        _, answer = await answer_of(model)
        await model.aclose()

    assert (answer.text, proxy.asked) == ("hello", [outside.split("/")[2]])


async def test_nothing_of_the_environment_is_sent_in_place_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "another-secret")

    async with asking([Said("fine")], api_key=Secret("")) as (model, server):
        server.key = ""
        await answer_of(model)

    assert "another-secret" not in str(server.requests[0].headers)
    assert "authorization" not in server.requests[0].headers


TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
TOGETHER = "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length"


@each_row(
    "status, kind, message, expected",
    [
        (400, "invalid_request_error", "metadata: wrong", ModelRefused),
        (400, "invalid_request_error", TOO_LONG, ContextOverflow),
        (400, "invalid_request_error", TOGETHER, ContextOverflow),
        (401, "authentication_error", f"invalid x-api-key {KEY}", SetupFault),
        (402, "billing_error", f"no credit for {KEY}", SetupFault),
        (403, "permission_error", "not yours", SetupFault),
        (404, "not_found_error", "model: claude", SetupFault),
        (413, "request_too_large", "Request exceeds the maximum size", ContextOverflow),
        (429, "rate_limit_error", "slow down", RateLimited),
        (500, "api_error", "Internal server error", ModelUnavailable),
        (504, "timeout_error", "too late", ModelUnavailable),
        (529, "overloaded_error", "Overloaded", ModelUnavailable),
    ],
)
async def test_a_status_becomes_the_error_that_it_means(
    status: int, kind: str, message: str, expected: type[ModelError]
) -> None:
    found, asked = await failure_of([fault(status, kind, message)] * 3)

    assert (type(found), asked) == (expected, 1), found
    assert message.replace(KEY, "********") in str(found) or "ANTHROPIC_API_KEY" in str(found)


async def test_a_rate_limit_says_when_to_come_back_and_holds_until_then() -> None:
    limited = fault(429, "rate_limit_error", retry_after="300")
    async with asking([limited, Said("unheard")]) as (model, server):
        for _ in range(2):
            with pytest.raises(RateLimited) as caught:
                await answer_of(model)

    assert caught.value.retry_after_s == pytest.approx(60, abs=1)
    assert len(server.requests) == 1


@each_row(
    "kind, message, expected",
    [
        ("overloaded_error", "Overloaded", ModelUnavailable),
        ("api_error", "Internal server error", ModelUnavailable),
        ("rate_limit_error", "slow down", RateLimited),
        ("authentication_error", "no", SetupFault),
        ("permission_error", "no", SetupFault),
        ("invalid_request_error", "no", ModelRefused),
        ("invalid_request_error", TOO_LONG, ContextOverflow),
    ],
)
async def test_an_error_inside_a_stream_becomes_the_error_that_it_means(
    kind: str, message: str, expected: type[ModelError]
) -> None:
    begun = events(Said("half an answer"))[:5]
    found, asked = await failure_of([Events([*begun, event("error", error=error(kind, message)["error"])], done=False)])

    assert (type(found), asked) == (expected, 1), found


@each_row(
    "reply, expected",
    [
        (Said("broken off", cut_after=4), InvalidAnswer),
        (Said(""), InvalidAnswer),
        (Said(thinking="hm"), OnlyThought),
        (Said("half", stop="max_tokens"), CutOff),
        (Plain(b"<html>Sign in</html>"), SetupFault),
        (Plain(b'{"type": "message", "content": "x"}', "application/json"), InvalidAnswer),
        (Events([b"event: message_start\ndata: {broken\n\n"], done=False), InvalidAnswer),
        (Events(events(Said("cut in the middle"))[:5], done=False, abort=True), ModelUnavailable),
    ],
)
async def test_what_is_no_whole_answer_is_an_error(reply: Any, expected: type[ModelError]) -> None:
    assert type((await failure_of([reply]))[0]) is expected


async def test_an_answer_is_whole_at_its_last_event() -> None:
    async with asking([Events([*events(Said("whole")), 3_600.0], done=False)]) as (model, _):
        assert (await answer_of(model))[1].text == "whole"


async def test_silence_within_an_answer_is_a_timeout() -> None:
    found, _ = await failure_of([Events([*events(Said("a b"))[:4], 3_600.0], done=False)], chunk_timeout_s=0.05)

    assert isinstance(found, ModelTimeout)


ELSEWHERE = {
    "APIWebhookValidationError": "of webhooks",
    "RetryableError": "raised by middleware, of which there is none",
    "CredentialsError": "of credentials in files; ours are given",
    "IdentityTokenFileError": "of the same",
    "MissingStreamClassError": "a call without stream_cls; ours has one",
    "StreamAlreadyConsumed": "of the SDK's response objects; we read httpx2's own",
}


def test_every_exception_of_the_sdk_is_mapped_on_purpose() -> None:
    # Below ``lib`` are its tools, its own credentials and other clouds, none of which is in use here.
    roots = {"AnthropicError", "APIError", "Exception"}
    model = import_module("daemon.model.anthropic.anthropic_model").AnthropicModel
    kinds = [kind for kind in exceptions_of("anthropic") if not kind.__module__.startswith("anthropic.lib")]
    mapped = {kind for kind in model.kinds if kind.__name__ not in roots}
    unmapped = [kind.__name__ for kind in kinds if kind.__name__ not in roots and mapped.isdisjoint(kind.__mro__)]

    assert len(kinds) > 20
    assert set(unmapped) <= set(ELSEWHERE)


async def test_without_its_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    monkeypatch.delitem(sys.modules, "daemon.model.anthropic.anthropic_model", raising=False)

    with pytest.raises(ConfigError, match=r"pip install 'millpond\[anthropic\]'"):
        await connect(ModelConfig(api="anthropic", base_url="http://host", name="claude"))


def choosing(refused: str, holds: Any) -> Any:
    return lambda body: fault(400, "invalid_request_error", refused) if holds(body) else Said("fine")


@each_row(
    "refused, holds, learnt",
    [
        (
            "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku",
            lambda body: body["max_tokens"] > 4_096,
            "limit_most=4096",
        ),
        (
            "Thinking may not be enabled when tool_choice forces tool use.",
            lambda body: "tool_choice" in body,
            "force=False",
        ),
        (
            "system.0.cache_control: Extra inputs are not permitted",
            lambda body: "cache_control" in str(body),
            "cache=False",
        ),
        ("Streaming is not supported", lambda body: body["stream"], "stream=False"),
        (
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            lambda body: "signature" in str(body["messages"]),
            "form.own='none'",
        ),
        (
            "messages.0.content.1: this model does not support image input",
            lambda body: "'image'" in str(body["messages"]),
            "form.pictures=False",
        ),
    ],
)
async def test_one_refusal_teaches_the_dialect(refused: str, holds: Any, learnt: str) -> None:
    async with fake_anthropic([Said("I look.", [Call("time", id="toolu_1")], thinking="hm"), Said("fine")]) as first:
        model = await connect(config_of(first))
        _, answer = await answer_of(model, tools=(TOOL,))
        await model.aclose()
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    user = msgspec.json.encode({"role": "user", "content": [{"type": "text", "text": "hi"}, picture]})
    call = {"id": "toolu_1", "type": "function", "function": {"name": "time", "arguments": "{}"}}
    said = msgspec.json.encode({"role": "assistant", "content": "I look.", "tool_calls": [call]})
    result = msgspec.json.encode({"role": "tool", "content": "nine", "tool_call_id": "toolu_1"})

    async with asking(choosing(refused, holds)) as (model, server):
        own = answer.own.replace(first.base_url.split("//")[1].encode(), server.base_url.split("//")[1].encode())
        history = [user, with_own(said, own), result]
        for _ in range(2):
            asked = {"messages": history, "current": 3, "tools": (TOOL,), "force_tool": "time"}
            await answer_of(model, **asked, max_completion_tokens=8_192)

        assert changes(known_of(server_of(model._config)), dialect_of(server_of(model._config), "claude")) == learnt
    assert len(server.requests) == 3


async def test_a_refusal_that_teaches_nothing_is_told_after_one_request() -> None:
    call = {"id": "toolu_1", "type": "function", "function": {"name": "time", "arguments": "{}"}}
    said = msgspec.json.encode({"role": "assistant", "tool_calls": [call]})
    result = msgspec.json.encode({"role": "tool", "content": "nine", "tool_call_id": "toolu_1"})

    async with asking([fault(400, "invalid_request_error", "messages.1.content.0: wrong")] * 3) as (model, server):
        with pytest.raises(ModelRefused, match="wrong"):
            await answer_of(model, messages=[USER, said, result], tools=(TOOL,))

    assert len(server.requests) == 1


async def test_the_probe_exercises_tools_thinking_and_a_picture() -> None:
    claude = Claude(SUMMARY)
    async with fake_anthropic(claude) as server:
        found = await probe(BotConfig(), config_of(server, thinking=THINKING))

    assert (found, server.refusals) == ([], [])
    assert [server.requests[at].body["thinking"]["type"] for at in range(3)] == ["enabled"] * 3
    assert [claude.prompts[at][-1]["content"][-1]["type"] for at in range(3)] == ["text", "tool_result", "image"]


async def test_a_bot_continues_a_truncated_answer_and_reports_a_refusal(process: Process, lab: Lab) -> None:
    script = [Said("half an", stop="max_tokens"), Said(" answer"), Said("I", stop="refusal")]

    async with fake_anthropic(script) as server:
        conversation = Conversation(process, lab, config_of(server))
        said = [await conversation.say("one"), await conversation.say("two")]

    assert said == ["half an answer", f"I\n\n{sentence('filtered', 'en')}"]
    assert server.requests[1].body["messages"][-2]["content"][0]["text"] == "half an"
    assert server.refusals == []


@pytest.mark.parametrize("thinking", [ThinkingConfig(), THINKING], ids=["default", "enabled"])
async def test_a_conversation_with_tools_goes_on_with_anthropics_api(
    process: Process, lab: Lab, thinking: ThinkingConfig
) -> None:
    claude, other = Claude(SUMMARY), Gemini()

    async with fake_anthropic(claude) as one, fake_openai(other) as two:
        fallback = FallbackConfig(api="openai", base_url=two.base_url, name="second")
        config = config_of(one, name="first", thinking=thinking, fallbacks=(fallback,))
        said = await talk(Conversation(process, lab, config))

    log = [wire(entry) for entry in await lab.log()]
    assert said == ["done"] * len(said)
    # Two calls in each answer of Claude's, one in the other model's.
    assert sum(message["role"] == "tool" for message in log) == 7
    assert "secret" not in str([message["content"] for message in log if "content" in message])
    assert (one.refusals, other.refusals) == ([], [])
    assert one.requests[-1].body["system"][0]["cache_control"] == {"type": "ephemeral"}
