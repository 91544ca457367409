"""The job that forgets: it keeps consolidation out, passes over every tier until nothing can come back, and reports.

A turn that runs has read what is to be forgotten and may say it again, into the log, a file or a chat. So it is waited
for, and there is another pass, until one has found nothing that a turn could have read before.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import cast

import anyio
import msgspec
import structlog

from daemon.errors import BusError, FenceBehind, JobWaits, LockLost, brief
from daemon.forget.compaction import compacted
from daemon.forget.forget_context import (
    TIERS,
    ForgetContext,
    ForgetOrder,
    ForgetSearch,
    ForgetStores,
    ForgetTargets,
    ground_of,
    scopes_with,
    wanted_of,
)
from daemon.forget.forget_requests import backups_in, report_text
from daemon.forget.sweep import pass_over
from daemon.jobs import Job, Report
from daemon.session import ConsolidationLock
from daemon.wording import text as say

# Keeping consolidation out while something is forgotten: the locks of all sessions that it is about, at once.

TAKE_S = 90.0
"""How long a consolidation under way is waited for: a model's call and what follows it."""

LOOK_S = 0.2
"""How often is looked whether it is over."""

AGAIN_S = 5.0
"""When it is tried again, after that."""

GIVE_BACK_S = 10.0
"""Longest that giving all back may take; what is not given back ends by itself."""

_log = structlog.get_logger()

Homes = Sequence[tuple[str, str]]
"""Sessions, each with the scope that its memory is."""


@asynccontextmanager
async def fenced(
    stores: ForgetStores, homes: Homes, *, take_s: float = TAKE_S
) -> AsyncGenerator[dict[str, ConsolidationLock]]:
    """The locks of ``homes`` for the block; every memory has seen them, so that no earlier holder writes any more.

    Sessions are taken in order, so that two who want the same wait for each other and not for ever.

    Raises:
        JobWaits: somebody has consolidated one for ``take_s``, or took one away: everything is to be done again.
        BusUnavailable: Redis is away.
    """
    held: dict[str, ConsolidationLock] = {}
    try:
        async with anyio.create_task_group() as tg:
            tg.start_soon(_renewed, stores, held)
            for session, home in sorted(homes):
                lock = await _taken(stores, session, take_s=take_s)
                if lock is not None:
                    held[session] = lock
                    held[session] = await _opened(stores, lock, home)
            yield held
            tg.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        error = _first(group)
        if isinstance(error, LockLost):
            raise JobWaits(str(error), delay_s=AGAIN_S) from error
        raise error from group
    except LockLost as error:
        raise JobWaits(str(error), delay_s=AGAIN_S) from error
    finally:
        with anyio.move_on_after(GIVE_BACK_S, shield=True):
            for lock in held.values():
                await _give_back(stores, lock)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    inner = group.exceptions[0]
    return _first(cast("BaseExceptionGroup[BaseException]", inner)) if isinstance(inner, BaseExceptionGroup) else inner


async def _taken(stores: ForgetStores, session: str, *, take_s: float) -> ConsolidationLock | None:
    """The lock; None when the session is not there."""
    with anyio.move_on_after(take_s):
        while True:
            lock = await stores.locks.take(session)
            if lock is not None:
                return lock
            if not await stores.bus.call("EXISTS", stores.bus.keys.session(session)):
                return None
            await anyio.sleep(LOOK_S)
    raise JobWaits(
        f"session {session} is being consolidated. The session's data will be deleted after the consolidation.",
        delay_s=AGAIN_S,
    )


async def _opened(stores: ForgetStores, lock: ConsolidationLock, home: str) -> ConsolidationLock:
    """The lock, whose fence the memory has seen."""
    while True:
        try:
            await stores.memories.open(home, lock.session, fence=lock.fence, nonce=lock.nonce)
        except FenceBehind as error:
            # The session was set back by a failover, and its fences with it.
            lock = await stores.locks.again(lock, above=error.highest)
        else:
            return lock


async def _renewed(stores: ForgetStores, held: dict[str, ConsolidationLock]) -> None:
    """Renew all, for ever; raises LockLost."""
    queue = stores.config.queue
    renewed_at = anyio.current_time()
    while True:
        await anyio.sleep(queue.renew_s)
        asked_at = anyio.current_time()
        try:
            async with anyio.create_task_group() as tg:  # one tick, few pipelines
                for lock in list(held.values()):
                    tg.start_soon(stores.locks.renew, lock)
        except* BusError as group:
            if anyio.current_time() > renewed_at + queue.lease_s:
                raise group.exceptions[0] from group
        else:
            renewed_at = asked_at


async def _give_back(stores: ForgetStores, lock: ConsolidationLock) -> None:
    try:
        await stores.locks.give_back(lock, again_in_s=None)
    except BusError as error:
        _log.debug("lock.kept", reason=brief(error))


PASSES_MAX = 20
"""Who goes on saying it is not followed for ever."""


ARCHIVE_AGAIN_S = 30.0
"""How long a job rests while the archive's storage cannot be used."""

BEYOND_TURN_S = 60.0
"""How long a turn is waited for beyond its own limit."""

WAITING = "the archive's storage is currently unavailable, so the archived part will be deleted later"


class State(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a job has come; no text stands in it."""

    is_removed: bool = False
    """What is left to do is to have the server compact its files."""
    passes: int = 0
    counts: dict[str, int] = {}
    """Places that were removed, by tier."""
    failed: tuple[str, ...] = ()
    waits: bool = False
    """The archive could not be used in the last pass: its files have to be searched again."""


class ForgetJob:
    """Does the jobs of kind ``forget``."""

    def __init__(self, stores: ForgetStores) -> None:
        self._stores = stores

    async def __call__(self, job: Job) -> Report:
        """Forget, and tell whoever asked.

        Raises:
            JobWaits: a session is being consolidated all the time, or the archive cannot be used at present.
            JobRefused: the job cannot be read.
            BusUnavailable: Redis is away.
        """
        order, state = job.spec(ForgetOrder), job.state(State())
        if not state.is_removed:
            if state.waits:  # all that failed is tried again
                state = msgspec.structs.replace(state, failed=())
            state = await self._remove(job, order, state)
            await job.save(state)
        if state.waits:
            if job.asked:
                await job.tell(say("forget_waits", job.asked.language), name="waits")
            raise JobWaits(WAITING, delay_s=ARCHIVE_AGAIN_S, partly=True)
        # Before the server writes its files anew: what was looked for must not stand in them either.
        await job.hush()
        failed = [*state.failed, *await compacted(self._stores.bus)]
        report = {
            "whole": order.whole,
            "name": order.name,
            "removed": {tier: state.counts[tier] for tier in TIERS if state.counts.get(tier)},
            "passes": state.passes,
            "failed": failed,
            "backups": backups_in(self._stores.data_dir),
        }
        if job.asked:
            await job.tell(report_text(report, job.asked.language), name="done")
        _log.info(
            "forget.done", count=sum(state.counts.values()), rounds=state.passes, status="partly" if failed else "done"
        )
        return report

    async def _close_lists(self, order: ForgetOrder, ground: ForgetTargets) -> None:
        """Whoever shares the memory may have asked for the same in another chat, and his list says what for."""
        bus = self._stores.bus
        for session in {order.chat, *(session for session, _ in ground.all)} - {""}:
            await bus.call("DEL", bus.keys.forgetting(session))
        if order.whole:  # cancel link requests of a person who is forgotten
            for scope in {*order.scopes, *(scope for _, scope in ground.sessions)}:
                await bus.call("DEL", bus.keys.linking(scope))

    async def _remove(self, job: Job, order: ForgetOrder, state: State) -> State:
        # Others may have been linked or separated since it was asked for.
        now = await scopes_with(self._stores.bus, order.scopes[0])
        order = msgspec.structs.replace(order, scopes=tuple(dict.fromkeys((*now, *order.scopes))))
        ground = await ground_of(self._stores.bus, order)
        while True:
            state = await self._remove_there(job, order, state, ground)
            known, ground = ground, await ground_of(self._stores.bus, order)
            # A conversation that began meanwhile may have begun with what was remembered then.
            if set(ground.all) <= set(known.all):
                await self._close_lists(order, known)
                return msgspec.structs.replace(state, is_removed=not state.waits)
            state = msgspec.structs.replace(state, passes=0)

    async def _remove_there(self, job: Job, order: ForgetOrder, state: State, ground: ForgetTargets) -> State:
        stores = self._stores
        wanted = wanted_of(None if order.whole else job.secret(ForgetSearch))
        # In others' sessions nothing becomes memory that is to be forgotten: what is archived meanwhile is compared.
        homes = [(session, _home(order, scope)) for session, scope in ground.sessions]
        try:
            async with fenced(stores, homes) as locks:
                for _ in range(PASSES_MAX):
                    work = ForgetContext(stores=stores, wanted=wanted)
                    before, turns = state, await self._turns(ground)

                    async def progress(work: ForgetContext = work, before: State = before) -> None:
                        await job.save(_with(before, work))

                    await pass_over(work, order, ground, locks, progress)
                    state = _with(msgspec.structs.replace(before, passes=before.passes + 1), work)
                    await job.save(state)
                    is_clean = (before.passes > 0 and not work.counts) or work.waits
                    if is_clean or not await self._waited(ground, turns):
                        break
                else:
                    text = (
                        "the text was written again while it was being deleted, so its newest occurrences may "
                        "remain. Delete it again."
                    )
                    state = msgspec.structs.replace(state, failed=(*state.failed, text))
        except LockLost as error:
            raise JobWaits(str(error), delay_s=AGAIN_S) from error
        return state

    async def _turns(self, ground: ForgetTargets) -> dict[str, tuple[bytes, bytes]]:
        """Of each session the number of its newest claim, and who holds it; empty when nobody does."""
        bus, found = self._stores.bus, dict[str, tuple[bytes, bytes]]()

        async def look(session: str) -> None:
            claims, nonce, lease = await bus.call("HMGET", bus.keys.session(session), "claims", "nonce", "lease")
            is_held = nonce and int(lease or 0) > now_ms
            found[session] = (claims or b"", nonce if is_held else b"")

        seconds, _ = await bus.call("TIME")
        now_ms = int(seconds) * 1000
        async with anyio.create_task_group() as tg:  # one tick, few pipelines
            for session, _ in ground.all:
                tg.start_soon(look, session)
        return found

    async def _waited(self, ground: ForgetTargets, before: Mapping[str, tuple[bytes, bytes]]) -> bool:
        """Wait for the end of every turn that was there during a pass; False when there was none."""
        after = await self._turns(ground)
        ran = {session for session in after if after[session] != before.get(session) or after[session][1]}
        if not ran:
            return False
        with anyio.move_on_after(self._stores.config.agent.turn_timeout_s + BEYOND_TURN_S):
            held = {session: after[session] for session in ran}
            while await self._still(ground, held):  # noqa: ASYNC110 - turns of other processes tell nobody of their end
                await anyio.sleep(LOOK_S)
        return True

    async def _still(self, ground: ForgetTargets, held: Mapping[str, tuple[bytes, bytes]]) -> bool:
        """Whether one of the turns still runs."""
        now = await self._turns(ground)
        return any(nonce and now[session] == (claims, nonce) for session, (claims, nonce) in held.items())


def _home(order: ForgetOrder, scope: str) -> str:
    return order.scopes[0] if scope in order.scopes else scope


def _with(state: State, work: ForgetContext) -> State:
    counts = Counter(state.counts) + work.counts
    failed = tuple(dict.fromkeys((*state.failed, *work.failed)))
    return msgspec.structs.replace(state, counts=dict(counts), failed=failed, waits=work.waits)
