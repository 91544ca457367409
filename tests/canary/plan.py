"""How large a canary run is, and what was done in it."""

from dataclasses import dataclass

from tests.chaos.ends import Drain
from tests.limits import HANG_S


@dataclass(frozen=True, kw_only=True)
class Plan:
    operations: int = 10_000  # what a release has to stand
    kills: int = -1  # of processes, the server's among them; negative: one for each ``OPERATIONS_A_KILL``
    drain_s: float = 300.0  # how long the rest of the answers is awaited while they come,
    still_s: float = HANG_S  # ... and how long without any progress
    patience: float = 1.0  # so many times as long as all this
    seed: int = 1
    sabotage: str = ""

    @property
    def drain(self) -> Drain:
        return Drain(limit_s=self.patience * self.drain_s, still_s=self.patience * self.still_s)

    @property
    def deaths(self) -> int:
        return self.operations // OPERATIONS_A_KILL if self.kills < 0 else self.kills


OPERATIONS_A_KILL = 40


@dataclass(kw_only=True)
class Counts:
    operations: int = 0
    said: int = 0  # canaries
    turns: int = 0  # requests of turns; the next two are other ones
    summaries: int = 0
    flushes: int = 0
    results: int = 0  # results of tools
    refused: int = 0  # of these, errors
    fetched: int = 0  # and answers of the API to a tool that fetches addresses
    seen: int = 0  # canaries in prompts
    reads: int = 0  # pages of the API
    knocks: int = 0  # requests of strangers
    events: int = 0  # server-sent events
    looks: int = 0  # files that were looked at
    links: int = 0
    unlinks: int = 0
    forgotten: int = 0  # canaries that nobody may see any more
    commands: int = 0  # runs of the command line
    exports: int = 0
    kills: int = 0
    server_kills: int = 0
    segments: int = 0  # of the archive, at the end
