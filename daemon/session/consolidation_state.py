"""The state of the consolidation of a session, read without its lock."""

from dataclasses import dataclass

from daemon.bus import Bus
from daemon.session.session_reader import SessionState


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """The consolidation state of a session, besides its positions. Times are those of the server, ms since 1970."""

    journal: int = 0
    """Messages of the turn in progress: those beyond the head."""
    look_at_ms: int | None = None
    """When somebody is to look whether there is something to consolidate; None: nothing is."""
    flushed: int = -1
    """The cursor of the cycle that was flushed last; -1: none was."""
    unflushed: tuple[int, int] | None = None
    """Messages that were consolidated before they were flushed: first, and one past the last."""
    failures: int = 0
    """Tries in a row that brought no summary, the one under way counted."""
    worker: str = ""
    """Who holds the consolidation lock, maybe until ``lease_ms`` only; empty when nobody does."""
    fence: int = 0
    """Number of the newest lock."""
    since_ms: int = 0
    lease_ms: int = 0


async def settlement_of(bus: Bus, state: SessionState) -> Settlement:
    """The consolidation state of the session of ``state``.

    Raises:
        BusUnavailable: Redis is away.
    """
    keys = bus.keys.of(state.session)
    noted = await bus.call("HMGET", keys.session, "flushed", "unflushed", "failures")
    held = await bus.call("HMGET", keys.lock, "worker", "fence", "since", "lease")
    length = await bus.call("LLEN", keys.log)
    look_at = await bus.call("ZSCORE", keys.unsettled, state.session)
    flushed, unflushed, failures = (value or b"" for value in noted)
    worker, fence, since, lease = (value or b"" for value in held)
    first, _, upto = unflushed.decode().partition(" ")
    return Settlement(
        journal=max(0, state.base + length - state.head),
        look_at_ms=None if look_at is None else int(float(look_at)),
        flushed=int(flushed or -1),
        unflushed=(int(first), int(upto)) if upto else None,
        failures=int(failures or 0),
        worker=worker.decode(),
        fence=int(fence or 0),
        since_ms=int(since or 0),
        lease_ms=int(lease or 0),
    )
