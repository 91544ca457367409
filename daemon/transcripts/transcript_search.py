"""Searching what was said, from the first message on, with no more in memory than parts of a few sessions."""

import unicodedata
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Protocol

import anyio.lowlevel
import msgspec

from daemon.concurrency import at_once
from daemon.errors import UNREADABLE
from daemon.transcripts.transcripts import CHUNK, Piece, Transcripts

SESSIONS = 8
"""Sessions that are read at a time: each has at most a piece of messages in memory."""

CHECKED = 100
"""Messages whose text is checked before they are decoded: it is copied three times."""

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


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was found."""

    session: str
    index: int
    time: str
    role: str
    sender: str
    excerpt: str
    segment: str
    """Name of the transcript that holds it; empty: the log does."""


class UnreadMessages(msgspec.Struct, frozen=True, kw_only=True):
    """Messages that could not be looked at."""

    session: str
    first: int
    upto: int
    reason: str


class SearchWords:
    """What is looked for: words that all have to stand in a message, anywhere in it and in any case. Pure.

    Chinese has no blanks between words, so a word may stand anywhere within others.
    """

    def __init__(self, text: str) -> None:
        """``text`` has at least one word, or ValueError is raised."""
        self._words = [folded(word) for word in text.split()]
        if not self._words:
            raise ValueError("the text to search for is empty. Write some words.")
        self._is_plain = all(word.isalnum() for word in self._words)

    def stands_in(self, text: str) -> bool:
        """Whether all words stand in ``text``."""
        plain = folded(text)
        return all(word in plain for word in self._words)

    def may_stand_in(self, raws: Sequence[bytes]) -> bool:
        """Whether stored messages are worth decoding, which takes most of the time: none that matches is missed."""
        whole = b" ".join(raws)
        # JSON writes these signs in another form, and tool calls are JSON within JSON.
        return b"\\u" in whole or not self._is_plain or self.stands_in(whole.decode(errors="replace"))

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


class Index(Protocol):
    """Finds archived messages without reading the archive."""

    async def candidates(self, session: str, upto: int, needle: SearchWords) -> Sequence[int] | None:
        """The messages before index ``upto`` that may match, in order; None: the index does not contain the session.

        Raises:
            BusUnavailable: Redis is away.
        """
        ...


async def search(
    transcripts: Transcripts, sessions: Sequence[str], needle: SearchWords, *, limit: int, index: Index | None = None
) -> AsyncGenerator[Hit | UnreadMessages]:
    """Up to ``limit`` messages, session by session, the newest first, and after each session what could not be read.

    With ``index`` only those archived messages are read that it names.

    Raises:
        BusUnavailable: Redis is away.
    """
    left = limit
    for first in range(0, len(sessions), SESSIONS):
        looks = [_Look(transcripts, session, needle, left) for session in sessions[first : first + SESSIONS]]
        await at_once(looks, partial(_looked, index))
        for look in looks:
            for hit in look.newest[:left]:
                yield hit
            for missing in look.unread:
                yield missing
            left -= min(left, len(look.newest))
            if not left:
                return


async def _looked(index: Index | None, look: "_Look") -> None:
    await look.look(index)


class _Look:
    """One look through a session."""

    def __init__(self, transcripts: Transcripts, session: str, needle: SearchWords, most: int) -> None:
        self.newest: list[Hit] = []
        """The newest hits, at most so many, the newest first."""
        self.unread: list[UnreadMessages] = []
        self._transcripts = transcripts
        self._session = session
        self._needle = needle
        self._most = most

    async def look(self, index: Index | None) -> None:
        """Find the newest hits."""
        base, candidates = 0, list[int]()
        if index is not None:
            begins, base = await self._transcripts.archived(self._session)
            found = await index.candidates(self._session, base, self._needle) if begins < base else ()
            base, candidates = (0, []) if found is None else (base, list(found))
        self.newest = (await self._read(base, None))[::-1]
        while candidates and len(self.newest) < self._most:
            upto, wanted = candidates[-1] + 1, self._most - len(self.newest)
            near = {each for each in candidates[-wanted:] if each >= upto - CHUNK}
            del candidates[-len(near) :]
            read = await self._read(min(near), upto)
            self.newest += [hit for hit in reversed(read) if hit.index in near]

    async def _read(self, first: int, upto: int | None) -> list[Hit]:
        newest = deque[Hit](maxlen=self._most)
        async with aclosing(self._transcripts.pieces(self._session, first, upto)) as pieces:
            async for piece in pieces:
                if piece.reason:
                    self.unread.append(
                        UnreadMessages(session=self._session, first=piece.first, upto=piece.upto, reason=piece.reason)
                    )
                newest.extend(hits(self._session, piece, self._needle))
                await anyio.lowlevel.checkpoint()
        return list(newest)


def _candidates(piece: Piece, needle: SearchWords) -> Iterator[tuple[int, bytes]]:
    """The messages that are worth decoding, with their indices."""
    for at in range(0, len(piece.raws), CHECKED):
        raws = piece.raws[at : at + CHECKED]
        if needle.may_stand_in(raws):
            yield from enumerate(raws, piece.first + at)


def hits(session: str, piece: Piece, needle: SearchWords) -> list[Hit]:
    """The messages of a piece that hold what is looked for. Pure."""
    found: list[Hit] = []
    for index, raw in _candidates(piece, needle):
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
