"""Strict servers of models, each as peculiar as a provider is documented to be in what it refuses and wants back.

    async with fake_openai(Kimi()) as server: ...

All of them talk the same way: a user's message with ``clock`` in it is answered with a call of the tool ``time``, the
result with ``done``, a request for a summary with one. A refusal is counted in ``refusals``.
"""

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar

from tests.fakes.openai_server import Call, Events, Failure, Plain, Reply, Say, completion, delta

KNOWN = {"role", "content", "tool_calls", "tool_call_id", "name"}  # fields of messages that every server takes
SUMMARY = json.dumps(
    {"history_entry": "[2026-11-20 09:00] They asked for the time.", "memory_update": "# Memory\n- time"}
)


class Provider:
    """A server that takes what OpenAI documents, and no field of anybody else."""

    call_id = "call_{name}_{number}"
    of_others = False  # whether calls of other models are refused that have none of its own fields
    message: ClassVar[dict[str, Any]] = {}  # fields of its own beside each call; ``{number}`` in them is the call's
    of_call: ClassVar[dict[str, Any]] = {}
    wants = "turn"  # of which answers it wants its own fields back: ``turn``, ``window`` or ``none``

    def __init__(self) -> None:
        self.refusals: list[str] = []
        self.prompts: list[list[dict[str, Any]]] = []
        """The messages of each request that was answered."""
        self._given: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        """Own fields of message and call, by the call's id."""

    def __call__(self, body: dict[str, Any]) -> Reply:
        messages: list[dict[str, Any]] = body["messages"]
        reason = self.refusal(body) or self._foreign(messages) or self._missing(messages)
        if reason:
            self.refusals.append(reason)
            return self.refused(reason)
        self.prompts.append(messages)
        if "save_memory" in json.dumps(body.get("tools", [])) or "save_memory" in str(messages[0].get("content")):
            return self.summary(body)
        if messages[-1]["role"] == "tool" or not re.search("clock|tool time", _said(messages[-1])):
            return self.say("done", body)
        return self.calls(body)

    def refusal(self, body: dict[str, Any]) -> str:
        """Why the request is refused; empty: it is not."""
        return ""

    def refused(self, reason: str) -> Reply:
        """The response to a request that is refused."""
        return Failure(400, reason)

    def say(self, text: str, body: dict[str, Any]) -> Reply:
        return Say(text)

    def summary(self, body: dict[str, Any]) -> Reply:
        name = self.call_id.format(name=type(self).__name__, number=len(self.prompts))
        return Say(calls=[Call("save_memory", SUMMARY, id=name)])

    def calls(self, body: dict[str, Any]) -> Reply:
        """A call of the tool, with what this server alone understands."""
        number = len(self.prompts)
        identity = self.call_id.format(name=type(self).__name__, number=number)
        message, of_call = _numbered(self.message, number), _numbered(self.of_call, number)
        self._given[identity] = (message, of_call)
        call = {"index": 0, "id": identity, "type": "function", "function": {"name": "time", "arguments": "{}"}}
        pieces = [delta(**{name: value}) for name, whole in message.items() for value in _pieces(whole)]
        return Events([*pieces, delta(tool_calls=[{**call, **of_call}]), delta("tool_calls")])

    def _foreign(self, messages: Sequence[dict[str, Any]]) -> str:
        for message in messages:
            if strange := set(message) - KNOWN - set(self.message):
                return f"messages: {min(strange)}: Extra inputs are not permitted"
            for call in message.get("tool_calls") or ():
                if strange := set(call) - {"id", "type", "function"} - set(self.of_call):
                    return f"tool_calls: {min(strange)}: Extra inputs are not permitted"
        return ""

    def _missing(self, messages: Sequence[dict[str, Any]]) -> str:
        first = 0 if self.wants == "window" else max(at for at, each in enumerate(messages) if each["role"] == "user")
        for message in messages[first:] if self.wants != "none" else ():
            for call in message.get("tool_calls") or ():
                unknown = (self.message, self.of_call) if self.of_others else ({}, {})
                own, of_call = self._given.get(call["id"], unknown)
                for name, value in own.items():
                    if message.get(name) != value:
                        return f"The {name} of a message with tool calls must be passed back"
                for name, value in of_call.items():
                    if call.get(name) != value:
                        return f"A function call is missing its {name}"
        return ""


class DeepSeek(Provider):
    """Wants ``reasoning_content`` back with the calls of the turn in progress (thinking mode)."""

    of_others = True
    message: ClassVar[dict[str, Any]] = {"reasoning_content": "I look at the clock, {number}."}

    def refusal(self, body: dict[str, Any]) -> str:
        return "Unrecognized request argument: max_completion_tokens" if "max_completion_tokens" in body else ""


class Kimi(DeepSeek):
    wants = "window"


class Gemini(Provider):
    """Its OpenAI-compatible address wants the signature of each thought back with the call."""

    of_others = True
    of_call: ClassVar[dict[str, Any]] = {"extra_content": {"google": {"thought_signature": "c2ln{number}=="}}}


class OpenRouter(Provider):
    """Wants ``reasoning_details`` back, a list whose texts come in pieces and whose signature comes last."""

    message: ClassVar[dict[str, Any]] = {
        "reasoning_details": [
            {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1", "text": "The clock, {number}."},
            {"type": "reasoning.encrypted", "index": 1, "format": "openai-responses-v1", "data": "ZGF0YQ{number}"},
        ]
    }


class Mistral(Provider):
    """Takes ids of exactly nine letters and digits, ``max_tokens`` and nothing of anybody's reasoning."""

    call_id = "abcd{number:05}"

    def refusal(self, body: dict[str, Any]) -> str:
        if "max_completion_tokens" in body:
            return "max_completion_tokens: Extra inputs are not permitted"
        for message in body["messages"]:
            for identity in [call["id"] for call in message.get("tool_calls") or ()] + [message.get("tool_call_id")]:
                if identity is not None and not re.fullmatch("[a-zA-Z0-9]{9}", identity):
                    return f"Tool call id was {identity} but must be a-z, A-Z, 0-9, with a length of 9."
        return ""


class OpenAI(Provider):
    """Takes ``max_completion_tokens`` alone, ids of at most 40 characters, and a schema of an object for each tool."""

    def refusal(self, body: dict[str, Any]) -> str:
        if "max_tokens" in body:
            return "Unsupported parameter: 'max_tokens' is not supported with this model."
        for message in body["messages"]:
            for call in message.get("tool_calls") or ():
                if len(call["id"]) > 40:
                    return "Invalid 'tool_calls[0].id': string too long. Expected a string with maximum length 40."
        for tool in body.get("tools", ()):
            if tool["function"].get("parameters", {}).get("type", "object") != "object":
                return "Invalid schema for function: schema must be a JSON Schema of 'type: \"object\"'"
        return ""


class Azure(OpenAI):
    """The same, with the verdicts of its content filter in chunks of their own."""

    def say(self, text: str, body: dict[str, Any]) -> Reply:
        verdict = {"hate": {"filtered": False, "severity": "safe"}}
        first = {"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": verdict}]}
        last = {"choices": [{"index": 0, "finish_reason": None, "content_filter_results": verdict}]}
        events = [f"data: {json.dumps(event)}\n\n".encode() for event in (first, last)]
        return Events([events[0], delta(content=text), delta("stop"), events[1]])


class Groq(Provider):
    """Gives ``reasoning`` with each call, and refuses it in a request."""

    message: ClassVar[dict[str, Any]] = {"reasoning": "I look at the clock, {number}."}
    wants = "none"

    def refusal(self, body: dict[str, Any]) -> str:
        if "prompt_cache_key" in body:
            return "property 'prompt_cache_key' is unsupported"
        known = any("reasoning" in message for message in body["messages"])
        return "'messages.2' : for 'role:assistant' the property 'reasoning' is unsupported" if known else ""


class Qwen(Provider):
    """Answers as a stream only, thinks, and cannot be forced to call a tool while it does."""

    message: ClassVar[dict[str, Any]] = {"reasoning_content": "I look at the clock, {number}."}
    wants = "none"

    def refusal(self, body: dict[str, Any]) -> str:
        if not body.get("stream"):
            return "This model only support stream mode, please enable the stream parameter to access the model."
        if isinstance(body.get("tool_choice"), dict):
            return "The tool_choice parameter does not support being set to required or object in thinking mode"
        return ""


class Glm(Qwen):
    """Takes no ``tool_choice`` but ``auto``, and wants its reasoning back within the turn."""

    wants = "turn"

    def refusal(self, body: dict[str, Any]) -> str:
        return "tool_choice only supports auto" if body.get("tool_choice", "auto") != "auto" else ""


class Silent(Provider):
    """Knows as little as ``Plainest``, ``EmptyContent`` and ``Mistral``, and says of a refusal only that it is one."""

    call_id = "abcd{number:05}"

    def refusal(self, body: dict[str, Any]) -> str:
        strange = {"stream_options", "max_completion_tokens"} & set(body) or isinstance(body.get("tool_choice"), dict)
        return "Bad request" if strange or EmptyContent().refusal(body) or Mistral().refusal(body) else ""

    def refused(self, reason: str) -> Reply:
        return Plain(b"<html><body>Bad request</body></html>", status=400)


class Template(Provider):
    """llama.cpp, whose chat template fails with status 500 on a message that it does not know."""

    def refusal(self, body: dict[str, Any]) -> str:
        roles = {message["role"] for message in body["messages"]}
        return "Only user and assistant roles are supported! at row 1, column 2" if "system" in roles else ""

    def refused(self, reason: str) -> Reply:
        return Failure(500, reason)


class WholeArguments(Provider):
    """Parses the arguments of the calls in a history, some of which its model writes wrongly."""

    def refusal(self, body: dict[str, Any]) -> str:
        for message in body["messages"]:
            for call in message.get("tool_calls") or ():
                try:
                    json.loads(call["function"]["arguments"])
                except ValueError:
                    return "Value looks like object, but can't find closing '}' symbol"
        return ""

    def refused(self, reason: str) -> Reply:
        return Failure(500, reason)

    def calls(self, body: dict[str, Any]) -> Reply:
        return Say(calls=[Call("time", '{"zone": "U', id=f"call_{len(self.prompts)}")])


class SmallWindow(Provider):
    """vLLM with a window that the configured answer alone would fill."""

    def refusal(self, body: dict[str, Any]) -> str:
        asked, window = body.get("max_completion_tokens", 0), 8_192
        return (
            f"This model's maximum context length is {window} tokens. However, you requested {asked + 3_000} tokens "
            f"(3000 in the messages, {asked} in the completion). Please reduce the length of the messages."
            if asked + 3_000 > window
            else ""
        )


class Fragments(Provider):
    """Sends calls without an index, the name and new ids in every fragment, and an empty call at the end."""

    def calls(self, body: dict[str, Any]) -> Reply:
        pieces = [
            {"id": f"c{number}", "function": {"name": "time", "arguments": piece}}
            for number, piece in enumerate(("{", "}"), 2 * len(self.prompts))
        ]
        last = {"index": 0, "id": "", "function": {"name": "", "arguments": ""}}
        return Events(
            [delta(tool_calls=[{"index": 0, **piece}]) for piece in pieces] + [delta(tool_calls=[last]), delta("stop")]
        )


class ThinksInTags(Provider):
    """MiniMax: reasoning in tags of its own, calls as XML in the text, and a result in each event."""

    def say(self, text: str, body: dict[str, Any]) -> Reply:
        pieces = ["<mm:think", " time=3>A secret", " thought.</mm:", "think>\n", text]
        last = {
            "choices": [{"message": {"content": "again"}, "finish_reason": "stop"}],
            "base_resp": {"status_code": 0},
        }
        return Events([*(delta(content=piece) for piece in pieces), last], done=False)

    def calls(self, body: dict[str, Any]) -> Reply:
        return Say(
            '<think>A secret.</think>\n<minimax:tool_call>\n<invoke name="time">\n</invoke>\n</minimax:tool_call>'
        )


class EmptyContent(Provider):
    """Wants an empty text beside calls, where others leave the content out."""

    def refusal(self, body: dict[str, Any]) -> str:
        bare = any("tool_calls" in message and message.get("content") is None for message in body["messages"])
        return "messages.1.content: Input should be a valid string" if bare else ""


class NullContent(Provider):
    def refusal(self, body: dict[str, Any]) -> str:
        bare = [message for message in body["messages"] if "tool_calls" in message]
        wrong = any("content" not in message or message["content"] == "" for message in bare)
        return "content must be null or a non-empty string for a message with tool calls" if wrong else ""


class Ollama(Provider):
    def refusal(self, body: dict[str, Any]) -> str:
        told = any(message["role"] == "tool" or message.get("tool_calls") for message in body["messages"])
        return "registry.ollama.ai/library/gemma:2b does not support tools" if "tools" in body or told else ""

    def calls(self, body: dict[str, Any]) -> Reply:
        return self.say("done", body)

    def summary(self, body: dict[str, Any]) -> Reply:
        return Say(SUMMARY)


class ChatTemplate(Provider):
    """A model whose chat template knows no system message and wants roles to alternate, with a strict tool parser."""

    def refusal(self, body: dict[str, Any]) -> str:
        roles = [message["role"] for message in body["messages"]]
        if "system" in roles:
            return "System role not supported"
        if any(one == other == "user" for one, other in itertools.pairwise(roles)):
            return "Conversation roles must alternate user/assistant/user/assistant/..."
        if "additionalProperties" in json.dumps(body.get("tools")):
            return "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].parameters'"
        return ""


class NoStream(Provider):
    def refusal(self, body: dict[str, Any]) -> str:
        return "Streaming is not supported for this model" if body.get("stream") else ""

    def calls(self, body: dict[str, Any]) -> Reply:
        whole = completion(Say(calls=[Call("time", id=f"call_{len(self.prompts)}")]))
        return Plain(json.dumps(whole).encode(), content_type="application/json")


class Plainest(Provider):
    """Knows neither ``stream_options`` nor ``max_completion_tokens`` nor a forced tool, as older servers."""

    def refusal(self, body: dict[str, Any]) -> str:
        for name in ("stream_options", "max_completion_tokens", "tool_choice"):
            if name in body:
                return f"Unrecognized request argument supplied: {name}"
        return ""


class ShortAnswers(Provider):
    """Takes no more than 4,096 tokens of answer."""

    def refusal(self, body: dict[str, Any]) -> str:
        asked = body.get("max_completion_tokens", 0)
        text = f"max_completion_tokens is too large: {asked}. This model supports at most 1024 completion tokens"
        return text if asked > 1024 else ""


class CallsAsText(Provider):
    def calls(self, body: dict[str, Any]) -> Reply:
        return Say('<tool_call>\n{"name": "time", "arguments": {}}\n</tool_call>')


class ThinksAloud(Provider):
    """Its template has written the first mark of the reasoning, so that only the second one comes."""

    def say(self, text: str, body: dict[str, Any]) -> Reply:
        return Say(f"A secret thought.\n</think>\n\n{text}")


class Channels(Provider):
    """gpt-oss behind a server that does not know its format."""

    def say(self, text: str, body: dict[str, Any]) -> Reply:
        return Say(
            "<|channel|>analysis<|message|>A secret thought.<|end|><|start|>assistant<|channel|>final<|message|>"
            f"{text}<|return|>"
        )

    def calls(self, body: dict[str, Any]) -> Reply:
        return Say("<|channel|>commentary to=functions.time <|constrain|>json<|message|>{}<|call|>")


class Endless(Provider):
    """Ends its streams with the marker alone, and half a character in each of two chunks."""

    def say(self, text: str, body: dict[str, Any]) -> Reply:
        first, second = (f'{{"choices":[{{"delta":{{"content":"{half}"}}}}]}}' for half in (r"\ud83d", r"\ude00 "))
        pieces = [f"data: {piece}\n\n".encode() for piece in (first, second)]
        return Events([b": keep-alive\n\n", *pieces, delta(content=text)])


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else json.dumps(content)


def _said(message: dict[str, Any]) -> str:
    """What a message says, without the runtime context and all that is recalled beside it."""
    return re.sub(r"\[Runtime context\]\n(?:.+\n)+", "", _text(message))


def _numbered(fields: dict[str, Any], number: int) -> dict[str, Any]:
    return json.loads(json.dumps(fields).replace("{number}", str(number)))


def _pieces(value: Any) -> list[Any]:
    """A value as a stream brings it: texts in two pieces, in lists as well."""
    if isinstance(value, str):
        return [value[:3], value[3:]]
    if isinstance(value, list):
        first = [{**each, **{n: each[n][:3] for n in ("text", "data") if n in each}} for each in value]
        rest = [
            {"type": each["type"], "index": each["index"], **{n: each[n][3:] for n in ("text", "data") if n in each}}
            for each in value
        ]
        return [first, rest]
    return [value]
