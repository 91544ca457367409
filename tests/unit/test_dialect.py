"""What a server takes is learnt from the words of its refusals, and what is no refusal of a form teaches nothing."""

from typing import Any

import msgspec

from daemon.config.schema import ModelConfig
from daemon.model.adaptation import MessageForm, with_own
from daemon.model.chat_model import Request
from daemon.model.dialect import PROVIDERS, Dialect, changes, dialect_of, host_of, known_of, server_of

TOOL = b'{"type":"function","function":{"name":"save_memory"}}'
CALLS = b'{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"time","arguments":"{}"}}]}'
PICTURE = b'{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,"}}]}'
SYSTEM, USER = b'{"role":"system","content":"be kind"}', b'{"role":"user","content":"hi"}'
REQUEST = Request(
    messages=[SYSTEM, USER, USER, with_own(CALLS, b'{"of":"h m"}'), PICTURE],
    tools=[TOOL],
    force_tool="save_memory",
    max_completion_tokens=8_192,
)
BARE = Request(messages=[USER], max_completion_tokens=8_192)


def learnt(refusal: str, *, request: Request = REQUEST, **known: object) -> str:
    dialect = Dialect(**known)  # type: ignore[arg-type]
    changed = dialect.without(refusal, request)
    return "" if changed is None else changes(dialect, changed)


def test_a_refusal_teaches_what_it_names() -> None:
    expected = {
        "registry.ollama.ai/library/gemma:2b does not support tools": "force=False, tools=False",
        "No endpoints found that support tool use. Try disabling a tool": "force=False, tools=False",
        "Tool calling is disabled": "force=False, tools=False",
        '"auto" tool choice requires --enable-auto-tool-choice to be set': "force=False, tools=False",
        "Function calling is not enabled for this model": "force=False, tools=False",
        "Unrecognized request argument supplied: stream_options": "usage=False",
        "property 'prompt_cache_key' is unsupported": "key=False",
        "body.prompt_cache_key: Extra inputs are not permitted": "key=False",
        'Invalid JSON payload received. Unknown name "prompt_cache_key": Cannot find field.': "key=False",
        "body.stream_options: Extra inputs are not permitted": "usage=False",
        "Streaming is not supported for this model": "stream=False",
        "'stream' must be set to false": "stream=False",
        "Unknown parameter: 'max_completion_tokens'": "limit='max_tokens'",
        "max_completion_tokens is too large: 8192. This model supports at most 4096 tokens": "limit_most=4096",
        "Invalid max_completion_tokens value, the valid range is [1, 8000]": "limit_most=8000",
        "max_tokens (8192) exceeds the limit of 4,096": "limit_most=4096",
        "`max_tokens` must be <= `4096` (400)": "limit_most=4096",
        "max_tokens参数非法。最大4095": "limit_most=4095",
        "The value of max_tokens is too large": "limit_most=4096",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 200 and 8192": "limit_most=4096",
        "tool_choice 'specified' is not supported in thinking mode": "force=False",
        "Tool call id was call_12 but must be a-z, A-Z, 0-9, with a length of 9.": "form.ids='nine'",
        "Invalid tool call id: it must have a length of 9 characters": "form.ids='nine'",
        "messages.1.content: Input should be a valid string": "form.content='empty'",
        "The reasoning_content in the thinking mode must be passed back to the API.": "form.own='window'",
        "messages.2.reasoning_content: Extra inputs are not permitted": "form.own='none'",
        "Function call is missing a thought_signature in functionCall parts.": "form.own='window'",
        "This model does not support image input": "form.pictures=False",
        "json: cannot unmarshal array into Go struct field Message.messages.content": "form.pictures=False",
        "Value looks like object, but can't find closing '}' symbol": "form.arguments='object'",
        "Failed to parse tool call arguments as JSON": "form.arguments='object'",
        "Corrupted thought signature.": "form.own='none'",
        "Only user and assistant roles are supported!": "form.system='user'",
        "Conversation should start with a user message": "form.system='user'",
        "Unexpected role 'user' after role 'tool'": "form.alternate=True",
        "System role not supported": "form.system='user'",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.": "form.system='user'",
        "Developer instruction is not enabled for models/gemma-3-27b-it": "form.system='user'",
        "Conversation roles must alternate user/assistant/user/assistant/...": "form.alternate=True",
        'roles must alternate between "user" and "assistant", but found multiple "user"': "form.alternate=True",
        "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0]'": "schemas='plain'",
        "Invalid schema for function 'time': 'oneOf' is not permitted": "schemas='plain'",
        "Tool choice must be auto": "force=False",
        "Invalid 'tools[0].function.parameters.properties.zone': unknown name": "schemas='plain'",
        "failed to parse grammar": "schemas='plain'",
    }

    assert {refusal: learnt(refusal) for refusal in expected} == expected


def test_what_was_learnt_is_not_tried_again() -> None:
    refusals = {
        "does not support tools": {"tools": False, "force": False, "form": MessageForm(own="none")},
        "Streaming is not supported": {"stream": False},
        "The reasoning_content must be passed back": {"form": MessageForm(own="none", foreign="text", content="null")},
        "Unknown parameter: 'max_tokens'": {"limit": "max_tokens"},
        "messages.1.content: Input should be valid": {"form": MessageForm(content="null", own="none")},
    }

    assert {refusal for refusal, known in refusals.items() if learnt(refusal, **known)} == set()


def test_a_refusal_of_what_was_not_sent_teaches_nothing() -> None:
    texts = [
        "content is required",
        "tool_call_id is invalid",
        "images are not supported",
        "reasoning_content missing",
        "tools are not supported",
        "System role not supported",
        "roles must alternate",
        "additionalProperties is not supported",
    ]

    assert [text for text in texts if learnt(text, request=BARE)] == []


def test_a_request_is_written_as_the_dialect_says() -> None:
    plain = Dialect(limit="max_tokens", limit_most=1_024, stream=False, usage=False, force=False)

    body = msgspec.json.decode(plain.body("m", REQUEST))

    assert body["max_tokens"] == 1_024
    assert body["stream"] is False
    assert {"stream_options", "tool_choice", "max_completion_tokens"} & set(body) == set()
    assert body["tools"] == [msgspec.json.decode(TOOL)]


def test_a_server_without_tools_is_asked_for_the_arguments_as_text() -> None:
    body = msgspec.json.decode(Dialect(tools=False).body("m", REQUEST))

    assert "tools" not in body
    assert "save_memory" in body["messages"][-1]["content"]


def test_providers_are_known_by_the_end_of_their_host() -> None:
    assert dialect_of("api.mistral.ai", "m").form.ids == "nine"
    assert dialect_of("mistral.ai.example.com", "m") == Dialect()
    assert host_of("https://user:secret@Api.Mistral.ai:443/v1") == "api.mistral.ai:443"
    assert host_of("http://[::1/v1") == ""


def test_two_apis_of_one_host_have_a_dialect_each() -> None:
    openai = ModelConfig(base_url="https://api.deepseek.com/v1", name="m")
    anthropic = ModelConfig(api="anthropic", base_url="https://api.deepseek.com/anthropic", name="m")

    assert known_of(server_of(openai)) == PROVIDERS["deepseek.com"]
    assert known_of(server_of(anthropic)) == Dialect()


def body_of(dialect: Dialect, model: str, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    wires = [msgspec.json.encode(message) for message in messages]
    return msgspec.json.decode(dialect.body(model, Request(messages=wires, max_completion_tokens=100, **more)))


def test_what_a_model_alone_understands_is_sent_to_that_model_alone() -> None:
    def sent_to(of: str) -> Any:
        return msgspec.json.decode(Dialect(form=MessageForm(own="window")).body("m", request, of=of))["messages"]

    own = msgspec.json.encode({"of": "h m", "message": {"reasoning_content": "I think"}, "calls": []})
    request = Request(messages=[USER, with_own(b'{"role":"assistant","content":"so"}', own)], max_completion_tokens=1)
    bare = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "so"}]

    assert sent_to("h other") == bare
    assert sent_to("h m") == [bare[0], {**bare[1], "reasoning_content": "I think"}]


def test_requests_that_begin_alike_are_named_until_the_name_is_refused() -> None:
    told = {"role": "user", "content": "hi"}

    assert body_of(Dialect(), "m", told, cache_key="k")["prompt_cache_key"] == "k"
    assert "prompt_cache_key" not in body_of(Dialect(), "m", told)
    assert "prompt_cache_key" not in body_of(Dialect(key=False), "m", told, cache_key="k")
    assert not any(plain.key or plain.marks for plain in Dialect(marks=True).plainer())


def test_four_marks_at_most_tell_openrouter_what_stays_and_none_stands_at_a_result() -> None:
    texts = [*("rules", "compressed", "understood", "first", "reply", "now"), "", "found"]
    roles = ["system", *("user", "assistant") * 2, "user", "assistant", "tool"]
    messages: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
    openrouter = known_of("openrouter.ai")

    def marked(model: str, upto: int = 6, **more: Any) -> list[str]:
        body = body_of(openrouter, model, *messages[:upto], **more)
        parts = [
            part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]
        ]
        assert all(part["cache_control"] == {"type": "ephemeral"} for part in parts)
        return [part["text"] for part in parts]

    assert marked("anthropic/claude", current=1, head=3) == ["rules", "understood", "reply", "now"]
    assert marked("anthropic/claude", 8, current=3) == ["rules", "reply", "now"]
    assert marked("anthropic/claude") == marked("openai/gpt", current=1) == []
    changed = openrouter.without("messages.0.content.0.cache_control: Extra inputs are not permitted", REQUEST)
    assert changed is not None
    assert changes(openrouter, changed) == "marks=False"
