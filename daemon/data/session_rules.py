"""What must be true of a session whenever one looks, since each script changes it in one step. Pure."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from daemon.data.finding import Flaw, Mend
from daemon.data.moment import pairs_of
from daemon.data.records import SessionTaken, bytes_of
from daemon.errors import UNREADABLE
from daemon.events import Inbound, LogEntry

_NUMBERS = (
    "base",
    "begins",
    "cursor",
    "start",
    "head",
    "tokens",
    "tokens_start",
    "fence",
    "claims",
    "attempts",
    "deaths",
)
_STREAM_ID = re.compile(r"\d+-\d+")

_decode_entry = msgspec.json.Decoder(LogEntry).decode
_decode_inbound = msgspec.json.Decoder(Inbound).decode


def flaws_of_session(taken: SessionTaken) -> list[Flaw]:
    """Every rule of a session that is broken."""
    if not taken.fields:
        return list(_without_hash(taken))
    unreadable = [name for name in _NUMBERS if not _is_number(taken.fields.get(name, "0"))]
    if unreadable:
        text = (
            f"{', '.join(unreadable)} of the session's hash is no number; nothing can be done with it: set it by hand"
        )
        return [Flaw(rule="session.fields", where=taken.name, text=text)]
    look = _Look(taken)
    return [*look.hash(), *look.positions(), *look.log(), *look.waiting(), *look.asides(), *look.unsettled()]


def _is_number(value: Any) -> bool:
    return isinstance(value, str) and value.isdecimal() and len(value) < 16


def _without_hash(taken: SessionTaken) -> Iterator[Flaw]:
    if taken.log or taken.segments:
        text = "it has messages and no hash, so nobody finds them; restore it from a backup"
        yield Flaw(rule="session.hash", where=taken.name, text=text)
    if taken.waiting:
        text = "messages wait in it, and it has no hash; restore it from a backup"
        yield Flaw(rule="session.hash", where=taken.name, text=text)
    elif taken.scores:
        mend = Mend(what="take it out of them", action="idle", owner=taken.name)
        text = f"it stands in {', '.join(sorted(taken.scores))}, and there is no such session"
        yield Flaw(rule="session.hash", where=taken.name, text=text, mend=mend)


class _Look:
    """One session, taken apart."""

    def __init__(self, taken: SessionTaken) -> None:
        self._taken = taken
        numbers = {name: int(bytes_of(taken.fields.get(name, "0"))) for name in _NUMBERS}
        self._base, self._begins, self._cursor = numbers["base"], numbers["begins"], numbers["cursor"]
        self._start, self._head = numbers["start"], numbers["head"]
        self._tokens, self._tokens_start = numbers["tokens"], numbers["tokens_start"]
        self._inbox = {stream_id: pairs_of(words) for stream_id, words in taken.inbox}

    def _flaw(self, rule: str, text: str, action: str = "", what: str = "", *args: str | int) -> Flaw:
        mend = Mend(what=what, action=action, owner=self._taken.name, args=args) if action else None
        return Flaw(rule=rule, where=self._taken.name, text=text, mend=mend)

    def hash(self) -> Iterator[Flaw]:
        """Whose memory it is, and since when."""
        if not self._taken.fields.get("scope"):
            yield self._flaw(
                "session.scope", "it has no scope, so nobody knows whose memory it is; set the field by hand"
            )
        if bool(self._taken.fields.get("nonce")) and not _is_number(self._taken.fields.get("lease", "")):
            text = "somebody holds it, and its lease has no end"
            yield self._flaw("session.lease", text, "lease", "take the lease away: whoever holds it is refused")

    def positions(self) -> Iterator[Flaw]:
        """begins ≤ base ≤ cursor ≤ start ≤ head, and the log reaches the head."""
        if not self._begins <= self._base <= self._cursor <= self._head:
            yield self._flaw(
                "session.positions",
                f"begins {self._begins}, base {self._base}, cursor {self._cursor}, head {self._head} are out of order; "
                "restore it from a backup",
            )
        if self._start > self._head:
            yield self._flaw("session.positions", f"it starts at {self._start}, behind its head {self._head}")
        elif self._start < self._cursor:
            yield self._flaw(
                "session.positions",
                f"it starts at {self._start}, before its cursor {self._cursor}: models are shown what memory holds",
                *("start", f"let it start at {self._cursor}", self._start, self._cursor),
            )
        if self._base + len(self._taken.log) < self._head:
            first = self._base + len(self._taken.log)
            text = f"messages {first} to {self._head - 1} are not in its log; restore it from a backup"
            yield self._flaw("session.log", text)

    def log(self) -> Iterator[Flaw]:
        """Every message can be read, belongs to a turn that had begun, and counts in the sums."""
        tokens = tokens_start = last_turn = 0
        for index, raw in enumerate(self._taken.log, self._base):
            try:
                entry = _decode_entry(bytes_of(raw))
            except UNREADABLE as error:
                yield self._flaw("log.message", f"message {index} cannot be read: {error}; restore it from a backup")
                return
            if entry.turn > index or entry.turn < last_turn:
                yield self._flaw("log.turn", f"message {index} says that it is of turn {entry.turn}; restore it")
            last_turn = entry.turn
            if index < self._head:
                tokens += entry.tokens if index >= self._cursor else 0
                tokens_start += entry.tokens if index >= self._start else 0
        if self._base + len(self._taken.log) < self._head or self._base > self._cursor:
            return
        if (tokens, tokens_start) != (self._tokens, self._tokens_start) and self._cursor <= self._start:
            yield self._flaw(
                "session.tokens",
                f"its sums are {self._tokens} and {self._tokens_start} tokens, and its messages count {tokens} and "
                f"{tokens_start}",
                *("tokens", "set the sums", self._cursor, self._start, self._head, tokens, tokens_start),
            )

    def waiting(self) -> Iterator[Flaw]:
        """What waits stands in ``in``, once; waiting ⇔ due."""
        seen = set[str]()
        for stream_id in self._taken.waiting:
            if stream_id in seen:
                text = f"{stream_id} waits twice in it, and would be answered twice"
                yield self._flaw("waiting.once", text, "twice", "let it wait once", stream_id)
            elif (fields := self._inbox.get(stream_id)) is None:
                text = f"{stream_id} waits in it, and does not stand in `in`: that message is lost"
                yield self._flaw("waiting.in", text, "gone", "let it wait no more", stream_id)
            elif fields.get("session", b"").decode("utf-8", "replace") != self._taken.name:
                text = f"{stream_id} waits in it, and is of another session"
                yield self._flaw("waiting.in", text, "foreign", "let it wait here no more", stream_id)
            seen.add(stream_id)
        yield from self._deadline()
        stop = self._taken.fields.get("stop_upto")
        if stop and stop not in seen:
            text = f"a stop ({stop}) waits that is none of its messages"
            yield self._flaw("waiting.stop", text, "stop", "forget the stop")

    def _deadline(self) -> Iterator[Flaw]:
        if self._taken.waiting and "due" not in self._taken.scores:
            text = f"{len(self._taken.waiting)} messages wait in it, and it has no deadline: nobody would wake it"
            yield self._flaw("waiting.due", text, "due", "give it a deadline, now")
        elif not self._taken.waiting and "due" in self._taken.scores and not self._is_woken_by_asides():
            text = "it has a deadline, and nothing waits in it"
            yield self._flaw("due.waiting", text, "idle", "take the deadline away")

    def _is_woken_by_asides(self) -> bool:
        # `mend.lua` of the bus gives a deadline to what only waits for an answer aside; a claim takes it away.
        return bool(self._taken.asides)

    def asides(self) -> Iterator[Flaw]:
        """What is to be answered aside stands in ``in``."""
        for stream_id in self._taken.asides:
            if not _STREAM_ID.fullmatch(stream_id) or stream_id not in self._inbox:
                text = f"{stream_id} is to be answered aside, and does not stand in `in`"
                yield self._flaw("asides.in", text, "aside", "forget it", stream_id)
        for stream_id, fields in self._inbox.items():
            try:
                _decode_inbound(fields.get("message", b""))
            except UNREADABLE:
                text = f"{stream_id} in `in` is no message; the agent makes a dead letter of it"
                yield self._flaw("in.message", text)

    def unsettled(self) -> Iterator[Flaw]:
        """What a new conversation left behind is looked for, until memory holds it."""
        if self._start > self._cursor and "unsettled" not in self._taken.scores and not self._taken.lock.get("nonce"):
            text = (
                f"messages {self._cursor} to {self._start - 1} are of a conversation that is over, and nobody is to "
                "consolidate them"
            )
            yield self._flaw("session.unsettled", text, "unsettled", "have it looked at, now")
