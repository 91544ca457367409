"""What a look at the data found: a rule that is broken, where, and what would mend it."""

from dataclasses import dataclass, field

import msgspec


class Mend(msgspec.Struct, frozen=True, kw_only=True):
    """What would mend it: an action of ``mend.lua``, which looks again before it changes anything."""

    what: str
    """For people: what it does."""
    action: str
    owner: str = ""
    """Session or scope."""
    args: tuple[str | int, ...] = ()
    key: str = ""
    """Of actions that are about one key of any kind."""


@dataclass(frozen=True, kw_only=True)
class Flaw:
    """One rule that is broken in one place."""

    rule: str
    """Its name: ``session.positions``, ``waiting.due`` … (docs/data.md lists them)."""
    where: str
    """Session, scope, key or file."""
    text: str
    """What is wrong, and what to do where nothing mends it."""
    mend: Mend | None = field(default=None, compare=False)
