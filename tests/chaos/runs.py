"""What tools did, on record outside of Redis, held against the logs and against what the model was told.

Each run of the tool ``note`` writes two lines, when it begins and when it ends. It is named by its call (the model's
id, which no other answer has), and by its job: what a message asked for, the same in whichever turn and answer it is
done.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from daemon.events import LogEntry

BEGAN, ENDED = "began", "ended"
NOTED = "noted"
INTERRUPTED = "Error: interrupted, outcome unknown"


@dataclass(frozen=True, kw_only=True)
class Run:
    session: str
    turn: int
    place: str  # where the call stands in its turn
    call: str  # the model's id of it
    job: str  # what is done, once in a session

    @property
    def result(self) -> str:
        return f"{NOTED} {self.call}"

    def __str__(self) -> str:
        return f"{self.session} turn {self.turn} call {self.place} ({self.call}, for {self.job})"


@dataclass(frozen=True, kw_only=True)
class Runs:
    began: tuple[Run, ...] = ()
    ended: frozenset[Run] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Called:
    """A call as it stands in a log."""

    call: str
    results: Sequence[str]  # those that follow it before the next answer; one, if all is well


@dataclass(kw_only=True)
class Told:
    results: dict[str, set[str]] = field(default_factory=dict[str, set[str]])  # by call


def append(file: Path, word: str, run: Run) -> None:
    """Note what happens to a run; lines of several processes do not mix, and none is lost with its process."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, f"{word} {run.session} {run.turn} {run.place} {run.call} {run.job}\n".encode())
    finally:
        os.close(descriptor)


def read(file: Path) -> Runs:
    """What was noted; nothing when no tool ran."""
    lines: list[str] = []
    with suppress(FileNotFoundError):
        lines = file.read_text().splitlines()
    noted = [(word, _run(rest)) for word, _, rest in (line.partition(" ") for line in lines)]
    return Runs(
        began=tuple(run for word, run in noted if word == BEGAN),
        ended=frozenset(run for word, run in noted if word == ENDED),
    )


def _run(words: str) -> Run:
    session, turn, place, call, job = words.split(" ")
    return Run(session=session, turn=int(turn), place=place, call=call, job=job)


class _Function(msgspec.Struct):
    name: str = ""


class _Call(msgspec.Struct):
    id: str
    function: _Function


class _Message(msgspec.Struct):
    role: str
    content: object = None
    tool_calls: Sequence[_Call] = ()
    tool_call_id: str = ""


_decode = msgspec.json.Decoder(_Message).decode


def called(log: Sequence[LogEntry]) -> list[Called]:
    found, _ = _matched(log)
    return [Called(call=call, results=results) for call, results in found]


def mismatched(session: str, log: Sequence[LogEntry]) -> list[str]:
    """Calls without exactly one result before the next message that is none, and results without a call."""
    found, stray = _matched(log)
    wrong = [f"{session} call {call} has {len(results)} results" for call, results in found if len(results) != 1]
    return wrong + [f"{session} result of {call} stands for no call" for call in stray]


def _matched(log: Sequence[LogEntry]) -> tuple[list[tuple[str, list[str]]], list[str]]:
    calls: list[tuple[str, list[str]]] = []
    stray: list[str] = []
    current: dict[str, list[str]] = {}
    for message in (_decode(entry.wire) for entry in log):
        if message.role != "tool":
            current = {call.id: [] for call in message.tool_calls}
            calls += current.items()
        elif message.tool_call_id in current:
            current[message.tool_call_id].append(str(message.content))
        else:
            stray.append(message.tool_call_id)
    return calls, stray


def rerun(runs: Runs) -> list[str]:
    jobs: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs.began:
        jobs[run.session, run.job].append(run)
    return [" and as ".join(map(str, same)) for same in jobs.values() if len(same) > 1]


def unrecorded(runs: Runs, logs: Mapping[str, Sequence[LogEntry]]) -> list[str]:
    """Runs for which no log has a call: it must be on record before its tool begins."""
    known = {(session, each.call) for session, log in logs.items() for each in called(log)}
    return [str(run) for run in runs.began if (run.session, run.call) not in known]


def invented(runs: Runs, logs: Mapping[str, Sequence[LogEntry]]) -> list[str]:
    """Results that say neither what a run that ended gave, nor that nobody knows."""
    given = {(run.session, run.call): run.result for run in runs.ended}
    return [
        f"{session} call {each.call}: {result}"
        for session, log in logs.items()
        for each in called(log)
        for result in each.results
        if result not in (INTERRUPTED, given.get((session, each.call)))
    ]


def untold(told: Told, logs: Mapping[str, Sequence[LogEntry]]) -> Iterator[str]:
    """Results of which the model was told something else, or nothing."""
    for session, log in logs.items():
        for each in called(log):
            heard = told.results.get(each.call, set())
            if heard != set(each.results):
                yield f"{session} call {each.call}: told {sorted(heard)}, on record {list(each.results)}"


def interrupted(logs: Mapping[str, Sequence[LogEntry]]) -> int:
    """How many calls have a result that says that nobody knows."""
    return sum(INTERRUPTED in each.results for log in logs.values() for each in called(log))
