"""What survives 1, 5 and 20 consolidations with summary models that lose lines and fail.

Facts, rules, promises and numbers are planted at the beginning of conversations, and looked for after the
consolidations: in the prompt, by recall with a question, and by the tools with the same question. The summary model is
made up: it keeps each line that it reads with a fixed probability, and fails with another one.
"""

import random
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import anyio
import msgspec

from benchmarks.folder import data_dir
from benchmarks.kept import said as say_more
from benchmarks.people import CHANNEL
from benchmarks.result import Result
from daemon import log
from daemon.config import BotConfig, Config, ConsolidationConfig, MemoryFlushConfig, ModelConfig, QueueConfig
from daemon.errors import ModelUnavailable
from daemon.events import LogEntry
from daemon.memory import Memories
from daemon.model import Answer, Chunk, Request, ToolCall
from daemon.process import Process
from daemon.recall import RecallQuery
from daemon.run import open_process
from daemon.session import SessionReader
from daemon.session.artificial_session import fill
from daemon.sessionkey import SessionKey
from workers.agent.prompt.prompt_preview import preview
from workers.consolidation import Consolidator, Kits, stores_of

KEEPS, FAILS, SEEDS = (1.0, 0.8, 0.5), (0.0, 0.3), range(5)
ROUNDS = (1, 5, 20)
"""Consolidations after which is counted."""

WINDOW_TOKENS = 16_384
TURN_TOKENS = 240
"""Of each turn, as the log says."""
BEGUN_TURNS, MORE_TURNS = 46, 24
"""Turns before the first consolidation, and before each further one: each comes to one round."""
TRIES_MAX = 8
"""Attempts at one consolidation: after three failures the messages are saved verbatim."""
OF_EACH = 3
"""Planted items of each kind in a conversation."""
PLACES = ("prompt", "recall", "tools")
HITS = 5
TIME_LIMIT_S = 3_600.0
ALLOWANCE_TOKENS = 1_300
"""What recall may add to a prompt of this window."""

FILLER = "The reeds at the north bank have grown over the outlet; the water stands a hand above the {word} mark."
SYLLABLES = ("ba", "do", "fe", "ku", "li", "mo", "na", "pe", "ri", "su", "ta", "vo")


@dataclass(frozen=True, kw_only=True)
class Planted:
    """What somebody says, and how it is asked for later."""

    kind: str
    said: str
    by_bot: bool = False
    asked: str
    value: str
    """The word of the answer."""


@dataclass(frozen=True, kw_only=True)
class Life:
    """One conversation."""

    keep: float
    fail: float
    seed: int

    @property
    def session(self) -> str:
        """Its key."""
        return str(SessionKey(channel=CHANNEL, chat=f"k{self.keep:g}f{self.fail:g}s{self.seed}"))

    @property
    def scope(self) -> str:
        """Whose memory it is; the bot is named for the model."""
        return f"{self.bot}:person:{self.session}"

    @property
    def bot(self) -> str:
        """A bot for each model."""
        return f"keep{round(100 * self.keep)}fail{round(100 * self.fail)}"


LIVES = [Life(keep=keep, fail=fail, seed=seed) for keep, fail, seed in product(KEEPS, FAILS, SEEDS)]


def measure() -> list[Result]:
    """The shares of planted items that are still answered for, and a table of the places in which they are found."""
    log.configure("critical")
    with data_dir() as folder:
        found = anyio.run(_measured, folder)
    print(_table(found))
    return [_result(found, rounds) for rounds in ROUNDS] + [_rules(found)]


def planted_of(seed: int) -> list[Planted]:
    """The planted items of a conversation, in the order in which they are said."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(SYLLABLES, k=4)) for _ in range(4 * OF_EACH)]
    found: list[Planted] = []
    for name, rule, promise, number in zip(*[iter(words)] * 4, strict=True):
        code = str(chance.randrange(10_000, 99_999))
        found += [
            Planted(
                kind="fact", said=f"My sister {name.title()} lives beside the {name} mill.",
                asked=f"Who is {name.title()}?", value=name,
            ),
            Planted(
                kind="rule", said=f"Always feed the {rule} carp before noon.",
                asked=f"What is the rule for the {rule} carp?", value=rule,
            ),
            Planted(
                kind="promise", said=f"I will bring the {promise} net on Friday.", by_bot=True,
                asked=f"Did you promise anything about the {promise} net?", value=promise,
            ),
            Planted(
                kind="number", said=f"The {number} gate opens with {code}.",
                asked=f"What opens the {number} gate?", value=code,
            ),
        ]  # fmt: skip
    return found


# The summary model


class Forgetful:
    """Keeps each line that it reads with a probability, and fails with another."""

    name = "forgetful"

    def __init__(self, keep: float, fail: float) -> None:
        self._keep = keep
        self._fail = fail
        self._chance = random.Random(f"{keep} {fail}")

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """As ``Model.stream``."""
        if self._chance.random() < self._fail:
            raise ModelUnavailable("the summary model is scripted to fail now")
        text = msgspec.json.decode(request.messages[-1])["content"]
        memory, new = self._left(memory_in(text)), self._left(lines_in(text))
        saved = {
            "history_entry": f"[2026-11-20 09:00] {' '.join(self._left(new))}",
            "memory_update": "\n".join(f"- {line}" for line in dict.fromkeys([*memory, *new])) or "- nothing",
            "continuity": "They go on.",
        }
        call = ToolCall(id="1", name="save_memory", arguments=msgspec.json.encode(saved).decode())
        yield Answer(text="", tool_calls=(call,), model=self.name)

    async def aclose(self) -> None:
        """Nothing to close."""

    def _left(self, lines: Sequence[str]) -> list[str]:
        return [line for line in lines if self._chance.random() < self._keep]


_MEMORY = re.compile(r"## Current Long-term Memory[^\n]*\n(.*?)\n\n## (?:Conversation|What)", re.DOTALL)
_SAID = re.compile(r"^\[[^\]]*\] (?:USER|ASSISTANT): (.*)$", re.MULTILINE)


def memory_in(request: str) -> list[str]:
    """The lines of MEMORY.md in a request; a forgetful model does not keep headings."""
    found = _MEMORY.search(request)
    lines = found[1].splitlines() if found else []
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]


def lines_in(request: str) -> list[str]:
    """What is worth a line in MEMORY.md: all but the filler."""
    return [line for line in _SAID.findall(request) if not line.startswith(FILLER[:20])]


# Conversations


def _entries(life: Life) -> Iterator[LogEntry]:
    """A conversation without an end; the planted items come first."""
    planted, chance = planted_of(life.seed), random.Random(life.session)
    number = 0
    while True:
        item = planted[number] if number < len(planted) else None
        texts = [FILLER.format(word=word) for word in chance.choices(SYLLABLES, k=2)]
        if item is not None:
            texts[item.by_bot] = item.said
        for at, text in enumerate(texts):
            role = "assistant" if at else "user"
            yield LogEntry(
                time=f"2026-11-20T{number // 60 % 24:02}:{number % 60:02}:0{at}.000Z",
                turn=2 * number,
                tokens=TURN_TOKENS // 2,
                id="" if at else f"c{number}",
                sender="" if at else "ann",
                wire=msgspec.Raw(msgspec.json.encode({"role": role, "content": text})),
            )
        number += 1


async def _measured(folder: Path) -> dict[tuple[Life, int], dict[str, list[bool]]]:
    models = {life.bot: life for life in LIVES}
    window = partial(ModelConfig, context_window_tokens=WINDOW_TOKENS)
    config = Config(
        bots={bot: BotConfig(model=window(name=bot), tools=("time",)) for bot in models},
        memory_flush=MemoryFlushConfig(enabled=False),
        consolidation=ConsolidationConfig(breaker_failures=1_000_000),
        queue=QueueConfig(backoff_min_s=0.001, backoff_max_s=0.01),
    )

    async def connect(model: ModelConfig, *, language: str) -> Forgetful:
        return Forgetful(models[model.name].keep, models[model.name].fail)

    found: dict[tuple[Life, int], dict[str, list[bool]]] = {}
    with anyio.fail_after(TIME_LIMIT_S):
        async with open_process(config, folder) as opened:
            process = replace(opened, connect_model=connect)
            consolidator = Consolidator(stores_of(process), Kits(process))
            for life in LIVES:
                async for rounds in _lived(process, consolidator, life):
                    found[life, rounds] = await _looked_for(process, life)
            await process.recaller.aclose()
    return found


async def _lived(process: Process, consolidator: Consolidator, life: Life) -> AsyncGenerator[int, None]:
    entries = _entries(life)
    await fill(process.bus, life.session, [next(entries) for _ in range(2 * BEGUN_TURNS)], scope=life.scope)
    for rounds in range(1, max(ROUNDS) + 1):
        if rounds > 1:
            await say_more(process.bus, life.session, [next(entries) for _ in range(2 * MORE_TURNS)])
        rounds_done = 0
        for _ in range(TRIES_MAX):
            report = await consolidator.consolidate(life.session)
            rounds_done += report.rounds
            if report.outcome in ("settled", "nothing"):
                break
        assert rounds_done, (life, rounds)
        if rounds in ROUNDS:
            yield rounds


# What is left


async def _looked_for(process: Process, life: Life) -> dict[str, list[bool]]:
    """By place, whether each planted item is found there."""
    shown = await preview(process, life.session)
    prompt = "\n".join(str(message.get("content") or "") for message in shown["messages"])
    state = await SessionReader(process.bus).state(life.session)
    home = await Memories(process.bus).home(life.scope)
    found: dict[str, list[bool]] = {place: [] for place in PLACES}
    for item in planted_of(life.seed):
        asked = RecallQuery(
            words=item.asked,
            before=str,
            held=lambda: [prompt],
            count=lambda text: len(text) // 4,
            allowance_tokens=ALLOWANCE_TOKENS,
            session=life.session,
            first=state.cursor,
        )
        recalled = await process.recaller.recalled(home, asked) or ""
        searched = [hit.snippet for hit in (await process.recaller.search(home, item.asked, limit=HITS)).hits]
        said = [each.text for each in await process.recaller.said(home, item.asked, limit=HITS)]
        stands: Callable[[str], bool] = partial(_stands, item)
        found["prompt"].append(stands(prompt))
        found["recall"].append(stands(recalled))
        found["tools"].append(stands("\n".join([*searched, *said])))
    return found


def _stands(item: Planted, text: str) -> bool:
    return item.said.rstrip(".") in text or (item.kind == "number" and item.value in text)


Found = Mapping[tuple[Life, int], Mapping[str, Sequence[bool]]]


def _share(rows: Sequence[Mapping[str, Sequence[bool]]], *places: str) -> float:
    items = [any(row[place][at] for place in places) for row in rows for at in range(len(row[places[0]]))]
    return 100 * sum(items) / len(items)


def _result(found: Found, rounds: int) -> Result:
    """Of each conversation, the share of items that stand in the prompt or are found by recall or by tools."""
    values = [_share([found[life, rounds]], *PLACES) for life in LIVES]
    return Result(
        name=f"planted items in the prompt or found, after {rounds} consolidations",
        unit="%",
        values=tuple(values),
        floor=0.0,
        floor_is="-",
        limit=95.0,
        limit_is="worst, at least",
    )


def _rules(found: Found) -> Result:
    """Of each conversation, the share of rules in the prompt after the last consolidation."""
    last, values = max(ROUNDS), list[float]()
    for life in LIVES:
        rules = [at for at, item in enumerate(planted_of(life.seed)) if item.kind == "rule"]
        values.append(100 * sum(found[life, last]["prompt"][at] for at in rules) / len(rules))
    return Result(
        name=f"rules in the prompt after {last} consolidations",
        unit="%",
        values=tuple(values),
        floor=0.0,
        floor_is="-",
        limit=100.0,
        limit_is="worst, at least",
    )


def _table(found: Found) -> str:
    """For docs/consolidation.md: a row for each model, a column for each number of consolidations.

    Each cell has three shares: in the prompt; in the prompt or recalled; these, or found by tools.
    """
    heads = [f"{rounds} consolidation{'s' if rounds > 1 else ''}" for rounds in ROUNDS]
    rows = [["model keeps", "model fails", *heads], ["---"] * (2 + len(ROUNDS))]
    for keep, fail in product(KEEPS, FAILS):
        lives = [life for life in LIVES if (life.keep, life.fail) == (keep, fail)]
        cells = [_cell([found[life, rounds] for life in lives]) for rounds in ROUNDS]
        rows.append([f"{keep:.0%}", f"{fail:.0%}", *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(rows: Sequence[Mapping[str, Sequence[bool]]]) -> str:
    return " / ".join(f"{_share(rows, *PLACES[:count]):.0f}" for count in range(1, len(PLACES) + 1))
