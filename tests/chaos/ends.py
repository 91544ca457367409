"""The three ends of a run: its promises held, one was broken, or something could not be decided on this machine.

A loss, a double or a wrong order is a proof on any machine. Unfinished work is none while it goes on, and neither is a
duration: a run that finds nothing else is inconclusive. Work that has stopped is a proof again.
"""

import os
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

LOOK_S = 0.2

HELD, BROKEN, INCONCLUSIVE = 0, 1, os.EX_TEMPFAIL  # exit codes of a run; the last one is 75

UNFINISHED = frozenset(
    {"unsent", "unfounded", "unrecorded", "mismatched", "untold", "left"}
    | {"untiled", "unsaid", "unraw", "unversioned", "unfiled", "unarchived", "untrimmed", "unreleased"}
)
"""Kinds of findings that a run has to leave when it ends in the middle of its work."""

LATE = frozenset({"impatient", "slow", "tardy", "warming"})
"""Kinds for which a slow machine may be the reason: they say how long something took."""


class Inconclusive(Exception):
    """Something could not be decided; the text says what, and why."""


@dataclass(frozen=True, kw_only=True)
class End:
    code: int
    text: str


def end_of(found: Mapping[str, Sequence[str]], undecided: str) -> End:
    """Judge a run.

    Args:
        found: the findings of each kind.
        undecided: why it ended before its work did; empty: it did not.
    """
    kinds = {kind for kind, findings in found.items() if findings}
    reasons = [undecided] * bool(undecided) + [
        f"{found[kind][0]}; the machine may be the reason" for kind in kinds & LATE
    ]
    if kinds - LATE - (UNFINISHED if undecided else frozenset()):
        return End(code=BROKEN, text="broken")
    if reasons:
        return End(code=INCONCLUSIVE, text=f"inconclusive: {'. '.join(reasons)}")
    return End(code=HELD, text="held")


def undecided(error: Inconclusive) -> End:
    """The end of a run that could not even be judged."""
    return End(code=INCONCLUSIVE, text=f"inconclusive: {error}")


def leave(folder: Path, end: End, sabotage: str) -> int:
    """Print how a run ended; its exit code. Its folder stays where somebody may want to look for a reason."""
    print(end.text)
    if end.code == HELD or sabotage:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        print(f"logs and data: {folder}")
    return end.code


@dataclass(kw_only=True)
class Drain:
    """Waiting for the rest of a run's work, and telling slow work from work that has stopped."""

    limit_s: float  # the work may take so long altogether,
    still_s: float  # ... and make no progress for so long, while nobody starts
    left: Mapping[str, int] = field(default_factory=dict[str, int])
    """Work by its kind, as last seen; -1: nobody could tell."""
    stopped: str = ""  # the work that makes no progress any more
    undecided: str = ""  # why the wait was ended while work went on
    _began_s: float = 0.0
    _least: int | None = None
    _most: int = 0
    _moved_s: float = 0.0

    async def until_quiet(
        self,
        left: Callable[[], Awaitable[Mapping[str, int]]],
        *,
        done: Callable[[], int] = int,
        disturbed: Callable[[], Awaitable[bool]],
    ) -> None:
        """Wait for the end of the work; the arguments give those of ``goes_on``."""
        self._began_s = anyio.current_time()
        while self.goes_on(anyio.current_time(), await left(), done=done(), disturbed=await disturbed()):  # noqa: ASYNC110
            await anyio.sleep(LOOK_S)

    def goes_on(self, now_s: float, left: Mapping[str, int], *, done: int = 0, disturbed: bool = False) -> bool:
        """Whether there is something to wait for.

        Args:
            now_s: the time; the wait began at 0, unless ``until_quiet`` waits.
            left: the work that is left, by its kind; -1: nobody can tell.
            done: work that was done; it only grows.
            disturbed: whether nobody can expect progress now, since a process starts for example.
        """
        self.left = left
        if not any(left.values()):
            return False
        self._note(now_s, sum(left.values()), done, disturbed or min(left.values()) < 0)
        rest = ", ".join(f"{count} {what}" for what, count in left.items() if count)
        if now_s - self._moved_s > self.still_s:
            self.stopped = f"{rest}: nothing has moved for {self.still_s:g} s"
        elif now_s - self._began_s > self.limit_s:
            self.undecided = f"{rest} after {self.limit_s:g} s, and the work had not stopped"
        return not (self.stopped or self.undecided)

    def _note(self, now_s: float, count: int, done: int, disturbed: bool) -> None:
        if disturbed:
            self._moved_s = now_s
        elif self._least is None or count < self._least or done > self._most:
            self._least, self._moved_s = min(count, self._least or count), now_s
        self._most = max(self._most, done)
