"""All of it together: who works, who holds what, what waits, what rests, and how the models do."""

from dataclasses import dataclass

from daemon.access import Pauses
from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import Config
from daemon.model import Failures, read_failures
from daemon.overview.bot_problems import Problem, read_problems
from daemon.overview.leaders import Leader, read_leaders
from daemon.overview.paused_sessions import Parked, Paused, parked, read_paused
from daemon.overview.queue_lengths import Queues, push_channels, read_queues
from daemon.overview.workers import LIMIT, Lease, Worker, read_workers
from daemon.session import SessionReader, standings


@dataclass(frozen=True, kw_only=True)
class System:
    """Everything at one moment."""

    workers: list[Worker]
    leases: list[Lease]
    """Of the 1,000 sessions with something waiting that are looked at."""
    leaders: list[Leader]
    queues: Queues
    parked: list[Parked]
    """As ``leases``."""
    paused: list[Paused]
    model_errors: Failures
    problems: list[Problem]


async def read_system(bus: Bus, config: Config, clock: Clock, *, limit: int = LIMIT) -> System:
    """Everything as it is now, as far as this process's configuration knows of it.

    Raises:
        BusUnavailable: Redis is away.
    """
    channels = push_channels(config)
    found = await standings(bus, limit=limit)
    at_work = await read_workers(bus, clock=clock, found=found)
    now_ms = await SessionReader(bus).now_ms()
    return System(
        workers=at_work.workers,
        leases=at_work.leases,
        leaders=await read_leaders(bus, channels, now_ms=now_ms),
        queues=await read_queues(bus, channels, found=found),
        parked=parked(found),
        paused=await read_paused(Pauses(bus, config.queue), list(config.bots)),
        model_errors=await read_failures(bus, clock),
        problems=await read_problems(bus, clock),
    )
