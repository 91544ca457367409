"""The rounds of a consolidation under its session's lock. They continue until the prompt is small.

A round plans a range, and takes it in chunk by chunk: as many turns at a time as one summary request holds. Each chunk
is committed on its own.
"""

from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import msgspec
import structlog

from daemon import metrics
from daemon.errors import (
    ArchiveError,
    ArchiveMissing,
    CallSkipped,
    ConsolidationError,
    FenceBehind,
    LockLost,
    Trimmed,
    brief,
)
from daemon.events import Continuity
from daemon.memory import Opened
from daemon.session import ConsolidationLock
from workers.consolidation.consolidation_kits import ConsolidationUsage, Kit, payer_of
from workers.consolidation.consolidation_plan import HEAD_SHARE, Estimate, Unsettled, head_messages, pick, plan
from workers.consolidation.consolidation_request import ConsolidationReport, ConsolidationRequest, SharedStores
from workers.consolidation.lock_holder import LockOutcome, T, unless_wanted
from workers.consolidation.log_part import LogPart, part_of, read, unsettled
from workers.consolidation.memory_flush import MemoryFlush
from workers.consolidation.range_consolidation import RangeConsolidation, encoded, mark_from, without_continuity
from workers.consolidation.summary.summary_calls import CallUnpaid
from workers.session_consumer import after_attempts

MEMORY_SHARE = 0.2
"""Of a budget, what MEMORY.md may take in a prompt at most; a person who edits it may not know."""

WORTH_A_ROUND = 0.02
"""Of the target: another round for less would be a summary and a flush for a few messages."""

AT_ONCE = 2
"""Budgets of messages that one round looks at: a log that nobody ever consolidated is taken chunk by chunk."""

REPEATED_MAX = 1_000
"""Messages read back from the archive at once, for a memory that has lost what it knew of them."""

NOTE_S = 5.0
"""Longest that putting down what it has cost may take."""

_log = structlog.get_logger()


class ConsolidationRounds:
    """One session's; ``run`` once."""

    def __init__(self, stores: SharedStores, kit: Kit, ended: LockOutcome, want: ConsolidationRequest) -> None:
        self._stores = stores
        payer = payer_of(stores, kit, ended.lock, want)
        self._kit = kit = kit.paid_by(payer)
        self._ended = ended
        self._want = want
        self._thresholds = kit.thresholds()
        self._spent = ConsolidationUsage(payer)
        self._taking = RangeConsolidation(stores, kit, want, self._spent)
        self._flushing = MemoryFlush(stores, kit, self._spent)
        self._begun = False
        self._undigested_in = ""
        """The scope of the memory, if that does not hold yet what a raw entry says."""
        self._planned = 0
        """The end of the range that the round under way has planned."""
        self._is_flushed = False
        """Whether that range was flushed."""
        self._head = ended.lock.head
        self.report = ConsolidationReport()

    async def run(self) -> None:
        """Round by round; ``report`` and ``ended.again_in_s`` say how it went.

        Raises:
            BusError: Redis is away or refused.
            LockLost: somebody else has the session's lock.
        """
        began, report = self._stores.clock.monotonic(), self.report
        report.first = report.upto = self._lock.cursor
        try:
            await self._all()
        except CallUnpaid as error:
            report.outcome = "unpaid"
            self._ended.again_in_s = error.retry_after_s
            _log.info("consolidation.unpaid", reason=brief(error))
        except CallSkipped as error:
            report.outcome = "skipped"
            self._spent.add(error.used)
            self._ended.again_in_s = min(error.retry_after_s, self._stores.config.queue.backoff_max_s)
            _log.info("consolidation.skipped", reason=brief(error))
        except LockLost:
            raise  # of those below
        except (ConsolidationError, ArchiveError) as error:
            report.outcome = "failed"
            queue, attempt = self._stores.config.queue, self._lock.failures + 1
            # A disk is not full for a moment, and each attempt is paid for.
            is_disk = isinstance(error, ArchiveError)
            self._ended.again_in_s = queue.backoff_max_s if is_disk else after_attempts(attempt, queue)
            _log.warning("consolidation.failed", reason=brief(error), attempt=attempt)
        finally:
            # What was cut short has come so far, and was paid for.
            with anyio.move_on_after(NOTE_S, shield=True):
                if report.outcome != "nothing":
                    self._tell(self._stores.clock.monotonic() - began)
                await self._spent.note(self._stores)

    async def _all(self) -> None:
        # Whoever moved the cursor may have died before he could.
        await self._stores.trim(self._lock.session, self._lock.cursor)
        while self.report.rounds < self._stores.config.consolidation.rounds_max:
            if not await self._chunk():
                self._ended.again_in_s = await self._digested()
                return
            if self.report.upto >= self._planned:
                self.report.rounds += 1

    async def _digested(self) -> float | None:
        """Work in what went in as it was; the seconds after which to look again, None: nothing is left."""
        scope = self._undigested_in
        again_in_s = await self._taking.digest_in_s(self._lock, scope) if scope else None
        if again_in_s is not None and again_in_s <= 0 and not self._want.awaited:
            await self._unless_wanted(partial(self._taking.digest, self._lock, scope))
            await self._again()
            again_in_s = await self._taking.digest_in_s(self._lock, scope)
        return None if again_in_s is None else min(max(again_in_s, 0.0), self._stores.config.queue.backoff_max_s)

    def _tell(self, took_s: float) -> None:
        """The evidence of one consolidation."""
        report, total = self.report, self._spent.total
        metrics.CONSOLIDATIONS.labels(report.outcome).inc()
        metrics.CONSOLIDATION_SECONDS.observe(took_s)
        metrics.CONSOLIDATED_MESSAGES.inc(report.upto - report.first)
        _log.info(
            "consolidation.done",
            status=report.outcome,
            first=report.first,
            upto=report.upto,
            rounds=report.rounds,
            raw=self._taking.raw,
            tokens_before=report.tokens_before,
            tokens_after=report.tokens_after,
            model=",".join(self._spent.models),
            tokens_in=total.tokens_in,
            tokens_out=total.tokens_out,
            took_s=round(took_s, 3),
        )

    @property
    def _lock(self) -> ConsolidationLock:
        return self._ended.lock

    async def _again(self, *, above: int = 0) -> None:
        self._ended.lock = await self._stores.locks.again(self._lock, above=above)

    async def _chunk(self) -> bool:
        """Take in the next chunk of the range that is planned, or plan one; whether there may be more to do."""
        if self._begun or self.report.rounds:
            await self._again()
        opened = await self._opened()
        self._undigested_in = opened.scope if opened.undigested else ""
        if opened.upto < self._lock.cursor:
            await self._repeat(opened)
            return True
        if self._lock.cursor < self._planned:
            part = await read(self._stores.bus, self._lock, self._lock.cursor, self._planned)
            return await self._taken_in(opened, part)
        lock, enough_tokens = self._lock, AT_ONCE * self._thresholds.budget_tokens
        part = await read(self._stores.bus, lock, lock.cursor, lock.head, enough_tokens=enough_tokens)
        left = await unsettled(part, self._seen_by(lock), self._stores.config.micro_compact, self._kit.tokenizer)
        tokens = await self._estimate(opened, left) + lock.tokens - part.tokens
        self._count(tokens)
        if not self._begun and not self._begins(tokens):
            await self._flush(opened, part, is_due=self._thresholds.needs_flush(tokens))
            return False
        next_plan = plan(
            left,
            tokens - self._said_meanwhile(left, tokens),
            self._thresholds,
            keep_turns=self._stores.config.consolidation.keep_turns,
            force=self._want.at == "now" and not self._begun,
            least_tokens=int(WORTH_A_ROUND * self._thresholds.target_tokens) if self._begun else 1,
        )
        self._begun = True
        if next_plan is None:
            await self._flush(opened, part, is_due=self._thresholds.needs_flush(tokens))
            return False
        self._planned = next_plan.upto
        return await self._taken_in(opened, part.upto(next_plan.upto), seen=part)

    async def _taken_in(self, opened: Opened, part: LogPart, *, seen: LogPart | None = None) -> bool:
        """Take in the next chunk of ``part``; a flush before is shown ``seen``."""
        if seen:
            opened = await self._flush(opened, seen, is_due=True, is_last=True)
            self._is_flushed = self._lock.flushed == self._lock.cursor
        elif self._is_flushed:
            # The flush before the range was the flush before each of its chunks.
            await self._stores.locks.note(self._lock, "flushed", self._lock.cursor)
            self._ended.lock = msgspec.structs.replace(self._lock, flushed=self._lock.cursor)
        taken = await self._taking.take_in(self._lock, opened, part, moves=True)
        self.report.outcome, self.report.upto = "settled", taken.upto_index
        self.report.tokens_after -= taken.tokens
        return True

    async def _opened(self) -> Opened:
        """The scope's memory, with the session's cursor where that has it."""
        while True:
            lock = self._lock
            try:
                opened = await self._stores.memories.open(lock.scope, lock.session, fence=lock.fence, nonce=lock.nonce)
            except FenceBehind as error:
                # The session was set back by a failover, and its fences with it.
                await self._again(above=error.highest)
                continue
            if opened.upto <= lock.cursor:
                return opened
            if await self._rolled_forward(opened):
                await self._again()
                continue
            back = await self._stores.memories.set_back(opened, head=lock.cursor)
            _log.error("memory.set_back", count=len(back.lost), cursor=lock.cursor, head=lock.head, upto=opened.upto)
            return back.opened

    async def _rolled_forward(self, opened: Opened) -> bool:
        """Move the cursor to where the memory is; False when the log is not the one that it took in.

        Whoever wrote the memory died before he could, or the session was set back by a failover.
        """
        lock, mark = self._lock, mark_from(opened.mark)
        part = await read(self._stores.bus, lock, lock.cursor, min(opened.upto, lock.head))
        if not part.entries or lock.cursor + len(part.entries) < opened.upto or part.last != mark.last:
            return False
        # Up to the start and then on from there: the sums before and behind it are kept apart.
        upto = lock.start if lock.cursor < lock.start < opened.upto else opened.upto
        part = part.upto(upto)
        await self._stores.locks.settle(
            lock,
            upto=upto,
            last=part.raws[-1],
            tokens=part.tokens,
            continuity=mark.continuity or await self._stood(opened),
            flushed=mark.flushed,
        )
        if upto == opened.upto:
            await self._stores.memories.followed(opened, upto=upto, mark=encoded(without_continuity(mark)))
        self.report.outcome, self.report.upto = "settled", upto
        _log.warning("cursor.followed", cursor=upto)
        await self._stores.trim(lock.session, upto)
        return True

    async def _stood(self, opened: Opened) -> Continuity | None:
        """Where the conversation stood when the memory was written, when only the session knew and has lost it."""
        entry = await self._stores.memories.last_entry(opened)
        if entry is None:
            return None
        count = entry.upto - entry.first
        text = entry.text if entry.kind == "summary" else f"[Session context was compacted: {count} messages.]"
        ends_there = [
            each.name for each in await self._stores.archive.segments(opened.session) if each.upto == entry.upto
        ]
        return Continuity(transcript=ends_there[-1] if ends_there else "", text=text)

    async def _repeat(self, opened: Opened) -> None:
        """Take in again what a memory has lost in a failover; the cursor stays where it is."""
        lock = self._lock
        try:
            part = await self._joined(opened.upto, lock.cursor)
        except ArchiveMissing as error:
            upto = await self._gap_end(opened.upto, lock.cursor)
            _log.error("memory.unrepeated", first=opened.upto, upto=upto, cursor=lock.cursor, reason=brief(error))
            await self._taking.pass_over(lock, opened, upto=upto, reason=str(error))
            return
        target, whole = self._thresholds.target_tokens, len(part.entries)
        boundary = whole if part.tokens <= target else pick(part.entries, target) or whole
        _log.warning("memory.repeated", first=opened.upto, upto=opened.upto + boundary, cursor=lock.cursor)
        await self._taking.take_in(lock, opened, part.upto(part.first + boundary), moves=False)

    async def _joined(self, first: int, upto: int) -> LogPart:
        """The messages from ``first`` on, from the archive or the log; no more than the one of them holds.

        Raises:
            ArchiveMissing: the first of them are nowhere.
            ArchiveError: the archive cannot be read now.
        """
        try:
            return await read(self._stores.bus, self._lock, first, upto)
        except Trimmed as error:
            upto = min(upto, error.base, first + REPEATED_MAX)
        archive, session = self._stores.archive, self._lock.session
        try:
            return part_of(first, await archive.read_range(session, first, upto))
        except ArchiveMissing:
            # Up to the gap, if there is something before it.
            nearer = await self._gap_end(first, upto)
            return part_of(first, await archive.read_range(session, first, nearer))

    async def _gap_end(self, first: int, upto: int) -> int:
        """Where, behind ``first``, some segment begins or ends."""
        segments = await self._stores.archive.segments(self._lock.session)
        edges = [edge for segment in segments for edge in (segment.first, segment.upto) if first < edge < upto]
        return min(edges, default=upto)

    def _seen_by(self, lock: ConsolidationLock) -> ConsolidationLock:
        """The lock with what stands in the prompt of whoever asks."""
        fixed = self._want.fixed_tokens
        return lock if fixed is None else msgspec.structs.replace(lock, fixed_tokens=fixed)

    async def _estimate(self, opened: Opened, left: Unsettled) -> int:
        lock, tokenizer = self._lock, self._kit.tokenizer
        memory_tokens = await tokenizer.acount(opened.text)
        continuity = lock.continuity
        head = head_messages(continuity.text, continuity.transcript) if continuity else ()
        fixed = self._want.fixed_tokens
        return Estimate(
            fixed_tokens=lock.fixed_tokens if fixed is None else fixed,
            memory_tokens=min(memory_tokens, int(MEMORY_SHARE * self._thresholds.budget_tokens)),
            head_tokens=min(sum(map(tokenizer.count_message, head)), int(HEAD_SHARE * self._thresholds.budget_tokens)),
            history_tokens=left.history_tokens,
            current_tokens=self._want.current_tokens,
        ).tokens

    def _count(self, tokens: int) -> None:
        if not self._begun:
            self.report.tokens_before = tokens
        self.report.tokens_after = tokens

    def _said_meanwhile(self, left: Unsettled, tokens: int) -> int:
        """Of a prompt's tokens, what is left to the next consolidation: a conversation that goes on is not chased."""
        if self._thresholds.needs_consolidation(tokens):
            return 0
        return sum(left.seen[max(0, self._head - left.cursor) :])

    def _begins(self, tokens: int) -> bool:
        if self._want.at == "now" or self._lock.cursor < self._lock.start:
            return True
        if self._want.at == "budget":
            return self._thresholds.overflows(tokens)
        return self._thresholds.needs_consolidation(tokens)

    async def _flush(self, opened: Opened, part: LogPart, *, is_due: bool, is_last: bool = False) -> Opened:
        """What a worker does besides: what a turn could not wait for is flushed, and then what ``is_due`` now."""
        if self._want.awaited:
            return opened
        # In this order: a cycle that comes after one that was flushed is taken for done.
        if self._lock.unflushed:
            after = await self._unless_wanted(partial(self._flushing.afterwards, self._lock, opened))
            if after is None:
                return opened
            opened = after
        if not is_due or not self._kit.flushes or self._lock.flushed == self._lock.cursor:
            return opened
        before = partial(self._flushing.before, self._lock, opened, part, is_last=is_last)
        if found := await self._unless_wanted(before):
            opened, flushed = found
            self._ended.lock = msgspec.structs.replace(self._lock, flushed=flushed)
        return opened

    async def _unless_wanted(self, work: Callable[[], Awaitable[T]]) -> T | None:
        return await unless_wanted(self._stores.locks, self._lock, work)
