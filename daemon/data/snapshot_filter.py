"""What belongs to the moment at which each session was read, of that which is read before or after it. Pure."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from daemon.data.backup_records import Entries, KeyTaken, ScopeTaken, SessionTaken, StreamTaken, bytes_of
from daemon.errors import UNREADABLE

Position = tuple[int, int]

NEWEST = 2_000
"""Messages at the end of a log of which the ids are kept: what came in while the sessions were read."""


class _Whose(msgspec.Struct):
    session: str = ""
    turn: int = -1


class _Named(msgspec.Struct):
    id: str = ""


_decode_whose = msgspec.json.Decoder(_Whose).decode
_decode_id = msgspec.json.Decoder(_Named).decode


def position(stream_id: str) -> Position:
    """A stream id, so that two can be compared; what is none comes before all."""
    ms, _, number = stream_id.partition("-")
    return (int(ms), int(number)) if ms.isdecimal() and number.isdecimal() else (-1, -1)


def pairs_of(words: list[Any]) -> dict[str, bytes]:
    """The fields of a stream's entry."""
    return {bytes_of(name).decode("utf-8", "replace"): bytes_of(value) for name, value in zip(words[::2], words[1::2])}  # noqa: B905 - a hand may have left one out


def session_of(words: list[Any]) -> str:
    """The session that a stream's entry is of; empty when nobody can tell."""
    fields = pairs_of(words)
    if "session" in fields:
        return fields["session"].decode("utf-8", "replace")
    for name in ("reply", "event"):
        if name in fields:
            try:
                return _decode_whose(fields[name]).session
            except UNREADABLE:
                return ""
    return ""


class Moment:
    """What is known of each session: how far it had come when it was read."""

    def __init__(self, partition: Callable[[str], int]) -> None:
        """``partition``: of a session, in the database that is read."""
        self._partition = partition
        self._heads: dict[str, int] = {}
        self._ids: dict[str, set[str]] = {}
        """Ids of the messages that wait, or stand in the log."""
        self._waiting: dict[str, set[str]] = {}
        self._upto: dict[str, tuple[str, str]] = {}
        """Newest ids in ``out`` and in ``dead``."""
        self._memories: dict[str, int] = {}
        self._seen: set[str] = set()
        self._dead: dict[tuple[int, str], tuple[str, list[Any]]] = {}

    def note_seen(self, rest: str) -> None:
        """That an id was seen before any session was read."""
        self._seen.add(rest)

    def note_dead(self, piece: StreamTaken) -> None:
        """Dead letters that were there before any session was read."""
        for stream_id, words in piece.entries:
            self._dead[piece.partition, stream_id] = (stream_id, words)

    def note_session(self, taken: SessionTaken) -> None:
        """A session, as it was read."""
        waiting = {pairs_of(words).get("id", b"").decode("utf-8", "replace") for _, words in taken.inbox}
        self._waiting[taken.name] = waiting
        self._ids[taken.name] = waiting | set(_ids_in(taken))
        self._heads[taken.name] = _number(taken.fields.get("head"))
        self._upto[taken.name] = (taken.out_upto, taken.dead_upto)

    def note_scope(self, taken: ScopeTaken) -> None:
        """A memory, as it was read."""
        for field, value in taken.fields.items():
            if field.startswith("upto:"):
                session = field.removeprefix("upto:")
                self._memories[session] = max(self._memories.get(session, 0), _number(value))

    def behind(self) -> list[str]:
        """The sessions that hold less than a memory has taken in of them."""
        return sorted(session for session in self._memories if self.is_behind(session))

    def is_behind(self, session: str) -> bool:
        """Whether a session is one of these."""
        return session in self._heads and self._heads[session] < self._memories.get(session, 0)

    def of_stream(self, piece: StreamTaken) -> StreamTaken | None:
        """What of a piece, read after the sessions, was there when its sessions were."""
        kept: Entries = [entry for entry in piece.entries if self._was_there(piece.kind, *entry)]
        if piece.kind == "dead":
            for stream_id, _ in piece.entries:
                self._dead.pop((piece.partition, stream_id), None)
        return msgspec.structs.replace(piece, entries=kept) if kept else None

    def _was_there(self, kind: str, stream_id: str, words: list[Any]) -> bool:
        if kind not in ("out", "dead"):
            return True
        session = session_of(words)
        if session not in self._upto:
            # Nobody can tell whose it is, or of a session that came later: its message comes again with it.
            return not session
        if kind == "dead" and "reply" in pairs_of(words):
            # It stood in `out` until then, and stands there no more. One of a later turn is one too many.
            return True
        return position(stream_id) <= position(self._upto[session][kind == "dead"])

    def dead_before(self) -> Iterator[StreamTaken]:
        """Dead letters that were removed meanwhile, but for those that wait again in their session as it was read."""
        for (partition, _), (stream_id, words) in sorted(self._dead.items(), key=lambda each: each[0]):
            fields = pairs_of(words)
            if fields.get("id", b"").decode("utf-8", "replace") not in self._waiting.get(session_of(words), set()):
                yield StreamTaken(kind="dead", rest="", partition=partition, entries=[(stream_id, words)])

    def of_key(self, key: KeyTaken) -> KeyTaken | None:
        """A key that ends by itself, if it tells of nothing that came later."""
        if key.kind == "seen" and key.rest not in self._seen:
            return key if self._is_accepted(key) else None
        if key.kind in ("sent", "said"):
            session, _, rest = key.rest.partition("#")
            return key if session in self._heads and not self._comes_later(key.kind, session, rest) else None
        if key.kind == "sessions":
            members = {name: score for name, score in key.value.items() if name in self._heads}
            return msgspec.structs.replace(key, value=members) if members else None
        return key

    def _is_accepted(self, key: KeyTaken) -> bool:
        """Whether the message of an id that was seen meanwhile is in its session as that was read."""
        length, _, rest = bytes_of(key.value).decode("utf-8", "replace").partition(" ")
        message_id = rest[int(length) + 1 :] if length.isdecimal() else ""
        return message_id in self._ids.get(key.rest.rpartition(":")[0], set())

    def _comes_later(self, kind: str, session: str, rest: str) -> bool:
        """Whether a reply is of a turn that had not been committed yet; what that said under way counts as said."""
        head = self._heads[session]
        if kind == "sent":
            return rest.isdecimal() and int(rest) >= head
        if ":" in rest:
            return False  # another session's turn said it
        word, _, turn = rest.partition("-")
        turn = turn.partition("-")[0]
        return word == "message" and turn.isdecimal() and int(turn) > head


def _ids_in(taken: SessionTaken) -> Iterator[str]:
    for raw in taken.log[-NEWEST:]:
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            yield _decode_id(bytes_of(raw)).id


def _number(value: Any) -> int:
    return int(value) if isinstance(value, str) and value.lstrip("-").isdecimal() else 0
