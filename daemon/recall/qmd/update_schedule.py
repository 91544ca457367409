"""The scopes whose index must be updated, and when, because not every new line updates an index. Pure with respect to
time."""

from dataclasses import dataclass, field

DEBOUNCE_S = 5.0
"""How long a scope has been quiet when its turn comes: what is consolidated is written in several steps."""

LATEST_S = 60.0
"""How long one that never is quiet waits at most."""

SCOPES_MAX = 10_000
"""Scopes that wait; more are asked for again when they are searched."""


@dataclass
class Wanted:
    """The scopes that wait for an update."""

    _since: dict[str, float] = field(default_factory=dict[str, float])
    _due: dict[str, float] = field(default_factory=dict[str, float])

    def want(self, scope: str, now: float, *, is_new: bool = True) -> None:
        """Something of it has changed; not ``is_new``: it was only noticed, and who waits already waits no longer."""
        if not is_new and scope in self._due:
            return
        if scope not in self._since and len(self._since) >= SCOPES_MAX:
            return
        since = self._since.setdefault(scope, now)
        self._due[scope] = min(now + DEBOUNCE_S, since + LATEST_S)

    def take(self, now: float) -> str:
        """One whose time has come, the one that has waited longest; empty: none."""
        scope = min(self._due, key=self._due.__getitem__, default="")
        if not scope or self._due[scope] > now:
            return ""
        del self._due[scope], self._since[scope]
        return scope

    def next_at(self) -> float:
        """When the next one's time comes; infinity: none waits."""
        return min(self._due.values(), default=float("inf"))
