"""Holding the consolidation locks of many sessions at once, for a job that nothing may be consolidated under."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import TypeVar

import anyio
import msgspec
import structlog

from daemon.bus import Bus
from daemon.bus.key_scan import scan
from daemon.errors import BusError, JobWaits, LockLost, brief
from daemon.session import ConsolidationLock, ConsolidationLocks, SessionReader

# Turns that began before a memory changed hands: what they are at, they end with the files that they began with.

WAIT_S = 5.0
"""How long turns are waited for at a time; then the job rests."""

LOOK_S = 0.1


class RunningTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn under way."""

    session: str
    nonce: str
    claims: int


async def turns_of(bus: Bus, sessions: Iterable[str]) -> tuple[RunningTurn, ...]:
    """The turns of these sessions that are under way.

    Raises:
        BusUnavailable: Redis is away.
    """
    return tuple([turn for session in sessions if (turn := await _turn_of(bus, session)) is not None])


async def left_of(bus: Bus, turns: tuple[RunningTurn, ...]) -> tuple[RunningTurn, ...]:
    """Those of ``turns`` that still go on after ``WAIT_S``; none, as soon as none does. Errors as for ``turns_of``."""
    until = anyio.current_time() + WAIT_S
    while turns := tuple([turn for turn in turns if await _turn_of(bus, turn.session) == turn]):
        if anyio.current_time() >= until:
            break
        await anyio.sleep(LOOK_S)
    return turns


async def _turn_of(bus: Bus, session: str) -> RunningTurn | None:
    nonce, claims, lease = await bus.call("HMGET", bus.keys.session(session), "nonce", "claims", "lease")
    if not nonce or int(lease or 0) < await SessionReader(bus).now_ms():
        return None
    return RunningTurn(session=session, nonce=nonce.decode(), claims=int(claims or 0))


TAKE_S = 20.0
"""How long is waited for locks that others have; then all are given back and the job comes again."""

REST_S = 5.0
"""When it does: somebody consolidates, which takes as long as a model."""

GIVE_BACK_S = 5.0
"""Longest that giving the locks back may take; what is not given back ends by itself."""

_T = TypeVar("_T")
_log = structlog.get_logger()


async def sessions_of(bus: Bus, scopes: Collection[str]) -> dict[str, str]:
    """Every session of these scopes, with its own scope: looked for among all sessions there are.

    Raises:
        BusUnavailable: Redis is away.
    """
    found: dict[str, str] = {}

    async def look(session: str) -> None:
        scope: bytes | None = await bus.call("HGET", bus.keys.session(session), "scope")
        if scope is not None and scope.decode() in scopes:
            found[session] = scope.decode()

    try:
        async for names in scan(bus, "session"):
            async with anyio.create_task_group() as tg:  # one tick, one pipeline
                for session in names:
                    tg.start_soon(look, session)
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from group
    return found


async def under_locks(
    locks: ConsolidationLocks,
    sessions: Collection[str],
    work: Callable[[Sequence[ConsolidationLock]], Awaitable[_T]],
    *,
    renew_s: float,
) -> _T:
    """What ``work`` gives, with the locks, while nobody else has them; the sessions are looked at again afterwards.

    Raises:
        JobWaits: others have some of the locks and do not give them back, or took one of ours.
        BusUnavailable: Redis is away.
    """
    held: list[ConsolidationLock] = []
    done: list[_T] = []
    lost = False

    async def renew() -> None:
        nonlocal lost
        held_until = anyio.current_time() + locks.lease_s
        while not lost:
            await anyio.sleep(renew_s)
            asked_at = anyio.current_time()
            try:
                for lock in list(held):
                    await locks.renew(lock)
                held_until = asked_at + locks.lease_s
            except LockLost:
                lost = True
            except BusError:
                lost = anyio.current_time() > held_until
        tg.cancel_scope.cancel()

    try:
        async with anyio.create_task_group() as tg:
            tg.start_soon(renew)
            # In one order, so that two who want some of the same do not wait for each other for ever.
            until = anyio.current_time() + TAKE_S
            for session in sorted(sessions):
                held.append(await _taken(locks, session, until))
            done.append(await work(held))
            tg.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from group
    finally:
        with anyio.move_on_after(GIVE_BACK_S, shield=True):
            for lock in held:
                try:
                    await locks.give_back(lock, again_in_s=0.0)
                except BusError as error:
                    _log.debug("lock.kept", session=lock.session, reason=brief(error))
    if not done:
        raise JobWaits("another worker has taken over one of the sessions", delay_s=REST_S)
    return done[0]


async def _taken(locks: ConsolidationLocks, session: str, until: float) -> ConsolidationLock:
    while True:
        lock = await locks.take(session)
        if lock is not None:
            return lock
        if anyio.current_time() >= until:
            raise JobWaits(f"session {session} is being consolidated", delay_s=REST_S)
        await anyio.sleep(LOOK_S)
