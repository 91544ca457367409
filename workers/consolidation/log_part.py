"""The unconsolidated part of a session's log, in stored and decoded form."""

from collections.abc import Sequence
from functools import partial

import msgspec
from anyio import to_thread

from daemon.bus import Bus
from daemon.config import MicroCompactConfig
from daemon.errors import LockLost, Trimmed
from daemon.events import LogEntry
from daemon.session import ConsolidationLock, raws_of_log
from daemon.tokens import Tokenizer
from workers.consolidation.consolidation_plan import Unsettled, seen_tokens
from workers.message_format import in_steps, old_upto

CHUNK = 500
"""Log entries read at once."""

THREAD_ENTRIES = 1_000
"""More messages are counted in a thread: 3 µs each."""

_decode = msgspec.json.Decoder(LogEntry).decode


class LogPart(msgspec.Struct, frozen=True, kw_only=True):
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


async def read(
    bus: Bus, lock: ConsolidationLock, first: int, upto: int, *, enough_tokens: int | None = None
) -> LogPart:
    """The messages ``first`` to ``upto`` (exclusive) of a locked session, as far as Redis holds them.

    With ``enough_tokens`` no more whole turns are read once the messages count so many.

    Raises:
        BusUnavailable: Redis is away.
        LockLost: the session was set back by a failover since it was locked: its log may be another one.
        Trimmed: the first of them is in the archive alone, since it was consolidated before.
    """
    raws: list[bytes] = []
    entries: list[LogEntry] = []
    tokens, at = 0, first
    while at < upto and not (enough_tokens and tokens >= enough_tokens and _turns(entries) > 1):
        most = min(at + CHUNK, upto)
        try:
            found = await raws_of_log(bus, lock.session, at, most)
        except Trimmed as error:
            if first < lock.cursor:
                raise
            raise _moved(lock) from error
        raws += found
        entries += map(_decode, found)
        tokens += sum(entry.tokens for entry in entries[at - first :])
        at = most
    if int(await bus.call("HGET", bus.keys.session(lock.session), "cursor") or 0) != lock.cursor:
        raise _moved(lock)
    part = LogPart(first=first, raws=tuple(raws), entries=tuple(entries))
    # Where reading ended the last turn may go on.
    return part if at >= upto or not entries else part.upto(first + _begins_at(entries))


def _moved(lock: ConsolidationLock) -> LockLost:
    return LockLost(
        f"session {lock.session} was rolled back while it was being consolidated. The consolidation starts again."
    )


def part_of(first: int, raws: Sequence[bytes]) -> LogPart:
    """The messages from index ``first`` on, as they are stored."""
    return LogPart(first=first, raws=tuple(raws), entries=tuple(map(_decode, raws)))


def _turns(entries: Sequence[LogEntry]) -> int:
    """1 or more than that."""
    return 1 + (entries[0].turn != entries[-1].turn)


def _begins_at(entries: Sequence[LogEntry]) -> int:
    """Where the last turn begins."""
    at = len(entries) - 1
    while at and entries[at - 1].turn == entries[-1].turn:
        at -= 1
    return at


async def unsettled(
    part: LogPart, lock: ConsolidationLock, micro: MicroCompactConfig, tokenizer: Tokenizer
) -> Unsettled:
    """The part from the cursor on, with what its messages count in a prompt."""
    entries = part.entries
    names = is_group(lock.scope, entries)
    before_start = max(0, lock.start - part.first)
    shown = lock.head - max(lock.start, part.first)
    old = old_upto(shown, (), micro, uncut_tokens=lambda: lock.fixed_tokens + lock.tokens_start)
    old = before_start + in_steps(old, micro)
    count = partial(
        seen_tokens, entries, old=old, result_max_chars=micro.max_chars, names=names, count=tokenizer.count_message
    )
    seen = await to_thread.run_sync(count) if len(entries) > THREAD_ENTRIES else count()
    return Unsettled(cursor=part.first, start=lock.start, entries=entries, seen=seen)


def is_group(scope: str, entries: Sequence[LogEntry]) -> bool:
    """Whether several people speak, as far as scope and log can tell."""
    return scope.split(":")[1:2] == ["group"] or len({entry.sender for entry in entries if entry.sender}) > 1
