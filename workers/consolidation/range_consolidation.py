"""Adds the first turns of a range to memory, as a summary or verbatim: archive, apply, then move the cursor."""

import datetime as dt
from functools import partial

import msgspec
import structlog

from daemon.clock import stamp
from daemon.errors import UNREADABLE, ArchiveError, CallSkipped, SummaryFailed, Unsummarizable, brief
from daemon.events import Continuity
from daemon.memory import HistoryEntry, Opened, Version
from daemon.session import ConsolidationLock
from workers.consolidation.audit import RangeAuditor
from workers.consolidation.consolidation_kits import ConsolidationUsage, Kit
from workers.consolidation.consolidation_plan import boundaries
from workers.consolidation.consolidation_request import ConsolidationRequest, SharedStores, attempt
from workers.consolidation.lock_holder import unless_wanted
from workers.consolidation.log_part import LogPart, is_group
from workers.consolidation.summary.log_rendering import raw_entry
from workers.consolidation.summary.summarize import NO_LIMIT, Summary
from workers.consolidation.summary.summary_calls import PaidParts
from workers.consolidation.summary.summary_request import Background, continuity_max_tokens, within

ASKED_AGAIN_MAX = 2
"""How often a model is asked again because somebody else changed MEMORY.md meanwhile."""

DIGEST_FIRST_S = 30.0
"""After so long, a raw entry is worked into MEMORY.md although nothing was summarized since: as the breaker probes."""

DIGEST_MOST_S = 3_600.0
"""Longest time between two attempts to do that."""

MERGED_MAX = 8
"""How often what others appended meanwhile is put below."""

_encode = msgspec.json.Encoder().encode
_log = structlog.get_logger()


class Mark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a memory keeps beside a session's position, for whoever has to move the cursor in our stead."""

    last: str = ""
    """Identity of the last message taken in."""
    continuity: Continuity | None = None
    flushed: bool = True


_decode_mark = msgspec.json.Decoder(Mark).decode


def encoded(mark: Mark) -> str:
    """As it is stored."""
    return _encode(mark).decode()


def without_continuity(mark: Mark) -> Mark:
    """What is left of a mark once the session itself has the continuity."""
    return msgspec.structs.replace(mark, continuity=None)


def mark_from(text: str) -> Mark:
    """The mark as it is stored; what a hand has spoilt is none."""
    try:
        return _decode_mark(text or "{}")
    except UNREADABLE:
        return Mark()


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What the first turns of a range come to."""

    count: int
    """How many of its messages: as many turns as one request holds."""
    text: str
    """Of the history entry."""
    summary: Summary | None = None
    """None: it goes in as it is."""
    continuity: str = ""


class RangeConsolidation:
    """Takes ranges of one session in."""

    def __init__(self, stores: SharedStores, kit: Kit, want: ConsolidationRequest, spent: ConsolidationUsage) -> None:
        self._stores = stores
        self._kit = kit
        self._want = want
        self._spent = spent
        self._auditing = RangeAuditor(stores=stores, kit=kit, want=want, spent=spent)
        self._most_tokens = NO_LIMIT
        self.raw = 0
        """Ranges that went in as they are."""

    async def take_in(self, lock: ConsolidationLock, opened: Opened, part: LogPart, *, moves: bool) -> LogPart:
        """Take in as many turns of ``part`` as one request holds; with ``moves`` the session's cursor follows.

        ``part`` begins where ``opened`` ends. Returns what was taken in, one turn at least.

        Raises:
            CallSkipped: the model was not asked; nothing was written.
            SummaryFailed: it gave no summary; nothing was written.
            ArchiveError: the disk did not take it; nothing was written.
            LockLost: somebody else has the session's lock.
        """
        async with attempt(self._stores, lock):
            if moves and self._stores.archive.is_failing:
                # Nobody is to pay for a summary that cannot be kept.
                await self._stores.archive.write(lock.session, part.first, part.raws)
            taken = await self._taken(lock, opened, part)
            part = part.upto(part.first + taken.count)
            await self._written(lock, opened, part, taken, moves=moves)
        await self._stores.trim(lock.session, part.upto_index)
        await self._stores.show(opened.scope)
        if taken.summary and opened.undigested and not self._want.awaited:
            await unless_wanted(self._stores.locks, lock, partial(self.digest, lock, opened.scope))
        if not self._want.awaited:
            await self._shelve(opened.scope)
        return part

    async def _shelve(self, scope: str) -> None:
        """What is old of the memory goes to the archive; when that cannot be used it stays, until the next time."""
        try:
            await self._stores.memories.shelve(scope)
        except ArchiveError as error:
            _log.warning("memory.unshelved", reason=brief(error))

    async def pass_over(self, lock: ConsolidationLock, opened: Opened, *, upto: int, reason: str) -> None:
        """Say in the history that messages which a memory has lost in a failover cannot be read back any more.

        Raises:
            LockLost: somebody else has the session's lock.
        """
        first, time = opened.upto, self._stores.clock.now()
        entry = HistoryEntry(
            time=self._now(),
            session=lock.session,
            first=first,
            upto=upto,
            kind="raw",
            correlation=self._want.correlation,
            text=f"[{time:%Y-%m-%d %H:%M}] [RAW] messages {first} to {upto - 1} cannot be read back: {reason}",
        )
        await self._stores.memories.apply(opened, entry, mark=encoded(Mark()))

    async def _written(
        self, lock: ConsolidationLock, opened: Opened, part: LogPart, taken: Taken, *, moves: bool
    ) -> None:
        """Archive first, then memory, then the cursor: what is left in between is what the next one goes on from."""
        if not moves:
            # It was archived before the cursor moved over it.
            await self._applied(lock, opened, part, taken, Mark(last=part.last))
            await self._stores.locks.note(lock, "failures", 0)
            await self._stores.locks.note(lock, "parts", "")
            return
        segment = await self._stores.archive.write(lock.session, part.first, part.raws)
        is_seen = part.upto_index > lock.start
        mark = Mark(
            last=part.last,
            continuity=Continuity(transcript=segment.name, text=taken.continuity) if is_seen else None,
            flushed=not self._kit.flushes or lock.flushed == lock.cursor,
        )
        await self._applied(lock, opened, part, taken, mark)
        await self._stores.locks.settle(
            lock,
            upto=part.upto_index,
            last=part.raws[-1],
            tokens=part.tokens,
            continuity=mark.continuity,
            flushed=mark.flushed,
        )
        if mark.continuity:
            await self._stores.memories.followed(opened, upto=part.upto_index, mark=encoded(without_continuity(mark)))

    async def _taken(self, lock: ConsolidationLock, opened: Opened, part: LogPart) -> Taken:
        """The summary of its first turns, or, when there have been too many failures, the turns themselves."""
        most = self._stores.config.consolidation.failures_max
        if lock.failures >= most:
            return await self._raw(lock, await self._held(lock, opened, part))
        try:
            summary = await self._summary(lock, opened, part)
        except Unsummarizable as error:
            self._spent.add(error.used)
            first_turn = next(boundaries(part.entries), len(part.entries))
            return await self._raw(lock, part.upto(part.first + first_turn), why=error.note)
        except SummaryFailed as error:
            self._spent.add(error.used)
            if lock.failures + 1 < most:
                raise
            part = await self._held(lock, opened, part)
            _log.warning("consolidation.raw", reason=brief(error), count=len(part.entries))
            return await self._raw(lock, part)
        self._spent.add(summary.used)
        self._most_tokens = summary.limit_tokens or self._most_tokens
        return Taken(
            count=summary.count,
            text=summary.history_entry,
            summary=summary,
            continuity=summary.continuity or summary.history_entry,
        )

    async def _held(self, lock: ConsolidationLock, opened: Opened, part: LogPart) -> LogPart:
        """As much of ``part`` as one request holds: no more goes in as it is at once."""
        count = await self._kit.summarizer.held(
            part.entries, memory=opened.text, names=is_group(lock.scope, part.entries)
        )
        return part.upto(part.first + count)

    async def _summary(self, lock: ConsolidationLock, opened: Opened, part: LogPart) -> Summary:
        return await self._kit.summarizer.summarize(
            part.entries,
            Background(
                memory=opened.text,
                continuity=self._earlier(lock, part),
                focus=self._want.focus,
                rejected=opened.rejected,
            ),
            names=is_group(lock.scope, part.entries),
            most_tokens=self._most_tokens,
            parts=self._paid(lock),
        )

    def _paid(self, lock: ConsolidationLock) -> PaidParts:
        return PaidParts(lock.parts, keep=partial(self._stores.locks.note, lock, "parts"))

    async def _raw(self, lock: ConsolidationLock, part: LogPart, *, why: str = "") -> Taken:
        self.raw += 1
        text = raw_entry(
            part.entries,
            now=self._stores.clock.now(),
            names=is_group(lock.scope, part.entries),
            time_zone=self._kit.bot.time_zone,
        )
        told = why or f"[Session context was compacted: {len(part.entries)} messages, {part.tokens} tokens.]"
        tokenizer, most = self._kit.tokenizer, continuity_max_tokens(self._kit.bot.model)
        # As many raw entries as there may be, they leave no more behind than a summary.
        earlier = await within(tokenizer, self._earlier(lock, part), most - tokenizer.count(told))
        return Taken(count=len(part.entries), text=text, continuity="\n\n".join(filter(None, (earlier, told))))

    @staticmethod
    def _earlier(lock: ConsolidationLock, part: LogPart) -> str:
        """Where the conversation stood before ``part``."""
        return lock.continuity.text if lock.continuity and part.first >= lock.start else ""

    async def _applied(self, lock: ConsolidationLock, opened: Opened, part: LogPart, taken: Taken, mark: Mark) -> None:
        """Write the memory; when somebody else wrote it meanwhile, merge, ask again, or leave MEMORY.md alone."""
        marked, summary, asked_again = encoded(mark), taken.summary, 0
        entry = HistoryEntry(
            time=self._now(),
            session=lock.session,
            first=part.first,
            upto=part.upto_index,
            kind="summary" if summary else "raw",
            model=summary.model if summary else "",
            correlation=self._want.correlation,
            text=taken.text,
        )
        update, rejected = self._versions(entry, summary)
        is_owed, auditor = False, await self._auditing.auditor(lock, opened, part)
        for _ in range(MERGED_MAX):
            if auditor:
                entry, update = await auditor.audited(opened, entry, update)
            applied = await self._stores.memories.apply(
                opened, entry, mark=marked, update=update, rejected=rejected, is_owed=is_owed
            )
            if applied.status != "version" or update is None:
                return
            opened, merged = applied.opened, applied.merged(update.text)
            if merged is not None:
                update = msgspec.structs.replace(update, text=merged)
                continue
            asked_again += 1
            asks = summary is not None and asked_again <= ASKED_AGAIN_MAX
            again = await self._again(lock, opened, part) if asks else None
            update, rejected = self._versions(entry, again)
            # Too many write it just now: it learns later what the entry says.
            is_owed = again is None
        await self._stores.memories.apply(opened, entry, mark=marked, rejected=rejected, is_owed=True)

    async def _again(self, lock: ConsolidationLock, opened: Opened, part: LogPart) -> Summary | None:
        """What the model makes of the same range and a MEMORY.md that somebody changed meanwhile."""
        try:
            summary = await self._summary(lock, opened, part)
        except (SummaryFailed, CallSkipped, Unsummarizable) as error:
            _log.warning("memory.unmerged", reason=brief(error))
            return None
        self._spent.add(summary.used)
        # Beside a longer MEMORY.md a request may hold less: the entry is of more than this summary.
        return summary if summary.count == len(part.entries) else None

    def _versions(self, entry: HistoryEntry, summary: Summary | None) -> tuple[Version | None, Version | None]:
        """What a summary makes of MEMORY.md, None: it stays as it is; and what was not taken over."""
        if summary is None:
            return None, None
        update, rejected = summary.memory_update, summary.rejected_update
        made = partial(
            Version,
            time=self._now(),
            session=entry.session,
            first=entry.first,
            upto=entry.upto,
            model=summary.model,
        )
        return (
            None if update is None else made(kind="consolidation", reason=summary.memory_reason, text=update),
            made(kind="rejected", reason=summary.rejection, text=rejected) if rejected else None,
        )

    async def digest_in_s(self, lock: ConsolidationLock, scope: str) -> float | None:
        """Seconds until a raw entry may be worked in although nothing was summarized; None: there is none."""
        found = await self._stores.memories.undigested(scope)
        if not found:
            return None
        [(_, entry)] = found
        return (lock.digest_at or _written_at(entry) + DIGEST_FIRST_S) - self._stores.clock.now().timestamp()

    async def digest(self, lock: ConsolidationLock, scope: str) -> None:
        """The model answers again: what went in as it was is worked into MEMORY.md now; HISTORY stays as it is."""
        for _ in range(self._stores.config.consolidation.rounds_max):
            found = await self._stores.memories.undigested(scope)
            if not found:
                return
            [(index, entry)] = found
            async with attempt(self._stores, lock, "digests"):
                done = await self._digested(lock, index, entry)
            await self._stores.locks.note(lock, "digests", "")
            # As long as it has waited it waits again: a model that fails is not paid for every minute.
            now = self._stores.clock.now().timestamp()
            wait_s = min(max(now - _written_at(entry), DIGEST_FIRST_S), DIGEST_MOST_S)
            await self._stores.locks.note(lock, "digest_at", "" if done else f"{now + wait_s:.0f}")
            if not done:
                return
            await self._stores.show(scope)
            lock = msgspec.structs.replace(lock, digests=0)

    async def _digested(self, lock: ConsolidationLock, index: int, entry: HistoryEntry) -> bool:
        """Whether the model answered; what kills its workers is left to HISTORY."""
        opened = await self._stores.memories.open(lock.scope, lock.session, fence=lock.fence, nonce=lock.nonce)
        if lock.digests >= self._stores.config.consolidation.failures_max:
            _log.warning(
                "memory.undigested",
                reason="the worker that was summarizing these messages did not finish",
                count=lock.digests,
            )
            await self._stores.memories.digest(opened, index=index, update=None)
            return True
        try:
            summary = await self._kit.summarizer.digest(entry.text, memory=opened.text, parts=self._paid(lock))
        except (SummaryFailed, CallSkipped, Unsummarizable) as error:
            self._spent.add(error.used)
            _log.info("memory.undigested", reason=brief(error))
            return False
        self._spent.add(summary.used)
        update, rejected = self._versions(entry, summary)
        if update and (auditor := await self._auditing.auditor(lock, opened, None)):
            update, _ = auditor.pinned(opened.text, update)
        digest = rejected if update is None else msgspec.structs.replace(update, kind="digest")
        await self._stores.memories.digest(opened, index=index, update=digest)
        await self._stores.locks.note(lock, "parts", "")
        return True

    def _now(self) -> str:
        return stamp(self._stores.clock.now())


def _written_at(entry: HistoryEntry) -> float:
    """When an entry was written, s since 1970; 0 where that cannot be read."""
    try:
        return dt.datetime.fromisoformat(entry.time).timestamp()
    except ValueError:
        return 0.0
