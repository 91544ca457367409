"""Turns that began before a memory changed hands: what they are at, they end with the files that they began with."""

from collections.abc import Iterable

import anyio
import msgspec

from daemon.bus import Bus
from daemon.session import SessionReader

WAIT_S = 5.0
"""How long turns are waited for at a time; then the job rests."""

LOOK_S = 0.1


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn under way."""

    session: str
    nonce: str
    claims: int


async def turns_of(bus: Bus, sessions: Iterable[str]) -> tuple[Turn, ...]:
    """The turns of these sessions that are under way.

    Raises:
        BusUnavailable: Redis is away.
    """
    return tuple([turn for session in sessions if (turn := await _turn_of(bus, session)) is not None])


async def left_of(bus: Bus, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Those of ``turns`` that still go on after ``WAIT_S``; none, as soon as none does. Errors as for ``turns_of``."""
    until = anyio.current_time() + WAIT_S
    while turns := tuple([turn for turn in turns if await _turn_of(bus, turn.session) == turn]):
        if anyio.current_time() >= until:
            break
        await anyio.sleep(LOOK_S)
    return turns


async def _turn_of(bus: Bus, session: str) -> Turn | None:
    nonce, claims, lease = await bus.call("HMGET", bus.keys.session(session), "nonce", "claims", "lease")
    if not nonce or int(lease or 0) < await SessionReader(bus).now_ms():
        return None
    return Turn(session=session, nonce=nonce.decode(), claims=int(claims or 0))
