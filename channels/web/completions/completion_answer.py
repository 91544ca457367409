"""The answer to one message, as it comes."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

import anyio

from channels.conversation import Conversation, Said, Shown, Writing, settled_by
from channels.web.completions.completion_chunks import BETWEEN, Text
from daemon.events import Notice
from daemon.session import SessionReader

ANSWER_S = 600.0
"""Longest wait for an answer, as long as OpenAI's own clients wait by default."""

Write = Callable[[str], Awaitable[None]]


class Unanswered(Exception):
    """The message was accepted, but no answer came in time. The text is for the client."""


class Answer:
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

    async def ask(self, text: str, message_id: str) -> None:
        """Send the message; errors as for ``Conversation.send``. The answer to a repeated one may exist already."""
        state = await self._reader.state(self.session)
        self._is_next, self._first = not state.waiting, state.head
        accepted = await self._conversation.send(text, message_id=message_id)
        self.message_id = accepted.id
        self._known = await self._conversation.answer_to(accepted.id) if accepted.status == "duplicate" else None

    async def follow(self, write: Write | None = None) -> str:
        """The whole answer. ``write`` gets its text while it is written, piece by piece.

        Raises:
            Unanswered: the session is parked, or no answer came within ``ANSWER_S``.
        """
        try:
            with anyio.fail_after(ANSWER_S):
                return await self._followed(Text(write))
        except TimeoutError:
            raise Unanswered(
                f"No answer arrived within {ANSWER_S:g} s. {self._waits}{self._waits and ' '}The message was accepted "
                f"and will be answered in the conversation {self.session}."
            ) from None

    async def _followed(self, text: Text) -> str:
        if self._known is not None:
            return await self._whole(self._known, text)
        async with aclosing(self._conversation.events()) as events:
            async for shown in events:
                if self.message_id in settled_by(shown):
                    return await self._whole(shown, text)
                await self._show(shown, text)
        raise AssertionError("the event stream ended before the answer arrived")

    async def _whole(self, shown: Shown, text: Text) -> str:
        if isinstance(shown, Said):
            self.turn = shown.entry.turn
        said = shown.text if isinstance(shown, Said | Notice) else ""
        await text.grow(said)
        return BETWEEN.join([*self._spoken, said])

    async def _show(self, shown: Shown, text: Text) -> None:
        match shown:
            case Writing() if self._is_next and shown.turn >= self._first:
                # A piece of a message that is complete may arrive late.
                if not self._complete.startswith(shown.text):
                    await text.grow(shown.text)
            case Said(role="assistant") if settled_by(shown):
                # The turn of an earlier message has ended.
                self._is_next = (await self._reader.state(self.session)).waiting <= 1
                self._first = shown.index + 1
            case Said(role="assistant") if self._is_next and shown.entry.turn >= self._first:
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
