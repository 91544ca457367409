"""Counting what a run left: what was accepted, what stands in the logs, what was sent. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

import msgspec

from channels.outbox import split
from daemon.events import LogEntry

SHOWN = 5
"""Findings of a kind that the report shows."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One delivery, as the platform saw it."""

    session: str
    reply: str
    part: int

    @property
    def key(self) -> tuple[str, int]:
        """Names the part of the reply."""
        return self.reply, self.part


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One line of ``queue unknown``."""

    reply: str
    part: int
    action: str


@dataclass(frozen=True, kw_only=True)
class Record:
    """What a run left behind."""

    accepted: Mapping[str, Sequence[str]]
    """Session → the ids of its messages, in the order in which they were accepted."""
    logs: Mapping[str, Sequence[LogEntry]]
    sent: Sequence[Sent] = ()
    """In the order of arrival."""
    unknown: Sequence[Outcome] = ()
    push: frozenset[str] = frozenset()
    """Sessions whose replies are sent."""
    part_max_chars: int = 4_000
    stale: Sequence[str] = ()
    """Writes by somebody who had lost the lease."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What is wrong, a line each; the metadata of a field is its line in the report."""

    lost: list[str] = field(metadata={"text": "accepted messages without an answer"})
    doubled: list[str] = field(metadata={"text": "messages doubled in a log"})
    disordered: list[str] = field(metadata={"text": "sessions out of order in the log"})
    stale: list[str] = field(metadata={"text": "writes by who had lost the lease"})
    unsent: list[str] = field(metadata={"text": "parts of replies never sent"})
    resent: list[str] = field(metadata={"text": "doubled sends that queue unknown does not list"})
    shuffled: list[str] = field(metadata={"text": "chats out of order at the platform"})

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not any(getattr(self, each.name) for each in fields(self))

    def report(self) -> str:
        """A line a kind, and the first findings of each."""
        lines: list[str] = []
        for each in fields(self):
            found: list[str] = getattr(self, each.name)
            lines.append(f"{len(found):6}  {each.metadata['text']}")
            lines += [f"          {finding}" for finding in found[:SHOWN]]
        return "\n".join(lines)


def tally(record: Record) -> Tally:
    """Everything that is wrong with what a run left."""
    counted = Counter(sent.key for sent in record.sent)
    return Tally(
        lost=[each for name, ids in record.accepted.items() for each in _lost(name, ids, record.logs[name])],
        doubled=[each for name in record.accepted for each in _doubled(name, record.logs[name])],
        disordered=[
            each for name, ids in record.accepted.items() for each in _disordered(name, ids, record.logs[name])
        ],
        stale=list(record.stale),
        unsent=_unsent(record, counted),
        resent=_resent(record, counted),
        shuffled=_shuffled(record),
    )


def said(log: Iterable[LogEntry]) -> list[str]:
    """The ids of a log's user messages."""
    return [entry.id for entry in log if entry.id]


def answered(log: Iterable[LogEntry]) -> list[str]:
    """The ids that a log's turns answer."""
    return [message_id for entry in log for message_id in entry.answers]


def _lost(session: str, accepted: Sequence[str], log: Sequence[LogEntry]) -> list[str]:
    kept = set(said(log)) & set(answered(log))
    return [f"{session} {message_id}" for message_id in accepted if message_id not in kept]


def _doubled(session: str, log: Sequence[LogEntry]) -> list[str]:
    found = [
        f"{session} {message_id} {what} {times} times"
        for what, ids in (("stands there", said(log)), ("is answered", answered(log)))
        for message_id, times in Counter(ids).items()
        if times > 1
    ]
    turns = Counter(entry.turn for entry in log if entry.answers)
    return found + [f"{session} turn {turn} ends {times} times" for turn, times in turns.items() if times > 1]


def _disordered(session: str, accepted: Sequence[str], log: Sequence[LogEntry]) -> list[str]:
    place = {message_id: at for at, message_id in enumerate(accepted)}
    for what, ids in (("messages", said(log)), ("answers", answered(log))):
        places = [place[message_id] for message_id in dict.fromkeys(ids) if message_id in place]
        if places != sorted(places):
            return [f"{session}: its {what} are not in the order of acceptance"]
    return []


def _unsent(record: Record, counted: Mapping[tuple[str, int], int]) -> list[str]:
    given_up = _given_up(record)
    return [
        f"{reply} part {part}"
        for session in sorted(record.push)
        for reply, part in _due(session, record.logs[session], record.part_max_chars)
        if (reply, part) not in counted and (reply, part) not in given_up
    ]


def _due(session: str, log: Sequence[LogEntry], part_max_chars: int) -> list[tuple[str, int]]:
    """Every part that a session's turns owe the platform."""
    return [
        (f"{session}#{entry.turn}", part)
        for entry in log
        if entry.answers
        for part in range(len(split(msgspec.json.decode(entry.wire)["content"], part_max_chars)))
    ]


def _resent(record: Record, counted: Mapping[tuple[str, int], int]) -> list[str]:
    listed = Counter((outcome.reply, outcome.part) for outcome in record.unknown)
    return [
        f"{reply} part {part} sent {times} times, listed {listed[reply, part]} times"
        for (reply, part), times in counted.items()
        if times > min(2, 1 + listed[reply, part])
    ]


def _shuffled(record: Record) -> list[str]:
    given_up, order = _given_up(record), dict[str, list[tuple[int, int]]]()
    for reply, part in dict.fromkeys(sent.key for sent in record.sent):
        session, _, turn = reply.rpartition("#")
        # Of what was given up nobody knows when it arrives.
        if (reply, part) not in given_up:
            order.setdefault(session, []).append((int(turn), part))
    return [session for session, places in order.items() if places != sorted(places)]


def _given_up(record: Record) -> set[tuple[str, int]]:
    return {(outcome.reply, outcome.part) for outcome in record.unknown if outcome.action == "given up"}
