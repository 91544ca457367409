"""Creates log entries. The tokens of each entry are counted once, here."""

import re
from collections.abc import Sequence

import msgspec

from daemon.clock import Clock, stamp
from daemon.events import NOTHING, Inbound, LogEntry, Overheard
from daemon.model import Answer, ToolCall
from daemon.tokens import Tokenizer
from workers.agent.prompt.user_messages import own, words_of
from workers.message_format import CALLS, shown_result
from workers.tools import Content, ToolResult


class _Function(msgspec.Struct, frozen=True):
    name: str
    arguments: str


class _Call(msgspec.Struct, frozen=True):
    id: str
    function: _Function
    type: str = "function"


class _Wire(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message in the form of the chat completions API, as it is stored."""

    role: str
    content: Content | None = None
    tool_calls: tuple[_Call, ...] = ()
    tool_call_id: str = ""


class _Links(msgspec.Struct, frozen=True):
    """What ties calls and results together; the content, which may be a picture, is skipped and not read."""

    tool_calls: tuple[_Call, ...] = ()
    tool_call_id: str = ""


CONTINUE = (
    "[Your answer reached the length limit. Continue exactly where your answer ended. Do not repeat anything, "
    "and do not "
    "mention this note.]"
)
NAME_MAX_CHARS = 64
_NO_NAME_CHAR = re.compile(r"[^a-zA-Z0-9_-]")

_decode = msgspec.json.Decoder(_Links).decode
_encode = msgspec.json.Encoder().encode


class LogEntries:
    """Makes the entries of one turn."""

    def __init__(self, tokenizer: Tokenizer, clock: Clock, *, turn: int, vision: bool = True) -> None:
        self._tokenizer = tokenizer
        self._vision = vision
        self.clock = clock
        """Tells when each was written."""
        self._turn = turn

    async def said(
        self, inbound: Inbound, lines: Sequence[str] | None = None, overheard: Sequence[Sequence[str]] = ()
    ) -> list[LogEntry]:
        """What a message brings into the log: what was overheard before it, then what was said to the bot.

        Args:
            inbound: the message.
            lines: as for ``words_of``.
            overheard: of each overheard message, the lines about its files that were fetched.
        """
        user, before = await self.user(inbound, lines), inbound.overheard
        told = overheard or [()] * len(before)
        return [*[await self._overheard(*each) for each in zip(before, told, strict=True)], user] if before else [user]

    async def _overheard(self, words: Overheard, lines: Sequence[str]) -> LogEntry:
        # Without an id: nobody is owed an answer to it.
        text = words.text if words.is_reaction else own(words.text)
        wire = _encode(_Wire(role="user", content="\n".join((text, *lines))))
        return LogEntry(
            time=words.at,
            turn=self._turn,
            tokens=await self._tokenizer.acount_message(wire),
            sender=words.sender_name or words.sender_id,
            person=words.sender_id,
            wire=msgspec.Raw(wire),
        )

    async def user(self, inbound: Inbound, lines: Sequence[str] | None = None) -> LogEntry:
        """What a person said, and what came with it; ``lines`` tell what became of that."""
        wire = _encode(_Wire(role="user", content=words_of(inbound, lines, vision=self._vision)))
        return LogEntry(
            time=inbound.received_at,
            turn=self._turn,
            tokens=await self._tokenizer.acount_message(wire),
            id=inbound.id,
            sender=inbound.sender_name or inbound.sender_id,
            person=inbound.sender_id if inbound.chat != inbound.sender_id else "",
            is_reminder=inbound.reminder is not None,
            wire=msgspec.Raw(wire),
        )

    async def calls(self, answer: Answer) -> LogEntry:
        """An answer that wants tools to be run."""
        calls = answer.tool_calls
        wanted = tuple(
            _Call(id=identity, function=_Function(_name(call.name), call.arguments))
            for identity, call in zip(_distinct([call.id for call in calls]), calls, strict=True)
        )
        entry = await self._entry(_Wire(role="assistant", content=answer.text or None, tool_calls=wanted))
        return await self._with_own(entry, answer)

    async def _with_own(self, entry: LogEntry, answer: Answer) -> LogEntry:
        if not answer.own:
            return entry
        tokens = await self._tokenizer.acount_said(answer.own.decode())
        return msgspec.structs.replace(entry, own=msgspec.Raw(answer.own), own_tokens=tokens)

    async def cut_off(self, text: str) -> tuple[LogEntry, LogEntry]:
        """What has come of an answer, and the request to continue it; for a prompt, not for the log."""
        return (
            await self._entry(_Wire(role="assistant", content=text)),
            await self._entry(_Wire(role="user", content=CONTINUE)),
        )

    async def result(self, call_id: str, result: ToolResult) -> LogEntry:
        """What a tool gave back; it counts as it is shown, between its marks."""
        return await self._entry(_Wire(role="tool", content=result.content(), tool_call_id=call_id))

    async def final(
        self,
        text: str,
        *,
        answers: Sequence[str] = (),
        dead: Sequence[str] = (),
        refused: bool = False,
        stopped: bool = False,
        own: bytes = b"",
    ) -> LogEntry:
        """The turn's last entry, which names what it answers; ``own`` as in ``Answer``."""
        return LogEntry(
            time=stamp(self.clock.now()),
            turn=self._turn,
            tokens=await self._tokenizer.acount_said(text),
            answers=tuple(answers),
            dead=tuple(dead),
            refused=refused,
            stopped=stopped,
            own=msgspec.Raw(own) if own else NOTHING,
            own_tokens=await self._tokenizer.acount_said(own.decode()) if own else 0,
            wire=msgspec.Raw(_encode(_Wire(role="assistant", content=text))),
        )

    async def unpaid(self, text: str, *, answers: Sequence[str]) -> LogEntry:
        """The only answer of a turn that a limit kept from beginning."""
        return msgspec.structs.replace(await self.final(text, answers=answers), tokens=0, unpaid=True)

    async def _entry(self, message: _Wire) -> LogEntry:
        wire = _encode(message)
        return LogEntry(
            time=stamp(self.clock.now()),
            turn=self._turn,
            tokens=await self._tokenizer.acount_message(shown_result(wire)),
            wire=msgspec.Raw(wire),
        )


def rounds(entries: Sequence[LogEntry]) -> int:
    """How many of a turn's answers asked for tools."""
    return sum(bool(_decode(entry.wire).tool_calls) for entry in entries)


def call_names(entries: Sequence[LogEntry]) -> dict[str, str]:
    """A name for each call of a turn's last answer, by the call's id: where it stands in the turn.

    The ids themselves are the model's and may come again in its next answer; a successor finds the same names.
    """
    for at in range(len(entries) - 1, -1, -1):
        if calls := _decode(entries[at].wire).tool_calls:
            return {call.id: f"{at}-{number}" for number, call in enumerate(calls)}
    return {}


def calls_beyond(entries: Sequence[LogEntry], most: int) -> frozenset[str]:
    """Ids of the calls of a turn's last answer that come after the first ``most`` calls of the turn."""
    answers = [_decode(entry.wire).tool_calls for entry in entries if CALLS in bytes(entry.wire)]
    count, last = sum(map(len, answers)), answers[-1] if answers else ()
    return frozenset(call.id for call in last[max(0, len(last) - max(0, count - most)) :])


def open_calls(entries: Sequence[LogEntry]) -> list[ToolCall]:
    """The calls of a turn's last answer that have no result yet, in order."""
    waiting: dict[str, ToolCall] = {}
    for entry in entries:
        message = _decode(entry.wire)
        for call in message.tool_calls:
            waiting[call.id] = ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
        waiting.pop(message.tool_call_id, None)
    return list(waiting.values())


def _distinct(ids: Sequence[str]) -> list[str]:
    """The ids with what tells those apart that a model gave twice in one answer: each call must have its result."""
    taken: list[str] = []
    for identity in ids:
        distinct = identity or "call"
        while distinct in taken:
            distinct += "_"
        taken.append(distinct)
    return taken


def _name(name: str) -> str:
    """A tool's name that every server takes back in the history, whatever a model made up (OpenAI: 64 of these)."""
    return _NO_NAME_CHAR.sub("_", name)[:NAME_MAX_CHARS] or "_"
