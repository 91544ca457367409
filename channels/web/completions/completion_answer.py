"""The answer to one message, as it comes.

Source of the form: OpenAI's reference, "The chat completion object" and "The chat completion chunk object".
"""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import anyio
import msgspec

from channels.conversation import AnswerProgress, Conversation, ConversationEntry, Shown, settled_by
from daemon.events import Attachment, Notice
from daemon.session import SessionReader, pending_of
from daemon.traces import Trace

# What a client gets: one object, or the chunks of a stream.

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
"""A comment, which clients ignore."""

BETWEEN = "\n\n"
"""Between two texts of one answer."""


class CompletionForm(msgspec.Struct, frozen=True, kw_only=True):
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


class ClientText:
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


ANSWER_S = 600.0
"""Longest wait for an answer, as long as OpenAI's own clients wait by default."""

Write = Callable[[str], Awaitable[None]]


class Unanswered(Exception):
    """The message was accepted, but no answer came in time. The text is for the client."""


class CompletionAnswer:
    """The answer to a message that ``ask`` sends and ``follow`` waits for."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._reader = SessionReader(conversation.process.bus)
        self._is_next = False
        """Whether the turn in progress or the next one is that of the message."""
        self._first = 0
        """The least index at which that turn can begin."""
        self._known: Shown | None = None
        self._waits = ""
        self._complete = ""
        """Text of the last message of the turn that is complete."""
        self._spoken: list[str] = []
        """What the turn said before its answer, with the tool ``message``."""
        self.message_id = ""
        self.turn: int | None = None
        """The index at which the turn began; None until the answer is there, and for a command."""

    @property
    def session(self) -> str:
        """The session's key as text."""
        return self._conversation.session

    async def ask(self, text: str, message_id: str, files: tuple[Attachment, ...] = ()) -> None:
        """Send the message; errors as for ``Conversation.send``. The answer to a repeated one may exist already."""
        state = await self._reader.state(self.session)
        self._first = state.head
        accepted = await self._conversation.send(text, message_id=message_id, files=files)
        self.message_id = accepted.id
        # Another client's message may have been accepted since the state was read.
        pending = await pending_of(self._conversation.process.bus, self.session, limit=1)
        self._is_next = not state.waiting and all(message.id == accepted.id for message in pending)
        self._known = await self._conversation.answer_to(accepted.id) if accepted.status == "duplicate" else None

    async def follow(self, write: Write | None = None) -> str:
        """The whole answer. ``write`` gets its text while it is written, piece by piece.

        Raises:
            Unanswered: the session is parked, or no answer came within ``ANSWER_S``.
        """
        try:
            with anyio.fail_after(ANSWER_S):
                return await self._followed(ClientText(write))
        except TimeoutError:
            kept = f"The message was accepted and will be answered in conversation {self.session}."
            texts = [f"No answer arrived within {ANSWER_S:g} s.", self._waits, kept]
            raise Unanswered(" ".join(filter(None, texts))) from None

    async def _followed(self, text: ClientText) -> str:
        if self._known is not None:
            return await self._whole(self._known, text)
        async with aclosing(self._conversation.events()) as events:
            async for shown in events:
                if self.message_id in settled_by(shown):
                    return await self._whole(shown, text)
                await self._show(shown, text)
        raise AssertionError("the event stream ended before the answer arrived")

    async def _whole(self, shown: Shown, text: ClientText) -> str:
        if isinstance(shown, ConversationEntry):
            self.turn = shown.entry.turn
        said = shown.text if isinstance(shown, ConversationEntry | Notice) else ""
        await text.grow(said)
        return BETWEEN.join([*self._spoken, said])

    async def _show(self, shown: Shown, text: ClientText) -> None:
        match shown:
            case AnswerProgress() if self._is_next and shown.turn >= self._first:
                # A piece of a message that is complete may arrive late.
                if not self._complete.startswith(shown.text):
                    await text.grow(shown.text)
            case ConversationEntry(role="assistant") if settled_by(shown):
                # The turn of an earlier message has ended.
                self._is_next = (await self._reader.state(self.session)).waiting <= 1
                self._first = shown.index + 1
            case ConversationEntry(role="assistant") if self._is_next and shown.entry.turn >= self._first:
                await text.grow(shown.text)
                text.end_message()
                self._complete = shown.text
            case Notice(kind="message") if self._is_next:
                self._spoken.append(shown.text)
                await text.grow(shown.text)
                text.end_message()
            case Notice(kind="parked"):
                if shown.message_id == self.message_id:
                    raise Unanswered(shown.text)
                self._waits = shown.text
            case _:
                pass
