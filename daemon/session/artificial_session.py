"""Creates a session with an artificial conversation, for experiments.

Pure.
"""

import datetime as dt
import math
import random
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from daemon.bus import Bus, load_script
from daemon.clock import stamp
from daemon.errors import InboundError
from daemon.events import LogEntry
from daemon.session.sessions import GREW_MAX
from daemon.tokens import Tokenizer
from daemon.wording import Language

# Artificial conversations in English and Chinese, with tools and of all sizes. The same seed gives the same text.

SMALLEST_TOKENS, LARGEST_TOKENS = 4, 4_000
"""Of an ordinary message; half of them stay below 130."""
CHINESE = 0.4
"""Share of the turns."""
BEGAN = dt.datetime(2026, 1, 5, 9, tzinfo=dt.UTC)
PAUSE_S = (5, 900)
"""Between two messages."""

SHAPES = (
    *[("user", "answer")] * 10,
    *[("user", "user", "answer")] * 2,
    *[("user", "call", "result", "answer")] * 3,
    *[("user", "calls", "result", "result", "answer")] * 2,
    ("user", "call", "result", "calls", "result", "result", "answer"),
)
"""What a turn may consist of, each as often as it is to come."""
LEAST = 2
"""Messages of the shortest turn."""

SHORT: dict[Language, tuple[str, ...]] = {
    "en": ("Yes.", "No.", "Thanks!", "Go on.", "Why?", "I see."),
    "zh": ("好的。", "不是。", "谢谢！", "继续。", "为什么？", "明白了。"),
}
SENTENCES: dict[Language, tuple[str, ...]] = {
    "en": (
        "My sister moved to house number {number} last week.",
        "I prefer the train at {clock} to the earlier train.",
        "The north pump of pond {number} makes a strange noise again.",
        "We agreed to drain the pond in the autumn, because the reeds have grown over the outlet.",
        "Order {number} has not arrived, and nobody at the depot answers the phone.",
        "Remember that the key to shed {number} hangs behind the door.",
        "How many litres does a carp of {number} grams need?",
        "According to the log, the water was {number} cm deep at {clock}.",
        "There is still an open question: who pays for the new fence?",
    ),
    "zh": (
        "我妹妹上周搬到了{number}号。",
        "我更喜欢{clock}的那班火车。",
        "{number}号池塘北边的水泵又有奇怪的声音了。",
        "我们说好秋天把水放掉，因为芦苇已经长到出水口了。",
        "{number}号订单还没有到，仓库那边没人接电话。",
        "记住，{number}号棚子的钥匙挂在门后面。",
        "一条{number}克的鲤鱼需要多少升水？",
        "根据记录，{clock}水深{number}厘米。",
        "还有一个问题没有解决：新围栏由谁付钱？",
    ),
}
TOOLS = ("read_file", "grep", "list_files")

_encode = msgspec.json.Encoder().encode


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """The properties of a conversation."""

    messages: int
    """``LEAST`` at least."""
    oversized: int = 0
    """How many of them have at least ``oversized_tokens``."""
    oversized_tokens: int = LARGEST_TOKENS
    seed: int = 0


def synthetic(plot: Plot, tokenizer: Tokenizer, *, sender: str) -> list[LogEntry]:
    """The messages of ``plot``, as turns store them in a log, from index 0 on. Some 0.3 ms each.

    Raises:
        InboundError: so many of so few messages cannot be oversized.
    """
    chance = random.Random(plot.seed)
    kinds = [list(shape) for shape in _shapes(plot.messages, chance)]
    speaking = [at for at, kind in enumerate(kind for turn in kinds for kind in turn) if not kind.startswith("call")]
    if plot.oversized > len(speaking):
        text = f"only {len(speaking)} of these {plot.messages} messages can be oversized, because the others call tools"
        raise InboundError(f"{text}. Choose fewer oversized messages, or more messages.")
    oversized = frozenset(chance.sample(speaking, plot.oversized))
    author = _Author(plot=plot, tokenizer=tokenizer, sender=sender, chance=chance, oversized=oversized)
    return [entry for turn in kinds for entry in author.turn(turn)]


def _shapes(messages: int, chance: random.Random) -> Iterator[Sequence[str]]:
    """Turns of so many messages together."""
    left = messages
    while left:
        fitting = [shape for shape in SHAPES if left == len(shape) or left >= len(shape) + LEAST]
        shape = chance.choice(fitting)
        left -= len(shape)
        yield shape


@dataclass(kw_only=True)
class _Author:
    """Writes one conversation, turn by turn."""

    plot: Plot
    tokenizer: Tokenizer
    sender: str
    chance: random.Random
    oversized: frozenset[int]
    """Indexes."""
    _now: dt.datetime = BEGAN
    _index: int = 0
    _language: Language = "en"
    _open: list[str] = field(default_factory=list[str])
    """Ids of the calls that have no result yet."""

    def turn(self, kinds: Sequence[str]) -> Iterator[LogEntry]:
        """The entries of one turn."""
        turn, ids = self._index, list[str]()
        self._language = "zh" if self.chance.random() < CHINESE else "en"
        for kind in kinds:
            self._now += dt.timedelta(seconds=self.chance.randint(*PAUSE_S))
            wire = _encode(self._message(kind))
            name = f"synthetic-{self.plot.seed}-{self._index}" if kind == "user" else ""
            ids += [name] if name else []
            yield LogEntry(
                time=stamp(self._now),
                turn=turn,
                tokens=self.tokenizer.count_message(wire),
                id=name,
                sender=self.sender if name else "",
                answers=tuple(ids) if kind == "answer" else (),
                wire=msgspec.Raw(wire),
            )
            self._index += 1

    def _message(self, kind: str) -> dict[str, Any]:
        match kind:
            case "call" | "calls":
                calls = [self._call() for _ in range(2 if kind == "calls" else 1)]
                return {"role": "assistant", "content": self._text(SMALLEST_TOKENS), "tool_calls": calls}
            case "result":
                return {"role": "tool", "content": self._text(self._size()), "tool_call_id": self._open.pop(0)}
            case _:
                return {"role": "user" if kind == "user" else "assistant", "content": self._text(self._size())}

    def _call(self) -> dict[str, Any]:
        identity = f"call_{self.chance.getrandbits(64):016x}"
        self._open.append(identity)
        arguments = _encode({"path": f"notes/{self.chance.randint(1, 99)}.md"}).decode()
        function = {"name": self.chance.choice(TOOLS), "arguments": arguments}
        return {"id": identity, "function": function, "type": "function"}

    def _size(self) -> int:
        if self._index in self.oversized:
            return self.plot.oversized_tokens
        return round(math.exp(self.chance.uniform(math.log(SMALLEST_TOKENS), math.log(LARGEST_TOKENS))))

    def _text(self, tokens: int) -> str:
        """At least so many tokens of sentences."""
        language, parts, left = self._language, list[str](), tokens
        choices = SENTENCES[language] if tokens > SMALLEST_TOKENS * 2 else SHORT[language]
        while left > 0:
            clock = f"{self.chance.randrange(24):02}:{self.chance.randrange(60):02}"
            parts.append(self.chance.choice(choices).format(number=self.chance.randint(1, 9_999), clock=clock))
            left -= max(
                1, self.tokenizer.count(parts[-1]) - 1
            )  # its end may be one token with the next one's beginning
        return ("" if language == "zh" else " ").join(parts)


FILL = load_script(__file__, "fill.lua")


async def fill(bus: Bus, session: str, entries: Sequence[LogEntry], *, scope: str) -> None:
    """Create ``session`` with a log of ``entries``, whole turns from index 0 on. One script writes all or nothing.

    Raises:
        InboundError: there is such a session already; nothing was written.
        BusUnavailable: Redis is away.
    """
    keys = bus.keys.of(session)
    status = await bus.run(
        FILL,
        [keys.session, keys.log, keys.unsettled, keys.grew],
        [
            session,
            secrets.token_hex(8),
            scope,
            sum(entry.tokens for entry in entries),
            GREW_MAX,
            bus.keys.events(session),
            *map(_encode, entries),
        ],
    )
    if status != b"done":
        raise InboundError(f"session {session} exists already. Choose another name.")
    await bus.activity.noted(session)
