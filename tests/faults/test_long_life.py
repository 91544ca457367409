"""One conversation that never ends, with a model that fails and hangs when it is to sum up: nobody notices.

The model's server counts every prompt afresh, and looks at it as a strict provider does.
"""

import json
import random
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby, pairwise
from math import exp, log
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from daemon.bus import publish
from daemon.clock import SystemClock
from daemon.config import AgentConfig, BotConfig, Config, ConsolidationConfig, MemoryConfig, ModelConfig, QueueConfig
from daemon.events import LogEntry
from daemon.memory import HistoryEntry, Memories
from daemon.model.chat_model import RUNTIME_CONTEXT
from daemon.process import Process
from daemon.tokens import MESSAGE_TOKENS, Tokenizer, load
from tests.conftest import Lab, all_keys, an_inbound
from tests.fakes.openai_server import Call, Events, Failure, Hang, Reply, Say, delta, fake_openai
from tests.limits import HANG_S
from workers.agent.service import serve as serve_agent
from workers.consolidation.service import serve as serve_consolidation

SESSION, SCOPE, MODEL = "web:ann", "pond:workspace", "long-life"
MARK = re.compile(r"#(\d+)#")
"""Stands at the beginning of what a person says."""
LARGEST_TOKENS = 60_000
SIZES = (1, 300, 5_000, LARGEST_TOKENS)  # messages have from one to the next of these tokens; see ``Life.shares``
FAILING, HANGING = 0.2, 0.1  # of the calls that sum up, and of the silent turns before them
CALLING, ROUNDS_MAX = (0.15, 0.3), 3  # how likely an answer calls tools, and one that has results calls again
FACTS_KEPT = 20


@dataclass(frozen=True, kw_only=True)
class Life:
    messages: int
    window_tokens: int
    call_deadline_s: float = 0.6
    turn_wait_s: float = 0.2  # as with the defaults, a call may take several times as long as a turn waits
    shares: tuple[float, float, float] = (0.90, 0.09, 0.01)  # of small, long and huge messages
    seed: int = 1


class Words:
    def __init__(self, tokenizer: Tokenizer, life: Life) -> None:
        self._chance, self._shares = random.Random(life.seed), life.shares
        english = "the pond is deep and cold in March, but carp and reeds return when rain fills it again; we wait "
        chinese = "池塘很深，三月的水很冷，但是下雨以后鲤鱼和芦苇都会回来，我们等着。"
        self._texts = [text * 8_000 for text in (english, chinese)]
        self._chars = [len(text) / tokenizer.count(text) for text in (english, chinese)]

    def of(self, tokens: int) -> str:
        which = self._chance.random() < 0.4
        text, chars = self._texts[which], int(self._chars[which] * tokens) or 1
        first = self._chance.randrange(min(len(text) - chars, 5_000))
        return text[first : first + chars]

    def size(self) -> int:
        [(least, most)] = self._chance.choices(list(pairwise(SIZES)), self._shares)
        return round(exp(self._chance.uniform(log(least), log(most))))


@dataclass
class StrictModel:
    """Answers, calls tools, sums up, fails and hangs; remembers what was wrong with what it was asked."""

    life: Life
    tokenizer: Tokenizer
    words: Words
    wrong: list[str] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)  # numbers of the messages in the order in which their turns came
    summed_up: set[int] = field(default_factory=set)
    """Numbers of the messages that stood in a request for a summary that was answered."""
    largest: int = 0  # of all prompts, in tokens
    summaries: int = 0
    spoilt: int = 0

    def __post_init__(self) -> None:
        self._chance = random.Random(self.life.seed)
        self._count = lru_cache(20_000)(self.tokenizer.count)

    def __call__(self, body: dict[str, Any]) -> Reply:
        messages: list[dict[str, Any]] = body["messages"]
        tokens = self._tokens(body)
        self.largest = max(self.largest, tokens)
        if tokens + body["max_completion_tokens"] > self.life.window_tokens:
            self.wrong.append(f"a prompt of {tokens} tokens")
        if any(tool["function"]["name"] == "save_memory" for tool in body.get("tools", ())):
            return self._spoilt() or self._summary(messages[-1]["content"], tokens)
        if messages[0]["content"].startswith("Session nearing compaction"):
            return self._spoilt() or self._say("NO_REPLY", tokens)
        return self._answer(messages, tokens)

    def _tokens(self, body: dict[str, Any]) -> int:
        tools = sum(self._count(json.dumps(tool["function"], ensure_ascii=False)) for tool in body.get("tools", ()))
        return tools + sum(MESSAGE_TOKENS + sum(map(self._count, _texts(message))) for message in body["messages"])

    def _spoilt(self) -> Reply | None:
        drawn = self._chance.random()
        if drawn < FAILING:
            self.spoilt += 1
            broken = Call("save_memory", '{"history_entry": "cut of')
            return self._chance.choice([Failure(500), Failure(429), self._whole(broken), self._say("I cannot.", 10)])
        self.spoilt += drawn < FAILING + HANGING
        return Hang() if drawn < FAILING + HANGING else None

    def _summary(self, request: str, tokens: int) -> Reply:
        self.summaries += 1
        memory, _, conversation = request.partition("\n\n## Conversation to Process")
        self.summed_up.update(int(number) for number in MARK.findall(conversation))
        facts = re.findall(r"^- fact \d+$", memory.rpartition("## Current Long-term Memory")[2], re.MULTILINE)
        update = "\n".join(["# Facts", *facts[1 - FACTS_KEPT :], f"- fact {self.summaries}"])
        saved = {"history_entry": f"Summary {self.summaries}.", "memory_update": update, "continuity": "They talk."}
        return self._whole(Call("save_memory", json.dumps(saved)), tokens=tokens)

    def _answer(self, messages: list[dict[str, Any]], tokens: int) -> Reply:
        self.wrong += problems(messages)
        users = [at for at, message in enumerate(messages) if message["role"] == "user"]
        shown = [number for at in users for number in marks(messages[at])]
        number = shown[-1]
        self.asked.append(number)
        if shown != list(range(shown[0], number + 1)):
            self.wrong.append(f"message {number} is asked about with {shown}")
        rounds = sum(1 for message in messages[users[-1] :] if message.get("tool_calls"))
        chance = random.Random(number * 10 + rounds)
        if rounds < ROUNDS_MAX and chance.random() < CALLING[rounds > 0]:
            calls = [("time", "{}"), ("read_file", json.dumps({"path": "log.md", "offset": chance.randint(1, 900)}))]
            return self._whole(*(Call(*each, id=f"c{rounds}-{at}") for at, each in enumerate(calls)), tokens=tokens)
        return self._say(self.words.of(self.words.size() // 4 + 1), tokens)

    def _say(self, text: str, tokens: int) -> Reply:
        half = len(text) // 2
        chunks = [delta(content=text[:half]), delta(content=text[half:]), delta(finish="stop")]
        usage = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
        return Events([*chunks, {**delta(), "choices": [], "usage": usage}])

    def _whole(self, *calls: Call, tokens: int = 10) -> Reply:
        return Say(calls=calls, usage=(tokens, 5))


def _texts(message: dict[str, Any]) -> Iterator[str]:
    yield message.get("content") or ""
    for call in message.get("tool_calls") or ():
        yield call["function"]["name"]
        yield call["function"]["arguments"]


def marks(message: dict[str, Any]) -> list[int]:
    """The numbers of what was said; the runtime context, which ends at a blank line, holds what was recalled."""
    content = message["content"]
    said = content.partition("\n\n")[2] if content.startswith(RUNTIME_CONTEXT) else content
    return [int(number) for number in MARK.findall(said)]


def problems(messages: list[dict[str, Any]]) -> list[str]:
    found = [] if [m["role"] for m in messages[:2]] == ["system", "user"] else ["does not begin with a user message"]
    found += ["two user messages side by side"] * any(a["role"] == b["role"] == "user" for a, b in pairwise(messages))
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                found.append(f"a result without its call {message['tool_call_id']}")
            else:
                waiting.remove(message["tool_call_id"])
        elif waiting:
            found.append(f"calls without results {waiting}")
            waiting = []
        waiting += [call["id"] for call in message.get("tool_calls") or ()]
    return found + [f"calls without results {waiting}"] * bool(waiting)


def living(process: Process, life: Life, base_url: str) -> Process:
    model = ModelConfig(base_url=base_url, name=MODEL, context_window_tokens=life.window_tokens, chunk_timeout_s=5.0)
    bot = BotConfig(model=model, tools=("time", "read_file"), memory=MemoryConfig(scope="workspace"))
    config = Config(
        queue=QueueConfig(backoff_min_s=0.05, backoff_max_s=0.2, wakeup_s=0.3, message_max_bytes=1_000_000),
        agent=AgentConfig(),
        consolidation=ConsolidationConfig(
            call_deadline_s=life.call_deadline_s, turn_wait_s=life.turn_wait_s, breaker_probe_s=0.2
        ),
        bots={"pond": bot},
    )
    return replace(process, config=config, clock=SystemClock(), stopping=anyio.Event())


@asynccontextmanager
async def working(process: Process) -> AsyncGenerator[None]:
    async with anyio.create_task_group() as tg:
        for serve in (serve_agent, serve_consolidation):

            async def start(*, task_status: anyio.abc.TaskStatus[None], serve: Any = serve) -> None:
                await serve(process, task_status=task_status)

            await tg.start(start)
        yield
        process.stopping.set()


async def talk(process: Process, life: Life, words: Words, forget: Any) -> None:
    """Say one message after the other, some before the last one is answered."""
    bus, chance = process.bus, random.Random(life.seed)
    inbox = bus.keys.inbox(bus.keys.partition(SESSION))
    async with process.listener.hear(bus.keys.events(SESSION)) as heard:
        number = 0
        while number < life.messages:
            burst = min(chance.choice((1, 1, 1, 2, 4)), life.messages - number)
            for each in range(number, number + burst):
                inbound = an_inbound(f"m{each}", text=f"#{each}# {words.of(words.size())}")
                await publish(bus, inbound, scope=SCOPE, config=process.config.queue)
            number += burst
            with anyio.fail_after(HANG_S):
                while await bus.call("XLEN", inbox):
                    await heard.next()
            forget()


async def whole_log(process: Process) -> list[LogEntry]:
    found: list[LogEntry] = []
    while more := await process.transcripts.committed(SESSION, after=len(found) - 1, limit=1_000):
        found += [entry for _, entry in more]
    return found


def tiles(entries: list[HistoryEntry], cursor: int) -> bool:
    """Whether the entries follow each other from the first message to the cursor."""
    ends = [0, *(entry.upto for entry in entries)]
    return [entry.first for entry in entries] == ends[:-1] and ends[-1] == cursor


async def lived(process: Process, lab: Lab, life: Life) -> None:
    tokenizer = await load(MODEL)
    words = Words(tokenizer, life)
    model = StrictModel(life, tokenizer, words)
    async with fake_openai(model) as server:
        process = living(process, life, server.base_url)
        files = process.workspace("pond")
        files.mkdir(parents=True, exist_ok=True)
        (files / "log.md").write_text("\n".join(f"line {n}: {words.of(40)}" for n in range(1_000)))
        with capture_logs() as logs:
            async with working(process):
                await talk(process, life, words, server.requests.clear)

    log_entries, state = await whole_log(process), await lab.state()
    memories = Memories(lab.bus, process.archive)
    history = await memories.history(SCOPE)
    assert model.wrong == []
    assert [name for entry in log_entries for name in entry.answers] == [f"m{n}" for n in range(life.messages)]
    assert [number for number, _ in groupby(model.asked)] == list(range(life.messages))
    waits = [entry["waited_s"] for entry in logs if entry["event"] == "turn.waited"]
    assert waits
    assert state.cursor > state.head // 2
    assert not [entry for entry in history if entry.lost]
    assert tiles(history, state.cursor)
    assert state.tokens == sum(entry.tokens for entry in log_entries[state.cursor :])
    raw = "\n".join(entry.text for entry in history)
    taken_in = model.summed_up | set(map(int, MARK.findall(raw)))
    said = [int(entry.id.removeprefix("m")) for entry in log_entries[: state.cursor] if entry.id]
    assert [number for number in said if number not in taken_in] == []
    current = await memories.current(SCOPE)
    assert current.text == (await memories.version(SCOPE, current.version)).text
    print(
        f"\n{life.messages} messages, {state.head} entries, {sum(e.tokens for e in log_entries):,} tokens; "
        f"{len(history)} history entries ({sum(e.kind == 'raw' for e in history)} raw), cursor {state.cursor}; "
        f"{model.summaries} summaries, {model.spoilt} spoilt; largest prompt {model.largest:,} of "
        f"{life.window_tokens:,}; {len(waits)} waits, the longest {max(waits, default=0.0):.3f} s"
    )
    for first in range(0, len(keys := await all_keys(lab.bus)), 500):
        await lab.bus.call("UNLINK", *keys[first : first + 500])


async def test_a_long_conversation_whose_summaries_fail_and_hang_is_answered_whole(process: Process, lab: Lab) -> None:
    await lived(process, lab, Life(messages=60, window_tokens=8_192, shares=(0.85, 0.12, 0.03)))


@pytest.mark.slow
@pytest.mark.timeout(3_600)  # ten thousand took 210 to 450 s on two cores with other work to do
@pytest.mark.parametrize(
    ("messages", "window_tokens"), [(500, 16_384), pytest.param(10_000, 65_536, marks=pytest.mark.long)]
)
async def test_a_long_conversation_is_answered_whole(process: Process, lab: Lab, messages: int, window_tokens: int):
    # Five hundred fill the window some twenty times over: everything that happens to a conversation has happened often.
    await lived(process, lab, Life(messages=messages, window_tokens=window_tokens))
