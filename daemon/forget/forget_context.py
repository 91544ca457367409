"""What everything that forgets has in hand: the stores, what is wanted, and what was found of it so far."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

import structlog

from daemon.archive import Archive
from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import Config
from daemon.errors import ArchiveUnavailable, brief
from daemon.forget.text_matcher import Needle
from daemon.forget.tombstone import Count, Wanted
from daemon.memory import Memories, MemoryFiles
from daemon.session import Locks

_log = structlog.get_logger()

Tier = Literal[
    "memory",
    "history",
    "notes",
    "messages",
    "archive",
    "versions",
    "continuity",
    "titles",
    "waiting",
    "overheard",
    "reminders",
    "replies",
    "dead",
    "notices",
    "live",
    "files",
    "terminal",
    "usage",
]
"""Where a text can stand; in the order in which people are told of it."""

TIERS: tuple[Tier, ...] = get_args(Tier)

FOUND_MAX = 5_000
"""Places that are remembered of a look; more than anybody reads."""


@dataclass(frozen=True, kw_only=True)
class Stores:
    """Everything in which something can stand."""

    bus: Bus
    config: Config
    data_dir: Path
    workspace_of: Callable[[str], Path]
    """The folder of a bot by its name; raises ConfigError."""
    locks: Locks
    memories: Memories
    archive: Archive
    files: MemoryFiles
    clock: Clock
    count_of: Callable[[str], Awaitable[Count]]
    """By scope: what a message counts in its bot's prompts."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A place where it stands."""

    tier: Tier
    hits: tuple[str, ...]
    """The units that hold it."""
    time: str
    """Of what it stands in: ISO 8601, UTC; empty: unknown."""


@dataclass(kw_only=True)
class Work:
    """One look for something, or one pass that removes it."""

    stores: Stores
    wanted: Wanted
    looks: bool = False
    """Nothing is changed: it is only looked."""
    counts: Counter[str] = field(default_factory=Counter[str])
    """Places by tier: found when it looks, else removed."""
    failed: dict[str, None] = field(default_factory=dict[str, None])
    """What could not be done, and why, for people; each once."""
    waits: bool = False
    """The storage of the archive cannot be used at present, so its files were not searched or changed."""
    places: list[Found] = field(default_factory=list[Found])
    """When it looks: where."""

    @property
    def loosely(self) -> Wanted:
        """What is wanted of what is only shown in passing, as the lists that people choose from: nobody chose of it."""
        return replace(self.wanted, chosen=None) if isinstance(self.wanted, Needle) else self.wanted

    def found(self, tier: Tier, hits: Sequence[str], *, time: str = "", count: int = 1) -> None:
        """Note a place."""
        self.counts[tier] += count
        if self.looks and len(self.places) < FOUND_MAX:
            self.places.append(Found(tier=tier, hits=tuple(hits), time=time))

    def fail(self, reason: str) -> None:
        """Note what could not be done."""
        self.failed[reason] = None

    def wait_for_archive(self, error: ArchiveUnavailable) -> None:
        """Note that the archive cannot be used at present; the reason is for the operator."""
        _log.warning("forget.archive_unavailable", reason=brief(error))
        self.waits = True
