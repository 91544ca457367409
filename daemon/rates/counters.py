"""The counters of this process that a history shows, read from its metrics."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import Counter, Histogram

from daemon import metrics

TURN, WAITED = "turn_s", "waited_s"
"""Measures of durations: ``turn_s 0.5`` is the number of turns that took at most 0.5 s."""

COST = "cost"

Numbers = Mapping[str, float]
"""How much was counted, by measure; see ``mp:rates`` in docs/redis-database.md."""


def counted() -> Numbers:
    """What this process has counted since its start."""
    found = defaultdict[str, float](float)
    for labels, value in _values(metrics.ACCEPTED):
        found["messages"] += value if labels["status"] == "accepted" else 0
    for labels, value in _values(metrics.TURNS):
        found[f"turns {labels['outcome']}"] += value
    for labels, value in _values(metrics.TOKENS):
        found[labels["direction"]] += value
    for labels, value in _values(metrics.COST):
        found[f"{COST} {labels['currency']}"] += value
    for measure, histogram in ((TURN, metrics.TURN_SECONDS), (WAITED, metrics.WAITED_SECONDS)):
        for labels, value in _values(histogram, "_bucket"):
            found[f"{measure} {labels['le']}"] += value
    return found


def grown(numbers: Numbers, before: Numbers) -> Numbers:
    """The growth of each measure; a measure that has not grown is left out."""
    growth = {measure: number - before.get(measure, 0.0) for measure, number in numbers.items()}
    return {measure: number for measure, number in growth.items() if number > 0}


def added(every: Iterable[Numbers]) -> Numbers:
    """The sum of each measure."""
    total = defaultdict[str, float](float)
    for numbers in every:
        for measure, number in numbers.items():
            total[measure] += number
    return total


def _values(metric: Counter | Histogram, suffix: str = "_total") -> Iterator[tuple[dict[str, str], float]]:
    for family in metric.collect():
        for sample in family.samples:
            if sample.name.endswith(suffix):
                yield sample.labels, sample.value
