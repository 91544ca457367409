"""What is found again of what people told, against the plainest search there is.

The lives of ``recall_corpus`` are put into sessions and memories, and everybody is asked on the morning after.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from benchmarks.folder import data_dir
from benchmarks.recall_baseline import Baseline
from benchmarks.recall_corpus import Life, lives
from benchmarks.recall_lived import engine_of, lived, scope_of, vectors_of
from benchmarks.recall_measure import CUTS, Asked, Ground, recall
from benchmarks.result import LimitIs, Result
from daemon import log
from daemon.config import BotConfig, Config
from daemon.process import Process
from daemon.run import open_process
from daemon.testing import ManualClock

SEEDS = (1, 2)
"""A hundred people."""
LANGUAGES = {"en": "English", "zh": "Chinese"}
FEW, MANY = CUTS
PLAIN = "porter stems by OR, Chinese in characters"
ABOVE = 5.0
"""Points above the plainest search, among ``MANY``."""
OVERALL_LIMIT = 80.0
"""Per cent, among ``FEW``."""
APART_LIMIT = 10.0
"""Points between the languages."""
IN_STEP_S = 60.0


def measure() -> list[Result]:
    """Each line a number with its limit, each value a seed."""
    log.configure("error")
    seeds = [_Seed() for _ in SEEDS]
    with data_dir() as folder:
        anyio.run(_asked, folder, seeds)
    return [
        *(_above(seeds, language) for language in LANGUAGES),
        _result(f"found among {FEW}, both languages", "%", [seed.found(FEW) for seed in seeds], limit=OVERALL_LIMIT),
        *(_apart(seeds, cut) for cut in CUTS),
        *(_kind(seeds, kind) for kind in sorted({one.question.kind for one in seeds[0].engine})),
        _result(
            f"answers that can be read in the {MANY} snippets",
            "%",
            [100 * sum(seed.read) / len(seed.read) for seed in seeds],
            limit=OVERALL_LIMIT,
        ),
        _result(
            "nothing found where the plainest search finds something",
            "questions",
            [
                sum(one.empty and not plain.empty for one, plain in zip(seed.engine, seed.plain, strict=True))
                for seed in seeds
            ],
            limit=0.0,
            limit_is="worst, at most",
        ),
        *(_by_both(seeds, language, cut) for language in LANGUAGES for cut in CUTS if seeds[0].both),
    ]


class _Seed:
    """What came of the questions to the people of one seed."""

    def __init__(self) -> None:
        self.engine: list[Asked] = []
        self.plain: list[Asked] = []
        self.both: list[Asked] = []
        """By words and vectors; empty where there are none."""
        self.read: list[float] = []
        """Which part of the answers stands in what was shown."""

    def found(self, cut: int, *, language: str = "", kind: str = "", plain: bool = False) -> float:
        """Per cent."""
        return _found(self.plain if plain else self.engine, cut, language=language, kind=kind)


def _found(asked: Sequence[Asked], cut: int, *, language: str = "", kind: str = "") -> float:
    return recall([one for one in asked if _is_of(one, language, kind)], cut)


def _is_of(one: Asked, language: str, kind: str) -> bool:
    return one.life.language == (language or one.life.language) and one.question.kind == (kind or one.question.kind)


async def _asked(folder: Path, seeds: Sequence[_Seed]) -> None:
    async with open_process(Config(bots={"pond": BotConfig()}), folder) as process:
        for seed, number in zip(seeds, SEEDS, strict=True):
            for life in lives(number):
                await lived(process, life)
                await _ask(process, life, seed)


async def _ask(process: Process, life: Life, seed: _Seed) -> None:
    scope, ground = scope_of(life), Ground(life)
    plain = Baseline([chunk.text for chunk in ground.chunks])
    clock = ManualClock(life.now)
    engine = engine_of(process, clock)
    try:
        if not await engine.catch_up(scope, within_s=IN_STEP_S):
            raise RuntimeError(f"the index of {scope} is not in step after {IN_STEP_S} s")
        with anyio.fail_after(IN_STEP_S):
            both = await vectors_of(process, engine, scope, clock)
        for question in life.questions:
            found = await engine.search(scope, question.text, mode="search", limit=MANY)
            seed.engine.append(ground.asked(question, ground.numbers(hit.docid for hit in found.hits)))
            seed.plain.append(ground.asked(question, plain.search(question.text, MANY)))
            if both is not None:
                found_by_both = await both.search(scope, question.text, mode="query", limit=MANY)
                seed.both.append(ground.asked(question, ground.numbers(hit.docid for hit in found_by_both.hits)))
            shown = "\n".join(hit.snippet for hit in found.hits)
            seed.read.append(sum(answer in shown for answer in question.answers) / len(question.answers))
    finally:
        await engine.aclose()


def _above(seeds: Sequence[_Seed], language: str) -> Result:
    plain = [seed.found(MANY, language=language, plain=True) for seed in seeds]
    found = [seed.found(MANY, language=language) for seed in seeds]
    floor = sum(plain) / len(plain)
    name = f"found among {MANY}, {LANGUAGES[language]}"
    return _result(name, "%", found, limit=floor + ABOVE, floor=floor)


def _apart(seeds: Sequence[_Seed], cut: int) -> Result:
    def apart(seed: _Seed) -> float:
        first, second = (seed.found(cut, language=language) for language in LANGUAGES)
        return abs(first - second)

    name = f"between the languages, among {cut}"
    return _result(name, "points", [*map(apart, seeds)], limit=APART_LIMIT, limit_is="worst, at most")


def _kind(seeds: Sequence[_Seed], kind: str) -> Result:
    """No worse than the plainest search, whatever is asked."""
    plain = sum(seed.found(MANY, kind=kind, plain=True) for seed in seeds) / len(seeds)
    values = [seed.found(MANY, kind=kind) for seed in seeds]
    return _result(f"found among {MANY}: {kind}", "%", values, limit=plain, floor=plain)


def _by_both(seeds: Sequence[_Seed], language: str, cut: int) -> Result:
    """No worse than by words alone."""
    words = sum(seed.found(cut, language=language) for seed in seeds) / len(seeds)
    values = [_found(seed.both, cut, language=language) for seed in seeds]
    name = f"found among {cut} by words and vectors, {LANGUAGES[language]}"
    return replace(_result(name, "%", values, limit=words, floor=words), floor_is="by words alone")


def _result(
    name: str,
    unit: str,
    values: Sequence[float],
    *,
    limit: float,
    limit_is: LimitIs = "at least",
    floor: float = 0.0,
) -> Result:
    return Result(
        name=name,
        unit=unit,
        values=tuple(values),
        floor=floor,
        floor_is=PLAIN if floor else "",
        limit=limit,
        limit_is=limit_is,
    )
