"""How long turns waited for a consolidation, by what the processes themselves logged.

What a process cannot help does not count: that it was paused, or that the server was away.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

WAITED = b'"turn.waited"'
SERVER = "server"


@dataclass(frozen=True, kw_only=True)
class Halt:
    """Somebody did nothing for a while; seconds since 1970."""

    name: str  # one of the run's processes, or the server
    began: float
    ended: float

    def within(self, began: float, ended: float) -> float:
        """How many seconds of that time it lasted."""
        return max(0.0, min(self.ended, ended) - max(self.began, began))


@dataclass(frozen=True, kw_only=True)
class Wait:
    turn: str
    process: str
    ended: float
    waited_s: float

    def own_s(self, halts: Sequence[Halt]) -> float:
        """What is left of it without ``halts``."""
        mine = [halt for halt in halts if halt.name in (self.process, SERVER)]
        return self.waited_s - sum(halt.within(self.ended - self.waited_s, self.ended) for halt in mine)


class _Line(msgspec.Struct):
    timestamp: str
    session: str
    turn: int
    waited_s: float


def waits(folder: Path) -> Iterator[Wait]:
    for log in sorted(folder.glob("*.log")):
        for line in log.read_bytes().splitlines():
            if WAITED in line:
                told = msgspec.json.decode(line, type=_Line)
                turn, ended = f"{told.session} turn {told.turn}", datetime.fromisoformat(told.timestamp).timestamp()
                yield Wait(turn=turn, process=log.stem, ended=ended, waited_s=told.waited_s)


def impatient(found: Sequence[Wait], halts: Sequence[Halt], *, most_s: float) -> list[str]:
    return [f"{wait.turn} waited {wait.waited_s:.1f} s" for wait in found if wait.own_s(halts) > most_s]
