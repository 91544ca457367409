"""The part of a session's log that is not consolidated: as it is stored, as it reads, and who can tell it apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from daemon.bus import Bus
from daemon.config import MicroCompactConfig
from daemon.events import LogEntry
from daemon.session import Lock
from daemon.tokens import Tokenizer
from workers.consolidation.plan import Unsettled, seen_tokens
from workers.micro import old_upto

_decode = msgspec.json.Decoder(LogEntry).decode


@dataclass(frozen=True, kw_only=True)
class LogPart:
    """The messages from an index on."""

    first: int
    raws: tuple[bytes, ...]
    """As they are stored."""
    entries: tuple[LogEntry, ...]

    def upto(self, index: int) -> "LogPart":
        """Those before ``index``."""
        count = index - self.first
        return LogPart(first=self.first, raws=self.raws[:count], entries=self.entries[:count])

    @property
    def upto_index(self) -> int:
        """One past the last."""
        return self.first + len(self.entries)

    @property
    def tokens(self) -> int:
        """As they are stored."""
        return sum(entry.tokens for entry in self.entries)

    @property
    def last(self) -> str:
        """What the last message is known by: another that takes its place after a failover is told apart by it."""
        return identity(self.entries[-1])


def identity(entry: LogEntry) -> str:
    """What a message is known by, also when its content was forgotten."""
    return f"{entry.turn} {entry.time} {entry.id}".rstrip()


async def read(bus: Bus, lock: Lock, first: int, upto: int) -> LogPart:
    """The messages ``first`` to ``upto`` (exclusive) of a locked session, as far as Redis holds them.

    Raises:
        BusUnavailable: Redis is away.
    """
    raws: list[bytes] = []
    if upto > first >= lock.base:
        raws = await bus.call("LRANGE", bus.keys.log(lock.session), first - lock.base, upto - lock.base - 1)
    return LogPart(first=first, raws=tuple(raws), entries=tuple(map(_decode, raws)))


def unsettled(part: LogPart, lock: Lock, micro: MicroCompactConfig, tokenizer: Tokenizer) -> Unsettled:
    """The part from the cursor on, with what its messages count in a prompt."""
    entries = part.entries
    names = is_group(lock.scope, entries)
    before_start = max(0, lock.start - part.first)
    shown = len(entries) - before_start
    uncut = lock.fixed_tokens + sum(entry.tokens for entry in entries[before_start:])
    old = before_start + old_upto(shown, (), micro, uncut_tokens=lambda: uncut)
    seen = seen_tokens(entries, old=old, result_max_chars=micro.max_chars, names=names, count=tokenizer.count_message)
    return Unsettled(cursor=part.first, start=lock.start, entries=entries, seen=seen)


def is_group(scope: str, entries: Sequence[LogEntry]) -> bool:
    """Whether several people speak, as far as scope and log can tell."""
    return scope.split(":")[1:2] == ["group"] or len({entry.sender for entry in entries if entry.sender}) > 1
