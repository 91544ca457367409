"""A day of 200 turns of one person: tokens and money with a prefix cache, by default and with the earlier defaults.

Tokens are those of our tokenizer. The cache is modelled after OpenAI's: it knows the beginning of the recent requests
of a conversation, from 1,024 tokens on, in steps of 128 tokens (https://platform.openai.com/docs/guides/prompt-caching).
"""

from collections import deque
from dataclasses import dataclass, field

import anyio

from benchmarks.folder import data_dir
from benchmarks.result import Result
from daemon.config import Config
from daemon.config.memory_settings import MemorySearchConfig
from daemon.forget.memory_removal import ANEW
from daemon.run import open_process
from daemon.tokens import load
from tests.prefixlab import SCOPE, Asked, Talk, shared_bytes, talking

TURNS = 200
OTHER_EVERY = 4
"""Each fourth turn is in a second conversation of the person."""
TOOLS_EVERY = 10
"""Each tenth turn calls three tools."""
CACHE_MIN_TOKENS, CACHE_STEP_TOKENS = 1_024, 128
RECENT = 16
"""Requests of a conversation whose beginning the cache knows."""
INPUT, CACHED, OUTPUT = 1.0, 0.1, 4.0
"""Prices of a million tokens: cached input at a tenth of the price, as at Anthropic, DeepSeek and Gemini."""
CACHED_MIN = 0.8
"""Least cached share of a day's input, consolidations included, with the default settings."""


@dataclass
class Day:
    """Sums of a day."""

    tokens_in: int = 0
    cached: int = 0
    tokens_out: int = 0
    shares: list[float] = field(default_factory=list[float])
    """Of each request: the bytes that an earlier request of its conversation begins with as well."""

    @property
    def cost(self) -> float:
        """At the prices above."""
        fresh = self.tokens_in - self.cached
        return (fresh * INPUT + self.cached * CACHED + self.tokens_out * OUTPUT) / 1_000_000


def measure() -> list[Result]:
    """Both days, each in a data directory of its own."""
    return [
        result
        for name, is_earlier in (("now", False), ("earlier defaults", True))
        for result in _results(name, anyio.run(_day, is_earlier), is_earlier=is_earlier)
    ]


def _results(name: str, day: Day, *, is_earlier: bool) -> list[Result]:
    least = 0.0 if is_earlier else CACHED_MIN
    figures = (
        ("shared prefix", "of the bytes", tuple(day.shares), 0.0),
        ("model calls", "calls", (len(day.shares),), 0.0),
        ("input", "tokens", (day.tokens_in,), 0.0),
        ("cached input", "tokens", (day.cached,), 0.0),
        ("cached share", "of the input", (day.cached / day.tokens_in,), least),
        ("output", "tokens", (day.tokens_out,), 0.0),
        ("cost", f"at {INPUT:g}, {CACHED:g} and {OUTPUT:g} a million", (day.cost,), 0.0),
    )
    return [
        Result(
            name=f"a day of {TURNS} turns, {name}: {figure}",
            unit=unit,
            values=values,
            floor=0.0,
            floor_is="nothing",
            limit=limit,
            limit_is="at least",
        )
        for figure, unit, values, limit in figures
    ]


async def _day(is_earlier: bool) -> Day:
    config = Config(memory_search=MemorySearchConfig(place="system")) if is_earlier else Config()
    with data_dir() as folder:
        async with open_process(config, folder) as process, talking(process) as talk:
            await talk.until_settled("web:ann")
            await talk.say("web:ann-too")
            before = len(talk.model.asked)
            for turn in range(1, TURNS + 1):
                if is_earlier:
                    # Prompts show the newest MEMORY.md at once, as after an edit.
                    await process.bus.run(ANEW, [process.bus.keys.memory(SCOPE)], [])
                await _turn(talk, turn)
            return await _sums(talk.model.asked, before)


async def _turn(talk: Talk, turn: int) -> None:
    session = "web:ann-too" if turn % OTHER_EVERY == 0 else "web:ann"
    await talk.say(session, "tools" if turn % TOOLS_EVERY == 0 else "plain")


async def _sums(asked: list[Asked], before: int) -> Day:
    day, recent, tokenizer = Day(), dict[str, deque[bytes]](), await load("gpt-4o")
    for at, one in enumerate(asked):
        known = recent.setdefault(one.session, deque(maxlen=RECENT))
        share = max((shared_bytes(other, one.text) for other in known), default=0) / len(one.text)
        if at >= before:
            tokens = one.tokens or tokenizer.count(one.text.decode())
            cached = int(tokens * share) // CACHE_STEP_TOKENS * CACHE_STEP_TOKENS
            day.tokens_in += tokens
            day.cached += cached if cached >= CACHE_MIN_TOKENS else 0
            day.tokens_out += tokenizer.count(one.answer)
            day.shares.append(share)
        known.append(one.text)
    return day
