"""The events of Anthropic's streams in the form of the chat completions API, so that one reader puts answers together.

https://platform.claude.com/docs/en/build-with-claude/streaming
"""

from typing import Any, cast

import msgspec

from daemon.model import provider_fields
from daemon.model.answer_parts import AnswerChoice, Payload

_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


class _Block(msgspec.Struct):
    type: str = ""
    id: str = ""
    name: str = ""
    input: object = None
    text: str = ""
    thinking: str = ""
    signature: str = ""
    data: str = ""


class _Delta(msgspec.Struct):
    type: str = ""
    text: str = ""
    partial_json: str = ""
    thinking: str = ""
    signature: str = ""
    stop_reason: str | None = None


class _Message(msgspec.Struct):
    model: str | None = None
    content: list[_Block] = []
    stop_reason: str | None = None
    usage: object = None


class _Event(_Message):
    """An event, or the whole message of a server without streams."""

    type: str = ""
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    error: object = None


class AnthropicEvents:
    """Reads the events of one answer."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._reports_cached = False
        self._texts = 0
        self._calls = 0

    def read(self, fields: object) -> Payload:
        """What an event adds.

        Raises:
            msgspec.ValidationError: it has another shape.
        """
        event = msgspec.convert(fields, _Event, strict=False)
        if event.type == "error" or event.error:
            return Payload(error=event.error or "no reason given")
        if event.message is not None:
            return Payload(model=event.message.model, usage=self._usage(event.message.usage))
        if event.type == "message":
            return self._whole(event)
        if event.content_block is not None:
            return _added(self._begun(event.index, event.content_block))
        if event.type == "message_delta" and event.delta is not None:
            finish = _finish(event.delta.stop_reason)
            return Payload(choices=[AnswerChoice(delta={}, finish_reason=finish)], usage=self._usage(event.usage))
        return _added(_goes_on(event.index, event.delta)) if event.delta is not None else Payload()

    def _whole(self, message: _Event) -> Payload:
        delta: dict[str, object] = {}
        for index, block in enumerate(message.content):
            for name, value in self._begun(index, block).items():
                delta[name] = delta[name] + value if name in delta else value
        choice = AnswerChoice(delta=delta, finish_reason=_finish(message.stop_reason))
        return Payload(choices=[choice], usage=self._usage(message.usage), model=message.model)

    def _begun(self, index: int, block: _Block) -> dict[str, Any]:
        """A block that begins; without a stream it is all there."""
        if block.type == "text":
            self._texts += 1
            return {"content": block.text}
        if block.type == "tool_use":
            self._calls += 1
            arguments = msgspec.json.encode(block.input).decode() if block.input else ""
            function = {"name": block.name, "arguments": arguments}
            return {"tool_calls": [{"index": index, "id": block.id, "function": function}]}
        at = 1 + self._calls if self._texts or self._calls else 0
        if block.type == "thinking":
            return _thought(index, at=at, thinking=block.thinking, signature=block.signature)
        if block.type == "redacted_thinking":
            return {provider_fields.BLOCKS: [{"type": block.type, "index": index, "at": at, "data": block.data}]}
        return {}

    def _usage(self, given: object) -> dict[str, object] | None:
        """The counts so far; later ones replace those before, and 0 is no count."""
        said = cast("dict[str, object]", given) if isinstance(given, dict) else {}
        self._reports_cached |= "cache_read_input_tokens" in said
        self._counts |= {name: count for name in _COUNTS if isinstance(count := said.get(name), int) and count > 0}
        fresh, read, written, out = (self._counts.get(name, 0) for name in _COUNTS)
        counts: dict[str, object] = {"prompt_tokens": fresh + read + written, "completion_tokens": out}
        if self._reports_cached:
            counts["prompt_tokens_details"] = {"cached_tokens": read, "cache_write_tokens": written}
        return counts if self._counts else None


def _goes_on(index: int, delta: _Delta) -> dict[str, Any]:
    """A block of which more comes."""
    if delta.type == "text_delta":
        return {"content": delta.text}
    if delta.type == "input_json_delta":
        return {"tool_calls": [{"index": index, "function": {"arguments": delta.partial_json}}]}
    if delta.type in ("thinking_delta", "signature_delta"):
        return _thought(index, thinking=delta.thinking, signature=delta.signature)
    return {}


def _thought(index: int, **fields: object) -> dict[str, Any]:
    return {provider_fields.BLOCKS: [{"type": "thinking", "index": index, **fields}]}


def _added(delta: dict[str, Any]) -> Payload:
    return Payload(choices=[AnswerChoice(delta=delta)])


def _finish(reason: str | None) -> str | None:
    # It is to be continued, as after the limit.
    return "length" if reason == "pause_turn" else reason
