"""The histories of the sessions that this process answered last, so that their next turns need not read them anew.

A history is used only if the log is still as this process left it. The script that claims a session tells: nobody has
committed since, and nothing of the log was replaced because something in it was forgotten.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from daemon.events import LogEntry
from daemon.session import Begun, Claim, commit_name
from workers.agent.history import History
from workers.agent.prompt_history import Past

KEPT_BYTES = 16 * 1024 * 1024
"""What all histories of a process may take."""
KEPT_S = 600.0
"""For how long a history is kept: a conversation that rests for longer is read anew."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A history as of one commit."""

    done: str
    replaced: int
    first: int
    """Index of its first message."""
    history: History
    since: float


class Histories:
    """The histories of a process; the one that was used least goes first."""

    def __init__(self, most_bytes: int = KEPT_BYTES, *, now: Callable[[], float] = time.monotonic) -> None:
        self._left_bytes = most_bytes
        self._now = now
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def take(self, session: str, at: Begun) -> History | None:
        """The history of a turn that begins, and not kept any longer; None: it has to be read."""
        kept = self._drop(session)
        if kept is None:
            return None
        is_same = (kept.done, kept.replaced) == (at.done, at.replaced) and not self._is_old(kept)
        # What a model sees no longer is left out.
        first = at.start - kept.first
        if not is_same or first < 0 or at.base > at.start or kept.first + len(kept.history) != at.head:
            return None
        return kept.history if first == 0 else History(kept.history[first:])

    def keep(self, claim: Claim, past: Past, entries: Sequence[LogEntry]) -> None:
        """Keep ``past`` with the messages of the turn that was committed behind it."""
        if not past.whole or past.first + len(past.history) != claim.begun.head:
            return
        self._drop(claim.session)
        history = History(entries, begun=past.history)
        self._kept[claim.session] = _Kept(commit_name(claim), claim.begun.replaced, past.first, history, self._now())
        self._left_bytes -= history.size_bytes
        while self._kept and (self._left_bytes < 0 or self._is_old(next(iter(self._kept.values())))):
            self._left_bytes += self._kept.popitem(last=False)[1].history.size_bytes

    def _drop(self, session: str) -> _Kept | None:
        kept = self._kept.pop(session, None)
        self._left_bytes += kept.history.size_bytes if kept else 0
        return kept

    def _is_old(self, kept: _Kept) -> bool:
        return kept.since < self._now() - KEPT_S
