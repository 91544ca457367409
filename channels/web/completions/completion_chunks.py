"""What a client gets: one object, or the chunks of a stream.

Source of the form: OpenAI's reference, "The chat completion object" and "The chat completion chunk object".
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from daemon.traces import Trace

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
"""A comment, which clients ignore."""

BETWEEN = "\n\n"
"""Between two texts of one answer."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """The fields that all objects of one answer share."""

    id: str
    created: int
    """Seconds since 1970."""
    model: str

    def completion(self, text: str, usage: dict[str, Any] | None) -> dict[str, Any]:
        """The whole answer."""
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        found = {**self._head("chat.completion"), "choices": [choice]}
        return found | {"usage": usage} if usage else found

    def piece(self, text: str, *, first: bool) -> bytes:
        """A chunk with text."""
        delta = {"role": "assistant", "content": text} if first else {"content": text}
        return self._chunk([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}])

    def end(self) -> bytes:
        """The chunk after the last text."""
        return self._chunk([{"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}])

    def usage(self, usage: dict[str, Any]) -> bytes:
        """The chunk with the tokens of the turn."""
        return self._chunk([], usage=usage)

    def _chunk(self, choices: list[dict[str, Any]], **more: object) -> bytes:
        body = {**self._head("chat.completion.chunk"), "choices": choices, **more}
        return b"data: %s\n\n" % msgspec.json.encode(body)

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def usage_of(trace: Trace | None) -> dict[str, Any] | None:
    """The tokens of all model calls of a turn."""
    if trace is None:
        return None
    calls = [span for span in trace.spans if span.prompt_tokens]
    prompt, completion = sum(span.prompt_tokens for span in calls), sum(span.completion_tokens for span in calls)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": sum(span.cached_tokens for span in calls)},
    }


class Text:
    """The text of an answer as one client has received it. A text that was sent cannot be taken back."""

    def __init__(self, write: Callable[[str], Awaitable[None]] | None) -> None:
        self._write = write
        self._sent = ""
        """Of the current message of the answer."""
        self._begun = False

    async def grow(self, text: str) -> None:
        """Send the part of the current message, now ``text``, that the client lacks; all of it if the text differs."""
        if self._write is None or self._sent.startswith(text):
            return  # another attempt has not come as far, or the answer lost white space at its end
        known = len(self._sent) if text.startswith(self._sent) else 0
        between = BETWEEN if self._begun and not known else ""
        self._sent, self._begun = text, True
        await self._write(between + text[known:])

    def end_message(self) -> None:
        """The next text belongs to another message."""
        self._sent = ""
