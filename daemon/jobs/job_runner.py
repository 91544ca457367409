"""Running jobs: claiming, renewing, finishing, backing off. The jobs of a dead process go to the next one."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import anyio
import msgspec
import structlog

from daemon.bus import Bus, load_script
from daemon.clock import Clock, stamp
from daemon.concurrency import Slots, until_tick
from daemon.config import BotConfig, Config
from daemon.errors import BusError, JobLost, JobRefused, JobWaits, MillpondError, brief
from daemon.events import Choice, Notice, Reply
from daemon.jobs.job_store import REST_MAX_S, HeldJob, JobRecord, Jobs, NotifiedChat

# What a job is given of the process that does it; a ``daemon.process.Process`` is one.


class JobHost(Protocol):
    """Connection, configuration and folders of a process."""

    @property
    def config(self) -> Config:
        """The whole configuration."""
        ...

    @property
    def data_dir(self) -> Path:
        """Where everything lies that is kept."""
        ...

    @property
    def bus(self) -> Bus:
        """The connection to Redis."""
        ...

    @property
    def clock(self) -> Clock:
        """For times that people read."""
        ...

    @property
    def name(self) -> str:
        """A name that no other process has."""
        ...

    def bot(self, name: str) -> BotConfig:
        """The configuration of a bot; raises ConfigError when there is none."""
        ...

    def workspace(self, name: str) -> Path:
        """The folder of a bot's files; raises ConfigError when there is no such bot."""
        ...


# Sending a message once to a chat, outside of its turns.

TELL = load_script(__file__, "tell.lua")

TOLD_TTL_S = 604_800.0
"""Time for which such messages are remembered: a week, longer than a job can back off."""

_encode = msgspec.json.Encoder().encode


async def tell(host: JobHost, to: NotifiedChat, text: str, *, name: str, choices: tuple[Choice, ...] = ()) -> bool:
    """Send ``text`` to the chat ``to``, once per chat and ``name``; False if it was sent before.

    Raises:
        BusUnavailable: Redis is away; the call can be repeated.
    """
    keys, partition = host.bus.keys, host.bus.keys.partition(to.session)
    said = f"{to.session}#{name}"
    now = stamp(host.clock.now())
    notice = Notice(kind="aside", text=text, time=now, message_id=to.message_id, choices=choices)
    reply = Reply(id=said, session=to.session, turn=0, text=text, correlation=to.correlation, choices=choices)
    status: bytes = await host.bus.run(
        TELL,
        [keys.notices(to.session), keys.out(partition, to.out_channel), keys.said(to.session, said)],
        [
            _encode(notice),
            round(host.config.queue.notice_ttl_s * 1000),
            keys.events(to.session),
            _encode(reply) if to.out_channel else b"",
            round(TOLD_TTL_S * 1000),
        ],
    )
    return status == b"said"


LOOK_S = 1.0
"""How often is looked for jobs."""

AT_ONCE = 4
"""Jobs that a process does at a time; most wait for others more than they work."""

REST_S = 1.0
"""How long a job rests after its first failure; twice as long after each further one."""

WRITE_TIMEOUT_S = 5.0
"""Limit for giving a job back. If that fails, its lease expires."""

_T = TypeVar("_T")
_log = structlog.get_logger()

Report = Mapping[str, Any]
"""Result of a job: JSON."""


class Job:
    """A job at work, as its handler sees it."""

    def __init__(self, host: JobHost, jobs: Jobs, held: HeldJob) -> None:
        self._host = host
        self._jobs = jobs
        self._held = held
        self._step = held.step
        self._state = held.state
        self.id = held.id
        self.attempts = held.attempts

    def spec(self, kind: type[_T]) -> _T:
        """The job's task.

        Raises:
            JobRefused: it cannot be read.
        """
        return _read(self._held.spec, kind, self.id)

    def secret(self, kind: type[_T]) -> _T:
        """The job's secret; errors as for ``spec``."""
        return _read(self._held.secret, kind, self.id)

    def state(self, otherwise: _T) -> _T:
        """The last saved progress, of the type of ``otherwise``, which is the default. Errors as for ``spec``."""
        return _read(self._state, type(otherwise), self.id) if self._state else otherwise

    async def save(self, state: object) -> None:
        """Save the progress. The next attempt continues from it, and attempts are counted from zero again.

        Raises:
            JobLost: somebody else has the job.
            BusUnavailable: Redis is away.
        """
        self._step += 1
        self._state = _encode(state)
        await self._jobs.save(self._held, state, step=self._step)

    async def hush(self) -> None:
        """Delete the secret once it is not needed; the saved progress says so. Errors as for ``save``."""
        await self._jobs.hush(self._held)

    async def renew(self) -> None:
        """Make sure that it is still ours; errors as for ``save``."""
        await self._jobs.renew(self._held)

    @property
    def asked(self) -> NotifiedChat | None:
        """The chat that asked for it."""
        return _read(self._held.tell, NotifiedChat, self.id) if self._held.tell else None

    async def tell(self, text: str, *, name: str, to: NotifiedChat | None = None) -> bool:
        """Say ``text`` in the chat ``to``, or in the one that asked, once per chat and ``name``.

        False when it was said before, or nobody asked.

        Raises:
            BusUnavailable: Redis is away; the same may be said again.
        """
        to = to or self.asked
        return to is not None and await tell(self._host, to, text, name=f"job-{self.id}-{name}")


Handler = Callable[[Job], Awaitable[Report]]
"""Does a job and gives its report.

It may be cancelled at any await and done again from what it saved last, by this process or another: everything it does
is harmless when it is done twice. It raises JobWaits to be called again later for no fault of its own, JobRefused when
it can never be done; any other error puts the job off, and counts.
"""


class JobRunner:
    """Runs the jobs of one database whose kind has a handler here."""

    def __init__(self, host: JobHost, handlers: Mapping[str, Handler]) -> None:
        queue = host.config.queue
        self._host = host
        self._handlers = handlers
        self._renew_s = queue.renew_s
        self._busy: set[str] = set()
        self._slots: Slots[str] = Slots(self._work)
        self.jobs = Jobs(host.bus, lease_s=queue.lease_s, worker=host.name, clock=host.clock)

    @property
    def holding(self) -> int:
        """Jobs that it is at."""
        return len(self._busy)

    async def run(self, stopping: anyio.Event) -> None:
        """Run jobs until ``stopping``; a cancelled job is given back."""
        async with anyio.create_task_group() as tg:
            self._slots.open(tg)
            while not stopping.is_set():
                try:
                    for job_id in await self.jobs.due():
                        self._give(job_id)
                except BusError as error:
                    _log.debug("queue.away", reason=brief(error))
                with anyio.move_on_after(until_tick(LOOK_S)):
                    await stopping.wait()
            self._slots.close()

    def _give(self, job_id: str) -> None:
        if job_id not in self._busy and len(self._busy) < AT_ONCE:
            self._busy.add(job_id)
            self._slots.give(job_id)

    async def _work(self, job_id: str) -> None:
        try:
            await self.run_one(job_id)
        except BusError as error:
            _log.debug("queue.away", reason=brief(error))
        except Exception:  # noqa: BLE001  the service's top: one job's trouble must not end the work on all others
            _log.exception("job.broken", job=job_id)
        finally:
            self._busy.discard(job_id)

    async def until_ended(self, job_id: str, *, within_s: float) -> JobRecord:
        """Run a job here immediately, or wait for the process that runs it, until it has ended or is partly done.

        Raises:
            JobRefused: there is no such job.
            TimeoutError: it has not ended in time; it goes on wherever jobs are done.
            BusUnavailable: Redis is away.
        """
        with anyio.fail_after(within_s):
            while True:
                await self.run_one(job_id, at_once=True)
                record = await self.jobs.find(job_id)
                if record is None:
                    raise JobRefused(f"job {job_id} was not found")
                if record.has_ended or record.partly:
                    return record
                await anyio.sleep(LOOK_S)

    async def run_one(self, job_id: str, *, at_once: bool = False) -> None:
        """Run one job unless another process does; ``at_once``: even if the job is backing off.

        Raises:
            BusUnavailable: Redis is away.
        """
        held = await self.jobs.take(job_id, at_once=at_once)
        if held is None:
            return
        with structlog.contextvars.bound_contextvars(job=job_id, kind=held.kind, fence=held.fence):
            try:
                await self._handled(held)
            except JobLost as error:
                _log.warning("job.lost", reason=brief(error))
            except anyio.get_cancelled_exc_class():
                await self._put_off(held, delay_s=0.0, counts=False)
                raise

    async def _handled(self, held: HeldJob) -> None:
        """Handle any result of the handler; raises JobLost if another process has the job."""
        began, handler = self._host.clock.monotonic(), self._handlers.get(held.kind)
        if handler is None:  # a newer process put it down
            await self._put_off(
                held,
                delay_s=REST_MAX_S,
                reason=f"no worker in this process can run jobs of kind {held.kind}",
                counts=False,
            )
            return
        try:
            report = await self._while_held(held, handler)
        except JobWaits as error:
            await self._put_off(held, delay_s=error.delay_s, reason=str(error), counts=False, partly=error.partly)
        except JobRefused as error:
            _log.warning("job.failed", reason=brief(error))
            await self._finish(held, {"error": str(error)}, failed=True)
        except JobLost:
            raise
        except (MillpondError, OSError, TimeoutError) as error:
            await self._rest(held, error, str(error) or type(error).__name__)
        except Exception as error:  # noqa: BLE001  the top of a handler: a bug is kept, and seen
            _log.exception("job.broken")
            await self._rest(held, error, f"{type(error).__name__}: {error}")
        else:
            await self._finish(held, report, failed=False)
            _log.info("job.done", attempt=held.attempts, took_s=round(self._host.clock.monotonic() - began, 3))

    async def _while_held(self, held: HeldJob, handler: Handler) -> Report:
        """The result of ``handler``; raises JobLost if the lease is lost meanwhile."""
        lost, reports = False, list[Report]()

        async def renew() -> None:
            nonlocal lost
            held_until = anyio.current_time() + self.jobs.lease_s
            while True:
                await anyio.sleep(self._renew_s)
                asked_at = anyio.current_time()
                try:
                    await self.jobs.renew(held)
                except JobLost:
                    break
                except BusError:
                    if anyio.current_time() > held_until:
                        break
                else:
                    held_until = asked_at + self.jobs.lease_s
            lost = True
            tg.cancel_scope.cancel()

        try:
            async with anyio.create_task_group() as tg:
                tg.start_soon(renew)
                reports.append(await handler(Job(self._host, self.jobs, held)))
                tg.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from group
        if lost and not reports:
            raise JobLost(f"job {held.id} is now being run by another process. Nothing more was written.")
        return reports[0]

    async def _rest(self, held: HeldJob, error: Exception, reason: str) -> None:
        delay_s = min(REST_S * 2 ** min(held.attempts - 1, 10), REST_MAX_S)
        _log.warning("job.put_off", reason=brief(error), attempt=held.attempts)
        await self._put_off(held, delay_s=delay_s, reason=reason)

    async def _put_off(
        self, held: HeldJob, *, delay_s: float, reason: str = "", counts: bool = True, partly: bool = False
    ) -> None:
        with anyio.move_on_after(WRITE_TIMEOUT_S, shield=True):
            try:
                await self.jobs.put_off(held, delay_s=delay_s, reason=reason, counts=counts, partly=partly)
            except (BusError, JobLost) as error:  # its lease ends by itself
                _log.debug("job.kept", reason=brief(error))

    async def _finish(self, held: HeldJob, report: Report, *, failed: bool) -> None:
        # What it did is done: a shutdown may delay that it is said, never split it.
        with anyio.fail_after(WRITE_TIMEOUT_S, shield=True):
            await self.jobs.finish(held, report, failed=failed)


def _read(text: bytes, kind: type[_T], job_id: str) -> _T:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.MsgspecError as error:
        raise JobRefused(f"job {job_id} cannot be read: {error}") from error
