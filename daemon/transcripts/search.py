"""Searching what was said, from the first message on, with no more in memory than a part of it."""

import unicodedata
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import anyio.lowlevel
import msgspec

from daemon.errors import UNREADABLE
from daemon.transcripts.transcripts import Piece, Transcripts

BEFORE_CHARS = 30
EXCERPT_CHARS = 160
"""What is shown of a message: so much before the first word that was found, so much in all."""


class _Function(msgspec.Struct):
    name: str = ""
    arguments: str = ""


class _Call(msgspec.Struct):
    function: _Function = msgspec.field(default_factory=_Function)


class _Part(msgspec.Struct):
    text: str = ""


class _Wire(msgspec.Struct):
    role: str = ""
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None


class _Entry(msgspec.Struct):
    time: str = ""
    sender: str = ""
    wire: _Wire = msgspec.field(default_factory=_Wire)


_decode = msgspec.json.Decoder(_Entry).decode
_decode_any: Any = msgspec.json.decode


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A message that was found."""

    session: str
    index: int
    time: str
    role: str
    sender: str
    excerpt: str
    segment: str
    """Name of the transcript that holds it; empty: the log does."""


@dataclass(frozen=True, kw_only=True)
class Unread:
    """Messages that could not be looked at."""

    session: str
    first: int
    upto: int
    reason: str


class Needle:
    """What is looked for: words that all have to stand in a message, anywhere in it and in any case. Pure.

    Chinese has no blanks between words, so a word may stand anywhere within others.
    """

    def __init__(self, text: str) -> None:
        """``text`` has at least one word, or ValueError is raised."""
        self._words = [folded(word) for word in text.split()]
        if not self._words:
            raise ValueError("the search text is empty. Write some words.")

    def excerpt(self, text: str) -> str:
        """What stands around the first word in ``text``, on one line; empty when not all of them stand there."""
        plain = folded(text)
        places = [plain.find(word) for word in self._words]
        if min(places) < 0:
            return ""
        at = places[0] if len(plain) == len(text) else _unfolded(text, places[0])
        begin = max(0, at - BEFORE_CHARS)
        cut = text[begin : begin + EXCERPT_CHARS]
        return ("…" if begin else "") + " ".join(cut.split()) + ("…" if begin + EXCERPT_CHARS < len(text) else "")


def folded(text: str) -> str:
    """``text`` as it is compared: whatever its case and width."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def _unfolded(text: str, at: int) -> int:
    """Where in ``text`` about that stands which stands at ``at`` when it is folded: folding changes lengths."""
    seen = 0
    for index, char in enumerate(text):
        if seen >= at:
            return index
        seen += len(folded(char))
    return max(0, len(text) - 1)


async def search(
    transcripts: Transcripts, sessions: Sequence[str], needle: Needle, *, limit: int
) -> AsyncGenerator[Hit | Unread]:
    """Up to ``limit`` messages, session by session, the newest first, and after each session what could not be read.

    Raises:
        BusUnavailable: Redis is away.
    """
    left = limit
    for session in sessions:
        newest, unread = deque[Hit](maxlen=left), list[Unread]()
        async with aclosing(transcripts.pieces(session)) as pieces:
            async for piece in pieces:
                if piece.reason:
                    unread.append(Unread(session=session, first=piece.first, upto=piece.upto, reason=piece.reason))
                newest.extend(hits(session, piece, needle))
                await anyio.lowlevel.checkpoint()
        for hit in reversed(newest):
            yield hit
        for missing in unread:
            yield missing
        left -= len(newest)
        if not left:
            return


def hits(session: str, piece: Piece, needle: Needle) -> list[Hit]:
    """The messages of a piece that hold what is looked for. Pure."""
    found: list[Hit] = []
    for index, raw in enumerate(piece.raws, piece.first):
        entry = _entry_of(raw)
        if excerpt := needle.excerpt(text_of(entry.wire)):
            found.append(
                Hit(
                    session=session,
                    index=index,
                    time=entry.time,
                    role=entry.wire.role,
                    sender=entry.sender,
                    excerpt=excerpt,
                    segment=piece.segment,
                )
            )
    return found


def text_of(wire: _Wire) -> str:
    """What people read of a message: its text, and the tool calls it makes."""
    content = wire.content or ""
    parts = [content] if isinstance(content, str) else [part.text for part in content]
    parts += [f"{call.function.name}({_plain(call.function.arguments)})" for call in wire.tool_calls or ()]
    return "\n".join(filter(None, parts))


def _plain(arguments: str) -> str:
    """A call's arguments without the escapes that a model may have written."""
    if "\\u" not in arguments:
        return arguments
    try:
        return msgspec.json.encode(_decode_any(arguments)).decode()
    except UNREADABLE:
        return arguments


def _entry_of(raw: bytes) -> _Entry:
    try:
        return _decode(raw)
    except UNREADABLE:
        # What a hand has spoilt can be found all the same.
        return _Entry(wire=_Wire(content=raw.decode(errors="replace")))
