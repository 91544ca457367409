"""How large a chaos run is and how bad, and what was done in it."""

from dataclasses import dataclass

from tests.chaos.ends import Drain
from tests.limits import HANG_S


@dataclass(frozen=True, kw_only=True)
class Plan:
    messages: int = 400
    sessions: int = 20
    seconds: float = 30.0  # how long messages flow, and the dice fall
    kills: int = 10
    server_kills: int = 3
    pauses: int = 6
    memory_kills: int = 5  # of who consolidates, most of them in the middle of a model call
    memory_pauses: int = 4
    doomed: int = 2  # sessions of which the first summary kills its worker, three times
    drop: float = 0.01
    late: float = 0.1
    late_max_s: float = 8.0
    drain_s: float = 600.0  # how long the rest of the answers is awaited while they come,
    still_s: float = HANG_S  # ... and how long without any progress
    patience: float = 1.0  # so many times as long as all this
    seed: int = 1
    sabotage: str = ""

    @property
    def drain(self) -> Drain:
        return Drain(limit_s=self.patience * self.drain_s, still_s=self.patience * self.still_s)


@dataclass(kw_only=True)
class Counts:
    kills: int = 0
    server_kills: int = 0
    pauses: int = 0
    memory_kills: int = 0
    memory_pauses: int = 0
    deaths: int = 0  # workers killed by the summary that they had asked for
    dropped: int = 0
    late: int = 0
    bursts: int = 0  # turns that answered several messages
    doubled: int = 0  # parts that arrived twice
    listed_doubled: int = 0
    """Lines of ``queue unknown`` of which the platform knows that both attempts arrived: as many."""
    listed_cut: int = 0  # lines of an attempt that arrived and whose answer was not taken in
    listed_answered: int = 0
    """Lines of an attempt that was answered, and whose sender died or lost its lease before it said so."""
    listed_unseen: int = 0  # lines of an attempt that was marked and never arrived
    tools: int = 0  # runs of tools
    interrupted: int = 0  # calls of which the model was told that nobody knows
    consolidated: int = 0  # ranges that went from a log into memory
    raw: int = 0  # of these, the ones that went in as they were
    least: int = 0  # the fewest of one session
    versions: int = 0
    flushes: int = 0  # versions by silent turns
    rejected: int = 0
    summaries: int = 0  # requests for one
    wrong: int = 0  # answers that were none
    waits: int = 0  # turns that waited for a consolidation
    longest_wait_s: float = 0.0
    prompts: int = 0  # model calls of turns that were looked at
    most_tokens: int = 0  # of a turn's prompt
    looks: int = 0  # how often all cursors were read
    left: int = 0  # messages and replies still queued, and sessions unsettled, at the end
