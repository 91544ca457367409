"""Counting what a run left: what was accepted, what stands in the logs, what was sent. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

import msgspec

from channels.text import split
from daemon.events import LogEntry
from tests.chaos import kept
from tests.chaos.kept import Kept
from tests.chaos.outcomes import GIVEN_UP, Attempt, Book, Outcome, unfounded, unlisted
from tests.chaos.runs import Runs, Told, invented, mismatched, rerun, unrecorded, untold
from tests.chaos.shown import Shown

SHOWN = 5  # findings of a kind that the report shows


@dataclass(frozen=True, kw_only=True)
class Watched:
    calls: Sequence[Shown] = ()  # what each model call of a turn was shown
    budget_tokens: int = 0
    overfull: Sequence[str] = ()
    orphaned: Sequence[str] = ()
    backward: Sequence[str] = ()
    impatient: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Record:
    accepted: Mapping[str, Sequence[str]]  # session → the ids of its messages, in the order in which they were accepted
    logs: Mapping[str, Sequence[LogEntry]]
    waiting: frozenset[tuple[str, str]] = frozenset()
    """Session and id of each message that is still queued for an answer."""
    stopped: str = ""  # the work that makes no progress any more
    attempts: Sequence[Attempt] = ()  # in the order of arrival
    unmarked: Sequence[str] = ()  # what was sent under a mark that nobody had asked for
    unknown: Sequence[Outcome] = ()  # what ``queue unknown`` lists, oldest first
    book: Book = field(default_factory=Book)
    push: frozenset[str] = frozenset()  # sessions whose replies are sent
    part_max_chars: int = 4_000
    stale: Sequence[str] = ()  # writes by somebody who had lost the lease
    runs: Runs = field(default_factory=Runs)  # what tools did
    told: Told = field(default_factory=Told)
    kept: Kept = field(default_factory=Kept)  # what was consolidated
    watched: Watched = field(default_factory=Watched)  # what was seen while it was


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What is wrong, a line each; the metadata of a field is its line in the report."""

    lost: list[str] = field(metadata={"text": "accepted messages that are neither answered nor queued"})
    doubled: list[str] = field(metadata={"text": "messages doubled in a log"})
    disordered: list[str] = field(metadata={"text": "sessions out of order in the log"})
    stale: list[str] = field(metadata={"text": "writes by who had lost the lease"})
    unsent: list[str] = field(metadata={"text": "parts of replies never sent"})
    unmarked: list[str] = field(metadata={"text": "requests without a mark"})
    unlisted: list[str] = field(metadata={"text": "unknown outcomes that queue unknown does not list"})
    unfounded: list[str] = field(metadata={"text": "lines of queue unknown without an unknown outcome"})
    shuffled: list[str] = field(metadata={"text": "chats out of order at the platform"})
    rerun: list[str] = field(metadata={"text": "tool calls that ran twice"})
    unrecorded: list[str] = field(metadata={"text": "tools that ran for no call on record"})
    mismatched: list[str] = field(metadata={"text": "tool calls without their one result in the log"})
    invented: list[str] = field(metadata={"text": "results that no tool gave"})
    untold: list[str] = field(metadata={"text": "results of which the model was told otherwise"})
    backward: list[str] = field(metadata={"text": "cursors that were seen to go back"})
    untiled: list[str] = field(metadata={"text": "gaps and overlaps of history entries"})
    unsaid: list[str] = field(metadata={"text": "history entries of other messages than their range's"})
    unraw: list[str] = field(metadata={"text": "summaries that killed their workers and ended as no raw entry"})
    unversioned: list[str] = field(metadata={"text": "memories that are not their newest version"})
    unfiled: list[str] = field(metadata={"text": "files that do not hold what memory does"})
    unarchived: list[str] = field(metadata={"text": "consolidated messages that the archive has otherwise"})
    untrimmed: list[str] = field(
        metadata={"text": "sessions whose log is not in archive and Redis, each message in one"}
    )
    unreleased: list[str] = field(metadata={"text": "sessions locked or unsettled at the end"})
    missing: list[str] = field(metadata={"text": "prompts that missed what moved from log to memory"})
    overfull: list[str] = field(metadata={"text": "prompts above their window or budget"})
    orphaned: list[str] = field(metadata={"text": "prompts with calls and results apart"})
    impatient: list[str] = field(metadata={"text": "turns that waited too long for a consolidation"})
    stopped: list[str] = field(metadata={"text": "work that has stopped before its end"})

    @property
    def ok(self) -> bool:
        return not any(getattr(self, each.name) for each in fields(self))

    def report(self) -> str:
        lines: list[str] = []
        for each in fields(self):
            found: list[str] = getattr(self, each.name)
            lines.append(f"{len(found):6}  {each.metadata['text']}")
            lines += [f"          {finding}" for finding in found[:SHOWN]]
        return "\n".join(lines)


def tally(record: Record) -> Tally:
    return Tally(
        lost=[each for name, ids in record.accepted.items() for each in _lost(name, ids, record)],
        doubled=[each for name in record.accepted for each in _doubled(name, record.logs[name])],
        disordered=[
            each for name, ids in record.accepted.items() for each in _disordered(name, ids, record.logs[name])
        ],
        stale=list(record.stale),
        unsent=_unsent(record),
        unmarked=list(record.unmarked),
        unlisted=unlisted(record.attempts, record.unknown, record.book),
        unfounded=unfounded(record.attempts, record.unknown, record.book),
        shuffled=_shuffled(record),
        rerun=rerun(record.runs),
        unrecorded=unrecorded(record.runs, record.logs),
        mismatched=[each for name, log in record.logs.items() for each in mismatched(name, log)],
        invented=invented(record.runs, record.logs),
        untold=list(untold(record.told, record.logs)),
        stopped=[record.stopped] * bool(record.stopped),
        **_consolidated(record.kept, record.watched),
    )


def _consolidated(found: Kept, watched: Watched) -> dict[str, list[str]]:
    checks = (
        *(kept.untiled, kept.unsaid, kept.unraw, kept.unversioned, kept.unfiled),
        *(kept.unarchived, kept.untrimmed, kept.unreleased),
    )
    return {
        **{check.__name__: list(check(found)) for check in checks},
        "missing": list(kept.missing(found, watched.calls, budget_tokens=watched.budget_tokens)),
        "backward": list(watched.backward),
        "overfull": list(watched.overfull),
        "orphaned": list(watched.orphaned),
        "impatient": list(watched.impatient),
    }


def said(log: Iterable[LogEntry]) -> list[str]:
    return [entry.id for entry in log if entry.id]


def answered(log: Iterable[LogEntry]) -> list[str]:
    return [message_id for entry in log for message_id in entry.answers]


def _lost(session: str, accepted: Sequence[str], record: Record) -> list[str]:
    log = record.logs[session]
    kept = (set(said(log)) & set(answered(log))) | {each for name, each in record.waiting if name == session}
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


def _unsent(record: Record) -> list[str]:
    given_up, taken = _given_up(record), {attempt.place.key for attempt in record.attempts if attempt.taken}
    return [
        f"{reply} part {part}"
        for session in sorted(record.push)
        for reply, part in _due(session, record.logs[session], record.part_max_chars)
        if (reply, part) not in taken | given_up
    ]


def _due(session: str, log: Sequence[LogEntry], part_max_chars: int) -> list[tuple[str, int]]:
    return [
        (f"{session}#{entry.turn}", part)
        for entry in log
        if entry.answers
        for part in range(len(split(msgspec.json.decode(entry.wire)["content"], part_max_chars)))
    ]


def _shuffled(record: Record) -> list[str]:
    given_up, order = _given_up(record), dict[str, list[tuple[int, int]]]()
    for reply, part in dict.fromkeys(attempt.place.key for attempt in record.attempts if attempt.taken):
        session, _, turn = reply.rpartition("#")
        # Of what was given up nobody knows when it arrives.
        if (reply, part) not in given_up:
            order.setdefault(session, []).append((int(turn), part))
    return [session for session, places in order.items() if places != sorted(places)]


def _given_up(record: Record) -> set[tuple[str, int]]:
    return {outcome.place.key for outcome in record.unknown if outcome.action == GIVEN_UP}
