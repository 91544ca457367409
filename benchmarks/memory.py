"""What memory is counted by: facts kept, silent turns, consolidations, prompts, bootstrap files, a person's question.

Conversations are answered by a model's server that sums up as the offline model does and counts every prompt afresh;
the last one, of a person who is asked about much later, goes through real processes with the offline model itself.
"""

import json
import random
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from benchmarks.folder import data_dir
from benchmarks.people import CHANNEL, People, people
from benchmarks.result import LimitIs, Result
from channels.inbound import accept, make_inbound
from daemon.config import BootstrapConfig, BotConfig, Config, ModelConfig
from daemon.memory import Memories
from daemon.model.offline_consolidation import consolidation, flush
from daemon.process import Process
from daemon.run import open_process
from daemon.scope import folder_of
from daemon.session import SessionReader
from daemon.session.artificial_session import Plot, fill, synthetic
from daemon.sessionkey import SessionKey
from daemon.tokens import MESSAGE_TOKENS, Tokenizer, load
from tests.fakes.openai_server import Call, Reply, Say, fake_openai
from tests.processes import running
from tests.remembering import SMALL, remembered_later
from workers.agent.prompt.workspace import bootstrap
from workers.agent.service import serve as serve_agent
from workers.consolidation.service import serve as serve_consolidation

WINDOW_TOKENS = 16_384
PEOPLE = 6
FACTS = 40
"""Of each person."""
FILLERS = 2
"""Turns between two facts."""
TALK_LIMIT_S = 240.0

OVERSIZED = 3
LONG = Plot(messages=100, oversized=OVERSIZED, oversized_tokens=int(0.6 * WINDOW_TOKENS), seed=1)
MORE_TURNS = 30
"""After a generated past with oversized messages."""

FACT: tuple[str, ...] = (
    "My locker has the number {value}.",
    "I was born in the village of Ober{value}.",
    "Remember that our gate opens with {value}.",
    "我妹妹的门牌号是{value}。",
    "记住，我的会员号是{value}。",
    "我最喜欢的列车是{value}次。",
)
FILLER: tuple[str, ...] = (
    "How many litres of water does a carp of this size need, and what becomes of it when the pond freezes over? ",
    "The reeds at the north bank have grown over the outlet; the water stands a hand above the mark. ",
    "这个池塘冬天会结冰吗？北边的水泵晚上有奇怪的声音，听起来像石头。",
)
FILLER_REPEATED = 12
ANSWER = "That depends on the depth and the temperature of the water. " * 10

WORKSPACES = 200
FILES = ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md")
FILE_CHARS, FILE_SPREAD = 1_500, 0.8
"""Median length of a bootstrap file, and the standard deviation of its logarithm."""


def measure() -> list[Result]:
    """Each line a number with its limit."""
    with data_dir() as folder, capture_logs() as logs:
        lived = anyio.run(_lived, folder)
    silent = [float(entry["took_s"]) for entry in logs if entry["event"] == "flush.done"]
    with data_dir() as folder, running(folder, **SMALL) as daemon:
        told = remembered_later(folder, daemon)
    return [
        _result("stated facts kept through consolidation", "%", lived.kept, limit=95.0, limit_is="at least"),
        _result("silent turn, beside the model's latency", "s", *silent, limit=3.0, limit_is="worst, at most"),
        *_bootstrap(),
        _result("consolidations that succeed", "%", lived.succeeded, limit=99.0, limit_is="at least"),
        _result(f"failures from {OVERSIZED} large messages", "", lived.large_failures, limit=0.0),
        _result(f"prompts over the limit, of {lived.prompts:,}", "", lived.over, limit=0.0),
        _result("what was to be remembered stands in MEMORY.md", "of 1", told.stands, limit=1.0, limit_is="at least"),
        _result(f"it is recalled {told.turns} turns later", "of 1", told.recalled, limit=1.0, limit_is="at least"),
    ]


def _result(name: str, unit: str, *values: float, limit: float, limit_is: LimitIs = "at most") -> Result:
    return Result(name=name, unit=unit, values=values, floor=0.0, floor_is="", limit=limit, limit_is=limit_is)


@dataclass
class Counting:
    """The model's server: says the same to everything, sums up by extraction, counts."""

    tokenizer: Tokenizer
    prompts: int = 0
    over: int = 0
    """Prompts that leave the answer no room in the window."""

    def __call__(self, body: dict[str, Any]) -> Reply:
        messages = body["messages"]
        tokens = self._tokens(body)
        self.prompts += 1
        self.over += tokens + body["max_completion_tokens"] > WINDOW_TOKENS
        last, usage = messages[-1]["content"], (tokens, 100)
        if any(tool["function"]["name"] == "save_memory" for tool in body.get("tools", ())):
            return Say(calls=[Call("save_memory", json.dumps(consolidation(last)))], usage=usage)
        return Say(flush(last) if "Reply with NO_REPLY" in last else ANSWER, usage=usage)

    def _tokens(self, body: Mapping[str, Any]) -> int:
        tools = sum(self.tokenizer.count(json.dumps(tool["function"])) for tool in body.get("tools", ()))
        return tools + sum(MESSAGE_TOKENS + self._text_tokens(message) for message in body["messages"])

    def _text_tokens(self, message: Mapping[str, Any]) -> int:
        calls = [call["function"] for call in message.get("tool_calls") or ()]
        texts = [message.get("content") or "", *(call[part] for call in calls for part in ("name", "arguments"))]
        return sum(map(self.tokenizer.count, texts))


@dataclass(kw_only=True)
class Lived:
    """What became of the conversations."""

    kept: float
    """Per cent of the facts."""
    succeeded: float
    """Per cent of the consolidations."""
    large_failures: float
    prompts: int
    over: float


async def _lived(folder: Path) -> Lived:
    model = Counting(await load("memory"))
    async with fake_openai(model) as server:
        window = ModelConfig(base_url=server.base_url, name="memory", context_window_tokens=WINDOW_TOKENS)
        config = Config(bots={"pond": BotConfig(model=window)})
        async with open_process(config, folder) as process, people(folder) as everybody, _working(process):
            with anyio.fail_after(TALK_LIMIT_S):
                kept = await _facts_kept(process, everybody)
                large_failures = await _large(process, everybody, model.tokenizer)
    settled, failed = (_consolidations(outcome) for outcome in ("settled", "failed"))
    return Lived(
        kept=kept,
        succeeded=100 * settled / (settled + failed),
        large_failures=large_failures,
        prompts=model.prompts,
        over=model.over,
    )


@asynccontextmanager
async def _working(process: Process) -> AsyncGenerator[None]:
    """Both workers, in this process: what they log is read afterwards."""

    async def serve(role: Any, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        await role(process, task_status=task_status)

    async with anyio.create_task_group() as tg:
        for role in (serve_agent, serve_consolidation):
            await tg.start(serve, role)
        yield
        process.stopping.set()


def _consolidations(outcome: str) -> float:
    return REGISTRY.get_sample_value("millpond_consolidations_total", {"outcome": outcome}) or 0.0


@dataclass
class Chat:
    """Somebody who says one thing after the other."""

    process: Process
    everybody: People
    name: str
    facts: list[str] = field(default_factory=list[str])
    """What can be found of each by grep."""

    @property
    def session(self) -> str:
        """Its key."""
        return str(SessionKey(channel=CHANNEL, chat=self.name))

    async def say(self, text: str) -> None:
        """Until it is answered."""
        reader = SessionReader(self.process.bus)
        async with self.everybody.watching(self.name) as watch:
            await accept(
                self.process,
                make_inbound(self.process, channel=CHANNEL, chat=self.name, text=text, sender_id=self.name),
            )
            while (await reader.state(self.session)).waiting:
                await watch.answered()

    async def cursor(self) -> int:
        """Where it stands."""
        return (await SessionReader(self.process.bus).state(self.session)).cursor

    async def head(self) -> int:
        """One past the last message."""
        return (await SessionReader(self.process.bus).state(self.session)).head


async def _facts_kept(process: Process, everybody: People) -> float:
    """Per cent of what people stated in passing that grep finds once all of it is consolidated."""
    chats = [Chat(process, everybody, f"person-{number}") for number in range(PEOPLE)]
    async with anyio.create_task_group() as tg:
        for number, chat in enumerate(chats):
            tg.start_soon(_state_facts, chat, random.Random(number))
    found = [fact in _remembered(process, chat) for chat in chats for fact in chat.facts]
    return 100 * sum(found) / len(found)


async def _state_facts(chat: Chat, chance: random.Random) -> None:
    for value in chance.sample(range(100_000, 1_000_000), FACTS):
        chat.facts.append(str(value))
        await chat.say(chance.choice(FACT).format(value=value))
        for _ in range(FILLERS):
            await chat.say(chance.choice(FILLER) * FILLER_REPEATED)
    stated = await chat.head()
    while await chat.cursor() < stated:
        await chat.say(chance.choice(FILLER) * FILLER_REPEATED)


def _remembered(process: Process, chat: Chat) -> str:
    """All that stands in the files of a person's memory."""
    folder = process.workspace("pond") / "memory" / folder_of(f"pond:person:{CHANNEL}:{chat.name}")
    return "\n".join(path.read_text() for path in sorted(folder.glob("*.md")))


async def _large(process: Process, everybody: People, tokenizer: Tokenizer) -> float:
    """What fails on the way of a session with messages too large for any request; it goes on meanwhile."""
    chat, failed = Chat(process, everybody, "large"), _consolidations("failed")
    scope = f"pond:person:{CHANNEL}:{chat.name}"
    entries = synthetic(LONG, tokenizer, sender=chat.name)
    await fill(process.bus, chat.session, entries, scope=scope)
    for _ in range(MORE_TURNS):
        await chat.say(FILLER[0] * FILLER_REPEATED)
    while await chat.cursor() < len(entries):
        await chat.say(FILLER[0] * FILLER_REPEATED)
    raw = [entry for entry in await Memories(process.bus, process.archive).history(scope) if entry.kind == "raw"]
    return _consolidations("failed") - failed + len(raw)


def _bootstrap() -> Sequence[Result]:
    """What the bootstrap files of workspaces as people keep them take of their allowance."""
    config, chance = BootstrapConfig(), random.Random(1)
    most = config.total_max_chars
    used, cut = list[float](), list[bool]()
    for _ in range(WORKSPACES):
        files = [(name, "x" * round(chance.lognormvariate(log(FILE_CHARS), FILE_SPREAD))) for name in FILES]
        parts = bootstrap(files, config, total_chars=most)
        used.append(100 * sum(len(part.text) for part in parts) / most)
        cut += [part.kept_chars < part.chars for part in parts]
    return (
        _result(f"bootstrap files' share of their allowance, {WORKSPACES} workspaces", "%", *used, limit=98.0),
        _result("bootstrap files that are cut", "%", 100 * sum(cut) / len(cut), limit=5.0),
    )
