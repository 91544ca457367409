"""How long turns waited for a consolidation, by what the processes themselves logged."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

WAITED = b'"turn.waited"'


class _Line(msgspec.Struct):
    event: str
    session: str = ""
    turn: int = 0
    waited_s: float = 0.0


def waits(folder: Path) -> Iterator[tuple[str, float]]:
    """Each wait in a run's logs: session and turn, and seconds."""
    for log in sorted(folder.glob("*.log")):
        for line in log.read_bytes().splitlines():
            if WAITED in line:
                told = msgspec.json.decode(line, type=_Line)
                yield f"{told.session} turn {told.turn}", told.waited_s


def impatient(folder: Path, *, most_s: float) -> list[str]:
    """Turns that waited longer."""
    return [f"{turn} waited {waited_s:.1f} s" for turn, waited_s in waits(folder) if waited_s > most_s]
