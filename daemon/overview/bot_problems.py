"""What the bots' workers cannot use: files, tools and tool servers."""

from dataclasses import dataclass

from daemon.bus import Bus
from daemon.clock import Clock, age_s
from daemon.heartbeat import STALE_S, workers


@dataclass(frozen=True, kw_only=True, order=True)
class Problem:
    """Something that a bot goes without."""

    bot: str
    name: str
    """A file by its path from the bot's workspace, a tool, or a tool server."""
    reason: str


async def read_problems(bus: Bus, clock: Clock) -> list[Problem]:
    """As the processes that live said with their last heartbeat, each once.

    Raises:
        BusUnavailable: Redis is away.
    """
    alive = [beat for _, beat in await workers(bus) if age_s(beat.seen, clock) <= STALE_S]
    return sorted({Problem(bot=one.bot, name=one.name, reason=one.reason) for beat in alive for one in beat.problems})
