"""The silent turn before a consolidation. The notes of the model are appended to memory, once for each cycle."""

import structlog

from daemon.clock import stamp
from daemon.errors import CallSkipped, NoSummary, Trimmed, brief
from daemon.memory import Note, Opened, Version
from daemon.session import ConsolidationLock
from workers.consolidation.consolidation_kits import ConsolidationUsage, Kit
from workers.consolidation.consolidation_request import SharedStores, attempt
from workers.consolidation.log_part import LogPart, is_group, read
from workers.consolidation.summary.flush_request import FlushAnswer, new_lines

_log = structlog.get_logger()


class MemoryFlush:
    """Flushes one session. A cycle is named by the cursor, and ends when that moves."""

    def __init__(self, stores: SharedStores, kit: Kit, spent: ConsolidationUsage) -> None:
        self._stores = stores
        self._kit = kit
        self._spent = spent
        self._seen_upto = 0

    async def before(
        self, lock: ConsolidationLock, opened: Opened, part: LogPart, *, is_last: bool
    ) -> tuple[Opened, int]:
        """Flush the messages from the cursor on, for a cycle that was not flushed yet.

        A consolidation may end several cycles, one a round: what the first one showed is not shown again. Nor is what
        a worker wrote down who was killed before the session knew of it. A flush that failed is tried again once, when
        its messages are about to be consolidated (``is_last``).

        Returns the memory, and the cursor of the cycle that was flushed last.

        Raises:
            CallSkipped: the model was not asked; the cycle is still to be flushed.
            LockLost: somebody else has the session's lock.
        """
        if part.upto_index > self._seen_upto and opened.flushed < lock.cursor:
            has_failed = lock.flush_failed == lock.cursor
            if has_failed and not is_last:
                return opened, lock.flushed
            flushed = await self._flushed(lock, opened, part)
            if flushed is None and not has_failed:
                await self._stores.locks.note(lock, "flush_failed", lock.cursor)
                if not is_last:
                    return opened, lock.flushed
                flushed = await self._flushed(lock, opened, part)
            opened = flushed or opened
            self._seen_upto = part.upto_index
        await self._stores.locks.note(lock, "flushed", lock.cursor)
        return opened, lock.cursor

    async def afterwards(self, lock: ConsolidationLock, opened: Opened) -> Opened:
        """Flush messages that were consolidated before there was time for it. Errors as for ``before``."""
        if lock.unflushed is None:
            return opened
        first, upto = lock.unflushed
        try:
            part = await read(self._stores.bus, lock, first, upto)
        except Trimmed as error:  # by a hand: else it stays until it is flushed
            _log.warning("flush.failed", reason=brief(error))
        else:
            if self._kit.flushes and part.entries:
                flushed = await self._flushed(lock, opened, part) or await self._flushed(lock, opened, part)
                opened = flushed or opened
        await self._stores.locks.note(lock, "unflushed", "")
        # Only for this they were still there.
        await self._stores.trim(lock.session, upto)
        return opened

    async def _flushed(self, lock: ConsolidationLock, opened: Opened, part: LogPart) -> Opened | None:
        """The memory after the flush; None: it has failed."""
        if lock.failures >= self._stores.config.consolidation.failures_max:
            return opened  # this may be what kills its workers
        async with attempt(self._stores, lock):
            flushed = await self._asked(lock, opened, part)
            await self._stores.locks.note(lock, "failures", lock.failures)
        return flushed

    async def _asked(self, lock: ConsolidationLock, opened: Opened, part: LogPart) -> Opened | None:
        began = self._stores.clock.monotonic()
        try:
            answer = await self._kit.flush.ask(
                part.entries,
                memory=opened.text,
                now=self._stores.clock.now(),
                names=is_group(lock.scope, part.entries),
            )
        except CallSkipped:
            raise
        except NoSummary as error:
            self._spent.add(error.used)
            _log.warning("flush.failed", reason=brief(error))
            return None
        self._spent.add(answer.used)
        opened = await self._append(lock, opened, answer, cycle=part.first)
        took_s = round(self._stores.clock.monotonic() - began, 3)
        _log.info("flush.done", count=len(answer.notes) + bool(answer.memory), cursor=lock.cursor, took_s=took_s)
        return opened

    async def _append(self, lock: ConsolidationLock, opened: Opened, answer: FlushAnswer, *, cycle: int) -> Opened:
        added = new_lines(answer.memory, opened.text)
        if not added and not answer.notes:
            return opened
        time = stamp(self._stores.clock.now())
        update = None
        if added:
            update = Version(
                kind="flush", time=time, session=lock.session, first=cycle, model=answer.model, added=added
            )
        notes = [
            Note(time=time, date=date, session=lock.session, cycle=cycle, text=text) for date, text in answer.notes
        ]
        applied = await self._stores.memories.append(opened, update, cycle=cycle, notes=notes)
        await self._stores.show(opened.scope)
        return applied.opened
