"""The meaning of a key's name: its kind, its partition, and its owner. Pure."""

import re
from typing import Literal

import msgspec

Place = Literal["session", "scope", "queue", "database"]
"""The owner of a key; ``queue`` has one key for each partition."""

SESSION = frozenset({"session", "log", "waiting", "lock", "segments", "notices", "reminders"})
"""Kinds that are one session's, and read in one step with it; all but ``notices`` have no TTL."""

SCOPE = frozenset({"memory", "history", "versions", "notes", "undigested", "shelved"})
"""Kinds that are one scope's, and read in one step."""

ZSETS = frozenset({"ready", "due", "asides", "unsettled", "upcoming"})
"""Keys of a partition; their entries of a session are read with the session."""

STREAMS = frozenset({"in", "out", "dead", "grew", "unknown"})
"""Of a partition; each of their entries is one session's."""

BESIDE = frozenset({"live", "forgetting", "overheard", "bots", "traces", "deliveries"})
"""Kinds that are a session's, and end by themselves."""

TAILED = frozenset({"seen", "told", "restoring"})
"""The same, with one more part behind the session."""

REPLIES = frozenset({"sent", "said"})
"""The same, named by a reply: the session, ``#`` and something."""

PASSING = frozenset(
    {"live", "clearing", "restoring", "collecting", "retaining", "workers", "pace", "bucket", "errors"}
    | {"login", "visitor", "learnt", "failing", "rates", "web", "approval"}
)
"""Short-lived keys and those of running processes, and logins: not part of backups."""

HOUR_S, DAY_S = 3_600.0, 86_400.0
TTL_S = {
    "live": 60.0,
    "clearing": 60.0,
    "told": 60.0,
    "bucket": 120.0,
    "pair": 600.0,
    "linking": 600.0,
    "login": 600.0,
    "errors": 1_200.0,
    "tries": 600.0,
    "guesses": 600.0,
    "forgetting": 600.0,
    "collecting": HOUR_S,
    "retaining": HOUR_S,
    "restoring": HOUR_S,
    "codes": HOUR_S,
    "bots": HOUR_S,
    "pace": HOUR_S,
    "notices": DAY_S,
    "rates": 26 * HOUR_S,
    "seen": DAY_S,
    "overheard": DAY_S,
    "sent": 7 * DAY_S,
    "said": 7 * DAY_S,
    "proactive": 2 * DAY_S,
    "unknown": 7 * DAY_S,
    "traces": 7 * DAY_S,
    "deliveries": 7 * DAY_S,
    "failing": DAY_S,
    "approval": 2 * DAY_S,
    "web": DAY_S,
    "learnt": 7 * DAY_S,
    "visitor": 30 * DAY_S,
    "ended": 30 * DAY_S,
    "usage": 400 * DAY_S,
}
"""Kinds that expire, and the TTL for a key that has lost its own (docs/redis.md)."""

DATABASE = frozenset(
    {
        "meta",
        "archives",
        "collecting",
        "retaining",
        "sessions",
        "labels",
        "workers",
        "jobs",
        "job",
        "ended",
        "people",
        "pair",
        "linking",
        "tries",
    }
    | {"poller", "moved", "access", "codes", "guesses", "paused", "usage", "bucket", "pace", "preferences", "proactive"}
    | {"login", "visitor", "audit", "errors", "rates", "learnt", "failing", "web", "approval"}
)
"""Kinds with one key for the database, or for each bot, channel or day."""

TYPES = {
    **dict.fromkeys(("session", "lock", "memory", "leader", "sent", "reminders"), "hash"),
    **dict.fromkeys(("log", "waiting", "segments", "history", "versions", "notes", "undigested", "shelved"), "list"),
    **dict.fromkeys(("in", "out", "dead", "grew", "unknown", "notices"), "stream"),
    **dict.fromkeys(("ready", "due", "asides", "unsettled", "upcoming", "sessions", "jobs"), "zset"),
    **dict.fromkeys(
        ("meta", "archives", "labels", "people", "access", "paused", "preferences", "moved", "poller", "usage", "job"),
        "hash",
    ),
}
"""Types of the kinds whose content is looked at."""


class KeyName(msgspec.Struct, frozen=True, kw_only=True):
    """A key's name, taken apart."""

    kind: str
    partition: int | None
    """None: no partition."""
    rest: str
    """The part after the kind; for kinds without a partition including their tag."""

    @property
    def place(self) -> Place:
        """The owner."""
        if self.partition is None:
            return "database"
        if self.kind in SCOPE:
            return "scope"
        return "queue" if self.kind in ZSETS | STREAMS | {"leader"} else "session"

    @property
    def owner(self) -> str:
        """The session or scope whose it is; empty of any other key."""
        if self.place in ("queue", "database"):
            return ""
        if self.kind in TAILED:
            return self.rest.rpartition(":")[0]
        return self.rest.partition("#")[0] if self.kind in REPLIES else self.rest

    @property
    def is_known(self) -> bool:
        """Whether Millpond makes keys of this kind."""
        if self.partition is None:
            return self.kind in DATABASE
        return self.kind in SESSION | SCOPE | ZSETS | STREAMS | BESIDE | TAILED | REPLIES | {"leader", "clearing"}


_KEY = re.compile(r"(?:\{(\d+)\}:)?([a-z]+)(?::(.*))?", re.DOTALL)


def name_of(prefix: str, key: bytes) -> KeyName | None:
    """The meaning of ``key``; None if it cannot be one of ours, such as a name that is not text."""
    try:
        text = key.decode()
    except UnicodeDecodeError:
        return None
    found = _KEY.fullmatch(text.removeprefix(f"{prefix}:")) if text.startswith(f"{prefix}:") else None
    if found is None:
        return None
    return KeyName(kind=found[2], partition=int(found[1]) if found[1] else None, rest=found[3] or "")


def key_of(prefix: str, name: KeyName) -> str:
    """The key that has this name."""
    partition = "" if name.partition is None else f"{{{name.partition}}}:"
    return f"{prefix}:{partition}{name.kind}" + (f":{name.rest}" if name.rest else "")
