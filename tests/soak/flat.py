"""Whether what a process holds stays as it is. Pure.

The time in which a process is looked at, without its warm-up, is cut into slices, and of each the least counts that it
held: what it needs for a moment, since much comes at once, it gives back, and what it has lost sight of it never does.
Through these a straight line is laid; how far that rises over the whole time is what a process may be too much of.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

MIB = 1 << 20

INDEX_BYTES = MIB // 4
"""What a process may hold for each open file of a search index. SQLite keeps half a MiB of an index's pages and some
things of its own, and an index has three files; 60 kB each were measured."""

WARM_UP = 0.5
"""Share of its life that is not looked at, and of the run: caches fill, each code path is taken for the first time."""

OLD_ENOUGH = 0.15  # share of a run for which a process has to live after that, to be judged
SLICES = 8
SAMPLES_A_SLICE = 3  # at least; of fewer samples there are fewer slices


@dataclass(frozen=True, kw_only=True)
class Sample:
    name: str  # of its place, ``agent-0``
    pid: int
    at_s: float
    memory: int  # resident, bytes
    files: int  # open descriptors, without those of search indexes
    cpu_s: float  # used so far
    keys: int = 0  # of a server: bytes of what it keeps, which is no leak of its own
    indexes: int = 0
    """Open files of search indexes, one after the other opened for each scope, until there are as many as may be."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much a process may seem to grow over the time that is looked at."""

    memory: int = 10 * MIB
    memory_share: float = 0.08  # of what it holds on average, if that is more
    files: float = 8.0
    indexes: float = 0.0  # open files of search indexes, at most


@dataclass(frozen=True, kw_only=True)
class Span:
    began_s: float
    seconds: float

    def of(self, samples: Sequence[Sample]) -> list[Sample]:
        return [sample for sample in samples if self.began_s <= sample.at_s <= self.began_s + self.seconds]


@dataclass(frozen=True, kw_only=True)
class Life:
    samples: Sequence[Sample]

    @property
    def name(self) -> str:
        return self.samples[0].name

    @property
    def seconds(self) -> float:
        return self.samples[-1].at_s - self.samples[0].at_s

    def settled(self, run: "Span") -> "Life | None":
        """Without its warm-up; None: it was not old enough."""
        begins = max(self.samples[0].at_s + WARM_UP * self.seconds, run.began_s + WARM_UP * run.seconds)
        rest = Life(samples=[sample for sample in self.samples if sample.at_s >= begins])
        return rest if rest.samples and rest.seconds >= OLD_ENOUGH * run.seconds else None


def lives(samples: Sequence[Sample]) -> list[Life]:
    whose = sorted(samples, key=lambda sample: (sample.name, sample.pid, sample.at_s))
    return [Life(samples=list(own)) for _, own in groupby(whose, key=lambda sample: (sample.name, sample.pid))]


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the straight line that lies nearest to the points (least squares); 0.0 where there is none."""
    count = len(points)
    if count < 2:
        return 0.0
    middle, height = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - middle) ** 2 for x, _ in points)
    return sum((x - middle) * (y - height) for x, y in points) / spread if spread else 0.0


def least(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    count = max(1, min(SLICES, len(points) // SAMPLES_A_SLICE))
    cuts = [len(points) * at // count for at in range(count + 1)]
    return [min(points[first:upto], key=lambda point: point[1]) for first, upto in pairwise(cuts) if first < upto]


def rise(points: Sequence[tuple[float, float]]) -> float:
    """How much higher the line through the lowest points ends than it begins, over all of the time."""
    return slope(least(points)) * (points[-1][0] - points[0][0]) if points else 0.0


def growing(samples: Sequence[Sample], run: Span, limits: Mapping[str, Limits]) -> Iterator[str]:
    """Processes that hold more and more.

    Args:
        samples: of all processes, in any order.
        run: the time that counts.
        limits: by the first part of a name; those without any are not judged.
    """
    for one in growths(samples, run):
        limit = limits.get(one.name.partition("-")[0])
        if limit is None:
            continue
        most = max(limit.memory, limit.memory_share * one.memory) + INDEX_BYTES * max(0.0, one.indexes_rise)
        if one.memory_rise > most:
            yield (
                f"{one.name}: its memory rose by {one.memory_rise / MIB:.1f} MiB in {one.seconds:.0f} s, to about "
                f"{one.memory / MIB:.0f} (at most {most / MIB:.1f})"
            )
        if one.files_rise > limit.files:
            yield (
                f"{one.name}: its open files rose by {one.files_rise:.1f} in {one.seconds:.0f} s, to about "
                f"{one.files:.0f} (at most {limit.files:.0f})"
            )
        if one.indexes_most > limit.indexes:
            yield f"{one.name}: {one.indexes_most} files of search indexes are open (at most {limit.indexes:.0f})"


def growths(samples: Sequence[Sample], run: Span) -> "list[Growth]":
    settled = (life.settled(run) for life in lives(run.of(samples)))
    return [Growth.of(life) for life in settled if life is not None]


@dataclass(frozen=True, kw_only=True)
class Growth:
    name: str
    seconds: float
    memory: float  # on average, bytes
    memory_rise: float  # without what it keeps for others
    files: float
    files_rise: float
    indexes_rise: float
    indexes_most: int

    @classmethod
    def of(cls, settled: Life) -> "Growth":
        samples = settled.samples
        own = [(sample.at_s, float(sample.memory - sample.keys)) for sample in samples]
        return cls(
            name=settled.name,
            seconds=settled.seconds,
            memory=sum(sample.memory for sample in samples) / len(samples),
            memory_rise=rise(own),
            files=sum(sample.files for sample in samples) / len(samples),
            files_rise=rise([(sample.at_s, float(sample.files)) for sample in samples]),
            indexes_rise=rise([(sample.at_s, float(sample.indexes)) for sample in samples]),
            indexes_most=max(sample.indexes for sample in samples),
        )
