"""Rules for a session that hold at every moment, because each script changes it in one step. Pure."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from daemon.data.backup_records import SessionTaken, bytes_of
from daemon.data.flaw import Flaw, Mend
from daemon.data.snapshot import pairs_of
from daemon.errors import UNREADABLE
from daemon.events import Inbound, LogEntry
from daemon.reminders import reminder_from

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
_SAFE = {
    **dict.fromkeys(("attempts", "deaths"), "set {name} to 0"),
    **dict.fromkeys(("tokens", "tokens_start"), "set {name} to the total for the session's messages"),
    **dict.fromkeys(("fence", "claims"), "set {name} to a higher number than before"),
    "start": "set {name} to the cursor",
    "head": "set {name} to the end of the log",
}
"""The safe repair of each of the others."""
LOST = "[This message was lost from the database.]"
"""Stands where a message was, since the messages behind it keep their numbers."""
_STREAM_ID = re.compile(r"\d+-\d+")

_encode = msgspec.json.Encoder().encode
_decode_entry = msgspec.json.Decoder(LogEntry).decode
_decode_inbound = msgspec.json.Decoder(Inbound).decode


def flaws_of_session(taken: SessionTaken) -> list[Flaw]:
    """Every rule of a session that is broken."""
    if not taken.fields:
        return list(_without_hash(taken))
    unreadable = [name for name in _NUMBERS if not _is_number(taken.fields.get(name, "0"))]
    if unreadable:
        return [_not_a_number(taken.name, name) for name in unreadable]
    look = _Look(taken)
    return [
        *look.hash(),
        *look.positions(),
        *look.log(),
        *look.waiting(),
        *look.asides(),
        *look.unsettled(),
        *look.reminders(),
    ]


def _not_a_number(session: str, name: str) -> Flaw:
    text = f"{name} in the session's Redis hash is not a number, so the bot cannot answer"
    if name not in _SAFE:
        return Flaw(rule="session.fields", where=session, text=f"{text}. Restore the session from a backup.")
    mend = Mend(what=_SAFE[name].format(name=name), action="number", owner=session, args=(name,))
    return Flaw(rule="session.fields", where=session, text=text, mend=mend)


def _is_number(value: Any) -> bool:
    return isinstance(value, str) and value.isdecimal() and len(value) < 16


def _wire(text: str) -> msgspec.Raw:
    return msgspec.Raw(_encode({"role": "user", "content": text}))


def _without_hash(taken: SessionTaken) -> Iterator[Flaw]:
    if taken.log or taken.segments:
        text = (
            "the session has messages, but its hash is missing in Redis, so the messages cannot be found. "
            "Restore the "
            "session from a backup."
        )
        yield Flaw(rule="session.hash", where=taken.name, text=text)
    if taken.waiting:
        text = (
            "the session has unanswered messages, but its hash is missing in Redis. Restore the session from a backup."
        )
        yield Flaw(rule="session.hash", where=taken.name, text=text)
    elif taken.scores:
        mend = Mend(what="remove the nonexistent session from the lists", action="idle", owner=taken.name)
        text = f"the session is listed in {', '.join(sorted(taken.scores))}, but does not exist"
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
                "session.scope", "the session has no scope, so its memory is unknown. Set the `scope` field by hand."
            )
        if bool(self._taken.fields.get("nonce")) and not _is_number(self._taken.fields.get("lease", "")):
            text = "a worker's lease (lock) on the session never expires"
            yield self._flaw(
                "session.lease",
                text,
                "lease",
                "remove the lease, so that the worker can no longer write to the session",
            )

    def positions(self) -> Iterator[Flaw]:
        """begins ≤ base ≤ cursor ≤ start ≤ head, and the log reaches the head."""
        if not self._begins <= self._base <= self._cursor <= self._head:
            yield self._flaw(
                "session.positions",
                f"the session's positions are not in ascending order: begins={self._begins}, base={self._base}, "
                f"cursor={self._cursor}, head={self._head}. Restore the session from a backup.",
            )
        if self._start > self._head:
            yield self._flaw(
                "session.positions",
                f"the session's prompts would begin at message {self._start}, but the session has only {self._head} "
                "messages",
            )
        elif self._start < self._cursor:
            yield self._flaw(
                "session.positions",
                f"the session's prompts begin at message {self._start}, but all messages before message {self._cursor} "
                "are already in memory",
                *("start", f"set the start to {self._cursor}", self._start, self._cursor),
            )
        if self._base + len(self._taken.log) < self._head:
            first = self._base + len(self._taken.log)
            text = (
                f"messages {first} to {self._head - 1} are missing from the session's log, so the bot cannot answer. "
                "A backup may still contain these messages"
            )
            lost = LogEntry(time="", turn=first, tokens=0, wire=_wire(LOST))
            what = f"add the text {LOST} for each missing message"
            yield self._flaw("session.log", text, "pad", what, first, self._head, _encode(lost).decode())

    def log(self) -> Iterator[Flaw]:
        """Every message can be read, belongs to a turn that had begun, and counts in the sums."""
        tokens = tokens_start = last_turn = 0
        for index, raw in enumerate(self._taken.log, self._base):
            try:
                entry = _decode_entry(bytes_of(raw))
            except UNREADABLE as error:
                yield self._flaw(
                    "log.message", f"message {index} cannot be read: {error}. Restore the session from a backup."
                )
                return
            if entry.turn > index or entry.turn < last_turn:
                yield self._flaw(
                    "log.turn",
                    f"message {index} is marked as part of turn {entry.turn}, but that turn cannot contain the "
                    "message. Restore the session from a backup.",
                )
            last_turn = entry.turn
            if index < self._head:
                tokens += entry.tokens if index >= self._cursor else 0
                tokens_start += entry.tokens if index >= self._start else 0
        if self._base + len(self._taken.log) < self._head or self._base > self._cursor:
            return
        if (tokens, tokens_start) != (self._tokens, self._tokens_start) and self._cursor <= self._start:
            yield self._flaw(
                "session.tokens",
                f"the session states totals of {self._tokens} and {self._tokens_start} tokens, but the session's "
                f"messages add up to {tokens} and {tokens_start} tokens",
                *("tokens", "correct the totals", self._cursor, self._start, self._head, tokens, tokens_start),
            )

    def waiting(self) -> Iterator[Flaw]:
        """Pending messages are in ``in``, once; pending ⇔ due."""
        seen = set[str]()
        for stream_id in self._taken.waiting:
            if stream_id in seen:
                text = f"message {stream_id} is queued twice and would be answered twice"
                yield self._flaw("waiting.once", text, "twice", "queue the message only once", stream_id)
            elif (fields := self._inbox.get(stream_id)) is None:
                text = (
                    f"message {stream_id} is queued, but the message is missing from the `in` stream, so its text is "
                    "lost"
                )
                yield self._flaw("waiting.in", text, "gone", "remove the message from the queue", stream_id)
            elif fields.get("session", b"").decode("utf-8", "replace") != self._taken.name:
                text = f"message {stream_id} is queued in this session but belongs to another session"
                yield self._flaw(
                    "waiting.in", text, "foreign", "remove the message from the session's queue", stream_id
                )
            seen.add(stream_id)
        yield from self._deadline()
        stop = self._taken.fields.get("stop_upto")
        if stop and stop not in seen:
            text = f"a stop command ({stop}) refers to a message that is not queued"
            yield self._flaw("waiting.stop", text, "stop", "remove the stop command")

    def _deadline(self) -> Iterator[Flaw]:
        if self._taken.waiting and "due" not in self._taken.scores:
            text = (
                f"the session has {len(self._taken.waiting)} unanswered messages but is not scheduled, so no worker "
                f"would process it"
            )
            yield self._flaw("waiting.due", text, "due", "schedule the session for processing now")
        elif not self._taken.waiting and "due" in self._taken.scores and not self._is_woken_by_asides():
            text = "the session is scheduled for processing but has no unanswered messages"
            yield self._flaw("due.waiting", text, "idle", "remove the session from the schedule")

    def _is_woken_by_asides(self) -> bool:
        # `mend.lua` of the bus gives a deadline to what only waits for an answer aside; a claim takes it away.
        return bool(self._taken.asides)

    def asides(self) -> Iterator[Flaw]:
        """Messages marked for an out-of-band reply are in ``in``."""
        for stream_id in self._taken.asides:
            if not _STREAM_ID.fullmatch(stream_id) or stream_id not in self._inbox:
                text = (
                    f"message {stream_id} is marked for an out-of-band reply, but the message is missing from the "
                    "`in` stream"
                )
                yield self._flaw("asides.in", text, "aside", "remove the mark", stream_id)
        for stream_id, fields in self._inbox.items():
            try:
                _decode_inbound(fields.get("message", b""))
            except UNREADABLE:
                text = (
                    f"entry {stream_id} of the `in` stream is not a message. The agent worker turns the entry "
                    "into a dead letter."
                )
                yield self._flaw("in.message", text)

    def unsettled(self) -> Iterator[Flaw]:
        """The rest of a finished conversation is scheduled for consolidation until memory contains it."""
        if self._start > self._cursor and "unsettled" not in self._taken.scores and not self._taken.lock.get("nonce"):
            text = (
                f"messages {self._cursor} to {self._start - 1} belong to a finished conversation, but their "
                "consolidation is not scheduled"
            )
            yield self._flaw("session.unsettled", text, "unsettled", "schedule a consolidation now")

    def reminders(self) -> Iterator[Flaw]:
        """Reminders can be read; active ⇔ upcoming."""
        for name, raw in self._taken.reminders.items():
            reminder = reminder_from(bytes_of(raw))
            if reminder is None:
                text = f"reminder {name} cannot be read, so it will not fire. Restore the session from a backup."
                yield self._flaw("reminders.reminder", text)
            elif not reminder.paused and name not in self._taken.upcoming:
                text = f"reminder {name} has no time, so it will not fire"
                what = f"let the reminder fire on {reminder.due}"
                yield self._flaw("reminders.upcoming", text, "upcoming", what, name, reminder.due_ms)
            elif reminder.paused and name in self._taken.upcoming:
                text = f"reminder {name} is paused, but has a time"
                yield self._flaw("reminders.paused", text, "paused", "remove the time", name)
