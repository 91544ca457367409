"""A log entry in the form of the API."""

from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from daemon.events import LogEntry


class _Wire(msgspec.Struct, frozen=True, kw_only=True):
    # Raw: these fields are passed on without decoding and encoding.
    role: str
    content: Raw = Raw(b"null")
    tool_calls: Raw | UnsetType = UNSET
    tool_call_id: Raw | UnsetType = UNSET


class Shown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of ``GET …/messages`` and of the event ``message``; a field without a value is left out."""

    index: int
    """Counted from the first message ever stored."""
    role: str
    content: Raw
    """A text, null with tool calls, or the parts of a message, as the model gets them."""
    time: str
    turn: int
    """The index at which its turn began."""
    tokens: int
    """Its token count in a prompt."""
    id: str = ""
    """For messages of people: the id of the message."""
    sender: str = ""
    overheard: bool = False
    """Group context, not addressed to the bot: it has no id and gets no answer."""
    answers: tuple[str, ...] = ()
    """For the last message of a turn: the ids that it answers."""
    dead: tuple[str, ...] = ()
    """As ``answers``, for ids that could not be answered."""
    stopped: bool = False
    """A person stopped the turn here."""
    silent: bool = False
    """A reminder's turn that had nothing to say; its content is null."""
    speech: str = ""
    """The path of the answer as a recording, for ``GET …/file``."""
    tool_calls: Raw | UnsetType = UNSET
    tool_call_id: Raw | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Wire).decode
encode: Any = msgspec.json.Encoder().encode


def shown(index: int, entry: LogEntry) -> Shown:
    """The entry at ``index`` in the form of the API."""
    wire = _decode(entry.wire)
    return Shown(
        index=index,
        role=wire.role,
        content=Raw(b"null") if entry.silent else wire.content,
        time=entry.time,
        turn=entry.turn,
        tokens=entry.tokens,
        id=entry.id,
        sender=entry.sender,
        overheard=bool(entry.person) and not entry.id,
        answers=entry.answers,
        dead=entry.dead,
        stopped=entry.stopped,
        silent=entry.silent,
        speech=entry.speech,
        tool_calls=wire.tool_calls,
        tool_call_id=wire.tool_call_id,
    )
