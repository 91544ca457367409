"""How long a soak is and what goes wrong in it when; and what was done. Pure."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.chaos.ends import Drain
from tests.limits import HANG_S

FIRST, LAST = 0.06, 0.88
"""The part of the run in which things go wrong: it begins in peace, and what is measured last is no catching up."""

ELDERS_UNTIL = 0.35
"""Share of the run after which one process of each role is left alone, so that it grows old enough to be measured."""

SERVER_UNTIL = 0.7
"""The same of the server, which is measured too; everybody has to find it again in the meantime, elders as well."""

KILL, PAUSE, SERVER, ROLL, MODEL, DISK = "kill", "pause", "server", "roll", "model", "disk"


@dataclass(frozen=True, kw_only=True)
class Plan:
    seconds: float = 3_600.0  # how long messages flow
    rate: float = 50.0  # messages a second, of all channels together
    every_s: float = 10.0  # something goes wrong as often
    chats: int = 300
    drain_s: float = 600.0  # how long the rest of the answers is awaited while they come,
    still_s: float = HANG_S  # ... and how long without any progress
    patience: float = 1.0  # so many times as long as all this; the same number of messages is said, at a lower rate
    seed: int = 1
    sabotage: str = ""  # what is switched off, or planted: a run that has to be found out

    @property
    def drain(self) -> Drain:
        return Drain(limit_s=self.patience * self.drain_s, still_s=self.patience * self.still_s)


@dataclass(frozen=True, kw_only=True)
class Trouble:
    at_s: float  # after the beginning of the run
    kind: str
    elders: bool  # whether it may happen to the oldest processes as well


@dataclass(kw_only=True)
class Counts:
    kills: int = 0
    pauses: int = 0
    server_kills: int = 0
    rolls: int = 0  # restarts of all processes, one after the other
    vain_starts: int = 0  # processes that found no server when they started
    stops: int = 0  # processes that were told to end
    disks: int = 0  # times that the disk was full
    models: dict[str, int] = field(default_factory=dict[str, int])  # times that the model was in each bad mood
    bad_inputs: int = 0
    said: dict[str, int] = field(default_factory=dict[str, int])  # messages by channel
    asked: int = 0  # requests to the model
    looked_at: int = 0  # prompts that were counted anew
    events: int = 0  # server-sent events that were read
    turns: int = 0
    consolidated: int = 0
    doubled: int = 0  # replies that arrived twice, each of them listed
    unknown: dict[str, int] = field(default_factory=dict[str, int])
    """Lines of ``queue unknown``, by what was done about each."""
    given_up: int = 0  # replies of which nobody knows, after two tries


def troubles(plan: Plan) -> Sequence[Trouble]:
    """What goes wrong when, in the order of its seed; at least one of each kind where there is time for it."""
    dice = random.Random(plan.seed)
    count = max(1, int(plan.seconds * (LAST - FIRST) / plan.every_s))
    early = [ROLL, DISK, SERVER]
    rest = [KILL, MODEL, PAUSE, KILL, MODEL, SERVER, KILL, PAUSE, MODEL, KILL]
    kinds = (early + [rest[at % len(rest)] for at in range(max(0, count - len(early)))])[:count]
    # An hour has more than one of what takes long.
    for at in range(60, len(kinds), 60):
        kinds[at : at + 2] = [ROLL, DISK][: len(kinds[at : at + 2])]
    dice.shuffle(kinds)
    return _in_time(plan, kinds, dice)


def _in_time(plan: Plan, kinds: list[str], dice: random.Random) -> Sequence[Trouble]:
    """Each at its time; what would come too late for its kind comes sooner, in the place of something else."""
    share = (LAST - FIRST) / len(kinds)
    at = [FIRST + share * (number + dice.uniform(0.1, 0.9)) for number in range(len(kinds))]
    late = [n for n, kind in enumerate(kinds) if kind in (SERVER, DISK) and at[n] > SERVER_UNTIL]
    free = [n for n, kind in enumerate(kinds) if kind not in (SERVER, DISK, ROLL) and at[n] <= SERVER_UNTIL]
    for number, other in zip(late, dice.sample(free, min(len(late), len(free))), strict=False):
        kinds[number], kinds[other] = kinds[other], kinds[number]
    # Every process is restarted once, the elders too.
    if ROLL in kinds and not any(kind == ROLL and at[n] <= ELDERS_UNTIL for n, kind in enumerate(kinds)):
        first = kinds.index(ROLL)
        early = [n for n in range(len(kinds)) if at[n] <= ELDERS_UNTIL and kinds[n] not in (SERVER, DISK)]
        if early:
            other = dice.choice(early)
            kinds[first], kinds[other] = kinds[other], kinds[first]
    return [
        Trouble(at_s=plan.seconds * share, kind=kind, elders=share <= ELDERS_UNTIL)
        for share, kind in zip(at, kinds, strict=True)
    ]
