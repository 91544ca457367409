"""The job that forgets: it keeps consolidation out, passes over every tier until nothing can come back, and reports.

A turn that runs has read what is to be forgotten and may say it again, into the log, a file or a chat. So it is waited
for, and there is another pass, until one has found nothing that a turn could have read before.
"""

from collections import Counter
from collections.abc import Mapping

import anyio
import msgspec
import structlog

from daemon.errors import JobWaits, LockLost
from daemon.forget.compaction import compacted
from daemon.forget.consolidation_fence import AGAIN_S, fenced
from daemon.forget.forget_context import TIERS, Stores, Work
from daemon.forget.forget_host import scopes_with
from daemon.forget.forget_order import Ground, Order, Search, ground_of, wanted_of
from daemon.forget.forget_report import report_text
from daemon.forget.kept_backups import backups_in
from daemon.forget.sweep import pass_over
from daemon.jobs import Job, Report
from daemon.wording import text as say

PASSES_MAX = 20
"""Who goes on saying it is not followed for ever."""

LOOK_S = 0.2
"""How often is looked whether a turn has ended."""

ARCHIVE_AGAIN_S = 30.0
"""How long a job rests while the archive's storage cannot be used."""

BEYOND_TURN_S = 60.0
"""How long a turn is waited for beyond its own limit."""

WAITING = "the archive's storage cannot be used at present, so the archived part is deleted later"

_log = structlog.get_logger()


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


class Forgetting:
    """Does the jobs of kind ``forget``."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    async def __call__(self, job: Job) -> Report:
        """Forget, and tell whoever asked.

        Raises:
            JobWaits: a session is being consolidated all the time, or the archive cannot be used at present.
            JobRefused: the job cannot be read.
            BusUnavailable: Redis is away.
        """
        order, state = job.spec(Order), job.state(State())
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

    async def _close_lists(self, order: Order, ground: Ground) -> None:
        """Whoever shares the memory may have asked for the same in another chat, and his list says what for."""
        bus = self._stores.bus
        for session in {order.chat, *(session for session, _ in ground.all)} - {""}:
            await bus.call("DEL", bus.keys.forgetting(session))
        if order.whole:  # cancel link requests of a person who is forgotten
            for scope in {*order.scopes, *(scope for _, scope in ground.sessions)}:
                await bus.call("DEL", bus.keys.linking(scope))

    async def _remove(self, job: Job, order: Order, state: State) -> State:
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

    async def _remove_there(self, job: Job, order: Order, state: State, ground: Ground) -> State:
        stores = self._stores
        wanted = wanted_of(None if order.whole else job.secret(Search))
        # In others' sessions nothing becomes memory that is to be forgotten: what is archived meanwhile is compared.
        homes = [(session, _home(order, scope)) for session, scope in ground.sessions]
        try:
            async with fenced(stores, homes) as locks:
                for _ in range(PASSES_MAX):
                    work = Work(stores=stores, wanted=wanted)
                    before, turns = state, await self._turns(ground)

                    async def progress(work: Work = work, before: State = before) -> None:
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

    async def _turns(self, ground: Ground) -> dict[str, tuple[bytes, bytes]]:
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

    async def _waited(self, ground: Ground, before: Mapping[str, tuple[bytes, bytes]]) -> bool:
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

    async def _still(self, ground: Ground, held: Mapping[str, tuple[bytes, bytes]]) -> bool:
        """Whether one of the turns still runs."""
        now = await self._turns(ground)
        return any(nonce and now[session] == (claims, nonce) for session, (claims, nonce) in held.items())


def _home(order: Order, scope: str) -> str:
    return order.scopes[0] if scope in order.scopes else scope


def _with(state: State, work: Work) -> State:
    counts = Counter(state.counts) + work.counts
    failed = tuple(dict.fromkeys((*state.failed, *work.failed)))
    return msgspec.structs.replace(state, counts=dict(counts), failed=failed, waits=work.waits)
