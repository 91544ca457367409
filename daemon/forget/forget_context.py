"""What everything that forgets has in hand: the stores, what is wanted, and what was found of it so far."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

import msgspec
import structlog

from daemon import tokens
from daemon.archive import Archive
from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import Config
from daemon.errors import ArchiveUnavailable, ConfigError, brief
from daemon.forget.text_matcher import TextMatcher
from daemon.forget.tombstone import EVERYTHING, Count, Wanted
from daemon.jobs import JobHost
from daemon.memory import Memories, MemoryFiles
from daemon.memory.memory_files import bot_of
from daemon.session import ConsolidationLocks, sessions_of, sessions_where
from daemon.sessionkey import SessionKey

# What is to be forgotten, as a job keeps it, and what it comes to: which sessions, scopes and people.

KIND = "forget"
"""Of the jobs."""

Whole = Literal["", "session", "scope", "person"]


class ForgetOrder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job's spec: whose; what was looked for is a secret of the job's."""

    whole: Whole = ""
    """What goes as a whole; empty: a text, wherever it stands in the scopes."""
    name: str
    """Whom or what it is about, for people: a session, a scope, a person."""
    scopes: tuple[str, ...] = ()
    """Whose memory: the home first, then those that are linked into it."""
    session: str = ""
    """Of ``session``."""
    people: tuple[str, ...] = ()
    """Of ``person``: every name that the person has, ``<channel>:<sender>``."""
    bot: str = ""
    """Of ``person``: name of the bot whose groups are looked through."""
    chat: str = ""
    """The session in which somebody asked for it."""


class ForgetSearch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job's secret: the text that is looked for, and the groups of what was chosen of the places it stands in."""

    text: str
    chosen: tuple[str, ...] | None = None
    """None: all."""

    @property
    def wanted(self) -> Wanted:
        """It, as it is looked for."""
        return TextMatcher(self.text, None if self.chosen is None else frozenset(self.chosen))


def wanted_of(search: ForgetSearch | None) -> Wanted:
    """What is looked for; everything where there is nothing to look for."""
    return EVERYTHING if search is None else search.wanted


class ForgetTargets(msgspec.Struct, frozen=True, kw_only=True):
    """Where an order leads, as the sessions stand now."""

    sessions: tuple[tuple[str, str], ...]
    """Those of the scopes, each with its own scope."""
    others: tuple[tuple[str, str], ...] = ()
    """Of an order about a person: sessions of the same bot in which others speak too."""
    is_alone: bool = False
    """Of an order about a session: no other one shares its memory."""

    @property
    def all(self) -> tuple[tuple[str, str], ...]:
        """Both, sorted."""
        return tuple(sorted((*self.sessions, *self.others)))


async def ground_of(bus: Bus, order: ForgetOrder) -> ForgetTargets:
    """What ``order`` is about.

    Raises:
        BusUnavailable: Redis is away.
    """
    found = await sessions_of(bus, frozenset(order.scopes))
    if order.whole == "session":
        named = tuple(each for each in found if each[0] == order.session)
        return ForgetTargets(sessions=named, is_alone=len(found) == len(named))
    if order.whole != "person":
        return ForgetTargets(sessions=tuple(found))
    direct = {str(SessionKey.parse(person)) for person in order.people}
    own, others = list(found), list[tuple[str, str]]()
    known = {session for session, _ in found}
    for session, scope in await sessions_where(bus, lambda scope: scope.split(":")[0] == order.bot):
        if session in direct and session not in known:
            own.append((session, scope))  # nobody else was in it, whoever the memory belongs to
        elif session not in known and scope.split(":")[1:2] != ["person"]:
            others.append((session, scope))
    return ForgetTargets(sessions=tuple(sorted(own)), others=tuple(sorted(others)))


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


class ForgetStores(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in which something can stand."""

    bus: Bus
    config: Config
    data_dir: Path
    workspace_of: Callable[[str], Path]
    """The folder of a bot by its name; raises ConfigError."""
    locks: ConsolidationLocks
    memories: Memories
    archive: Archive
    files: MemoryFiles
    clock: Clock
    count_of: Callable[[str], Awaitable[Count]]
    """By scope: what a message counts in its bot's prompts."""


class FoundPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place where it stands."""

    tier: Tier
    hits: tuple[str, ...]
    """The units that hold it."""
    time: str
    """Of what it stands in: ISO 8601, UTC; empty: unknown."""


@dataclass(kw_only=True)
class ForgetContext:
    """One look for something, or one pass that removes it."""

    stores: ForgetStores
    wanted: Wanted
    looks: bool = False
    """Nothing is changed: it is only looked."""
    counts: Counter[str] = field(default_factory=Counter[str])
    """Places by tier: found when it looks, else removed."""
    failed: dict[str, None] = field(default_factory=dict[str, None])
    """What could not be done, and why, for people; each once."""
    waits: bool = False
    """The storage of the archive cannot be used at present, so its files were not searched or changed."""
    places: list[FoundPlace] = field(default_factory=list[FoundPlace])
    """When it looks: where."""

    @property
    def loosely(self) -> Wanted:
        """What is wanted of what is only shown in passing, as the lists that people choose from: nobody chose of it."""
        return replace(self.wanted, chosen=None) if isinstance(self.wanted, TextMatcher) else self.wanted

    def found(self, tier: Tier, hits: Sequence[str], *, time: str = "", count: int = 1) -> None:
        """Note a place."""
        self.counts[tier] += count
        if self.looks and len(self.places) < FOUND_MAX:
            self.places.append(FoundPlace(tier=tier, hits=tuple(hits), time=time))

    def fail(self, reason: str) -> None:
        """Note what could not be done."""
        self.failed[reason] = None

    def wait_for_archive(self, error: ArchiveUnavailable) -> None:
        """Note that the archive cannot be used at present; the reason is for the operator."""
        _log.warning("forget.archive_unavailable", reason=brief(error))
        self.waits = True


# What forgetting needs of a process.


def stores_for(host: JobHost) -> ForgetStores:
    """The stores of a process."""
    archive = Archive(host.bus, host.data_dir, config=host.config.archive, clock=host.clock)
    memories = Memories(host.bus, archive)
    return ForgetStores(
        bus=host.bus,
        config=host.config,
        data_dir=host.data_dir,
        workspace_of=host.workspace,
        locks=ConsolidationLocks(host.bus, host.config.queue, worker=host.name),
        memories=memories,
        archive=archive,
        files=MemoryFiles(memories, workspace_of=host.workspace, clock=host.clock),
        clock=host.clock,
        count_of=_counting(host),
    )


def _counting(host: JobHost) -> Callable[[str], Awaitable[Count]]:
    async def count_of(scope: str) -> Count:
        try:
            name = host.bot(bot_of(scope)).model.name
        except ConfigError:
            name = ""  # counted as for most models
        return (await tokens.load(name)).count_message

    return count_of


async def scopes_with(bus: Bus, scope: str) -> tuple[str, ...]:
    """The scope that the memory of ``scope`` is, and then those that were joined with it, whose own lists are kept.

    Raises:
        BusUnavailable: Redis is away.
    """
    home = ((await bus.call("HGET", bus.keys.memory(scope), "joined")) or b"").decode() or scope
    fields: list[bytes] = await bus.call("HKEYS", bus.keys.memory(home))
    named = sorted(field.decode().removeprefix("links:") for field in fields if field.startswith(b"links:"))
    # One that was separated again is another person's.
    joined = [each for each in named if await bus.call("HGET", bus.keys.memory(each), "joined") == home.encode()]
    return (home, *joined)
