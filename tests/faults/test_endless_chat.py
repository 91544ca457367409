"""A chat that never ends, with a small window and a summary model of which 30 % of the calls hang: nobody notices.

Facts are told along the way, and asked for soon after, long after, and all of them at the end. The summary model keeps
none of them. Time is the test's own: a person writes every half minute or so, a call that hangs ends at its deadline,
and the clocks move only while nothing but time is waited for.
"""

import json
import random
import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from channels.testing.loop_clock import put_forward
from daemon.bus import connection
from daemon.config import BotConfig, Config, ConsolidationConfig, MemoryConfig, ModelConfig, QueueConfig
from daemon.errors import ContextOverflow
from daemon.memory import Memories
from daemon.model import Answer, Model, Request, ToolCall, Usage
from daemon.process import Process
from daemon.testing import ManualClock
from daemon.tokens import Tokenizer, load
from tests.conftest import Lab, all_keys
from tests.faults.test_long_life import MARK, tiles, whole_log
from tests.limits import until
from tests.memorylab import SCOPE, messages_of, saves
from workers.agent.service import serve as serve_agent
from workers.consolidation import Consolidator
from workers.consolidation.service import serve as serve_consolidation

SESSION = "web:ann"
WINDOW = ModelConfig(name="endless", context_window_tokens=8_192)
PAUSES_S = (10.0, 60.0)
"""Shortest and longest time between an answer and what the person says next."""
STEP_S = 5.0
"""Time passes in steps; the shortest deadline of a call is a minute."""
DECK = 20
"""Of so many calls exactly the shares hang, or answer with junk."""
JUNK = 0.05
READING = 0.2
"""Of the turns, those whose model reads a report."""
REPORT_WORDS = 1_500
FACTS_KEPT = 20
FACT_EVERY = 5
"""Turns; one of so many tells a fact, and one asks for a fact."""
SEARCHES = ("memory_search", "conversation_search")
"""What the bot looks a fact up with, in this order, if its prompt lacks the fact."""

SYLLABLES = ("ba", "do", "fi", "gu", "ke", "la", "mo", "ni", "pu", "ra", "se", "ti", "vo", "wa", "ze")
FACTS = (
    ("My cousin {0} lives in {1}.", "Where does my cousin {0} live?"),
    ("The {0} gate opens with the number {2}.", "What opens the {0} gate?"),
    ("Always feed the {0} carp with {1}.", "What do I feed the {0} carp with?"),
    ("Please remember that my neighbour {0} cannot stand {1}.", "What can my neighbour {0} not stand?"),
    ("以后都用{1}喂{0}池的鲤鱼。", "{0}池的鲤鱼用什么喂？"),
    ("请记住我的邻居{0}受不了{1}。", "我的邻居{0}受不了什么？"),
)
"""Names, numbers, rules, and what is to be remembered: how each is told, and how it is asked for."""


@dataclass(frozen=True, kw_only=True)
class Chat:
    turns: int
    hanging: float = 0.3
    """Of the calls that consolidate."""
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class Fact:
    told: str
    asked: str
    value: str
    """The word of ``told`` that is asked for, which is said nowhere else."""


def facts(seed: int) -> Iterator[Fact]:
    chance = random.Random(seed)
    while True:
        for told, asked in FACTS:
            name, word = ("".join(chance.choices(SYLLABLES, k=4)).title() for _ in range(2))
            number = str(chance.randrange(100_000, 999_999))
            value = number if "{2}" in told else word
            yield Fact(told=told.format(name, word, number), asked=asked.format(name), value=value)


@dataclass
class Mind:
    """The model of the bot and of its summaries."""

    chat: Chat
    tokenizer: Tokenizer
    name: str = "endless"
    hung: int = 0
    """Calls that hang right now."""
    paid_tokens: int = 0
    """Of the requests for summaries and flushes, those that were not answered included."""
    said_tokens: int = 0
    """Of the prompts of turns."""
    refused: int = 0
    summaries: int = 0
    summed_up: set[int] = field(default_factory=set)
    asked: Fact | None = None
    """What the person asks for right now."""
    answered: list[tuple[Fact, str]] = field(default_factory=list)
    """Each fact that was asked for, and the place it was found in: ``prompt``, a tool, or nowhere."""

    def __post_init__(self) -> None:
        self._chance = random.Random(self.chat.seed)
        self._deck: list[str] = []

    async def stream(self, request: Request) -> AsyncGenerator[Answer]:
        tokens = self._tokens(request)
        if tokens + request.max_completion_tokens > WINDOW.context_window_tokens:
            self.refused += 1
            raise ContextOverflow(f"a prompt of {tokens} tokens")
        if request.force_tool or b"Session nearing compaction" in request.messages[0]:
            self.paid_tokens += tokens
            yield await self._consolidated(request)
        else:
            self.said_tokens += tokens
            yield self._answer(request)

    async def aclose(self) -> None:
        """Nothing to close."""

    def _tokens(self, request: Request) -> int:
        tools = sum(self.tokenizer.count(tool.decode()) for tool in request.tools)
        return tools + sum(map(self.tokenizer.count_message, request.messages))

    async def _consolidated(self, request: Request) -> Answer:
        kind = self._drawn()
        if kind == "hang":
            self.hung += 1
            try:
                await anyio.sleep_forever()
            finally:
                self.hung -= 1
        if not request.force_tool:
            return Answer(text="" if kind == "junk" else "NO_REPLY", model=self.name)
        if kind == "junk":
            return Answer(text=self._chance.choice(["I cannot do that.", "{}", '{"history_entry": "cut of']))
        return self._summary(messages_of(request)[1][1])

    def _drawn(self) -> str:
        if not self._deck:
            hanging, junk = round(self.chat.hanging * DECK), round(JUNK * DECK)
            self._deck = ["hang"] * hanging + ["junk"] * junk + ["answer"] * (DECK - hanging - junk)
            self._chance.shuffle(self._deck)
        return self._deck.pop()

    def _summary(self, asked: str) -> Answer:
        self.summaries += 1
        memory, _, conversation = asked.partition("\n\n## Conversation to Process")
        self.summed_up.update(map(int, MARK.findall(conversation)))
        facts = re.findall(r"^- fact \d+$", memory.rpartition("## Current Long-term Memory")[2], re.MULTILINE)
        update = "\n".join(["# Facts", *facts[1 - FACTS_KEPT :], f"- fact {self.summaries}"])
        return saves(f"Summary {self.summaries}.", memory=update, continuity="They talk about the pond.")

    def _answer(self, request: Request) -> Answer:
        said = messages_of(request)
        number = max(map(int, MARK.findall(" ".join(text for role, text in said if role == "user"))))
        if self.asked:
            return self._looked_up(self.asked, said)
        if said[-1][0] == "user" and random.Random(number).random() < READING:
            call = ToolCall(id=f"c{number}", name="read_file", arguments=json.dumps({"path": "report.md"}))
            return Answer(text="", tool_calls=(call,), model=self.name, usage=Usage(tokens_in=1, tokens_out=1))
        return Answer(text="The pond is deep. " * random.Random(number).randint(2, 40), model=self.name)

    def _looked_up(self, fact: Fact, said: list[tuple[str, str]]) -> Answer:
        """The next search for a fact, until what the model is sent contains the fact."""
        question = max(at for at, (role, _) in enumerate(said) if role == "user")
        done = sum(role == "tool" for role, _ in said[question:])
        is_found = any(fact.value.casefold() in text.casefold() for _, text in said)
        if not is_found and done < len(SEARCHES):
            call = ToolCall(id=f"s{done}", name=SEARCHES[done], arguments=json.dumps({"query": fact.asked}))
            return Answer(text="", tool_calls=(call,), model=self.name, usage=Usage(tokens_in=1, tokens_out=1))
        place = ("prompt", *SEARCHES)[done] if is_found else "nowhere"
        self.answered.append((fact, place))
        return Answer(text="I see.", model=self.name)


@dataclass(kw_only=True)
class Outcome:
    """What a whole chat came to."""

    turns: int
    refused: int
    settled: int
    """Pieces that were summarized."""
    failed: int
    """Attempts that brought nothing."""
    raw_messages: int
    messages: int
    waited: list[int]
    """Numbers of the turns that waited."""
    paid_tokens: int
    said_tokens: int
    answered: list[tuple[Fact, str]]
    """As of ``Mind``."""

    @property
    def unanswered(self) -> list[Fact]:
        return [fact for fact, place in self.answered if place == "nowhere"]

    def __str__(self) -> str:
        return (
            f"{self.turns} turns, {self.messages} messages: {self.refused} refused; {self.settled} pieces settled, "
            f"{self.failed} attempts failed; {self.raw_messages} messages raw; {len(self.waited)} turns waited "
            f"{self.waited}; {self.paid_tokens:,} tokens paid for consolidation, {self.said_tokens:,} for turns; "
            f"facts found in {dict(Counter(place for _, place in self.answered))}"
        )


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections to Redis for which no time passes: the test's clock is none of theirs."""
    monkeypatch.setitem(connection._OPTIONS, "socket_timeout", 1e9)
    monkeypatch.setattr("workers.consolidation.summary.summary_calls._breakers", {})


def living(process: Process, model: Model) -> Process:
    async def connect(_config: object, *, language: str) -> Model:
        return model

    tools, memory = ("time", "read_file", *SEARCHES), MemoryConfig(scope="workspace")
    config = Config(
        # Rests are kept by the server's clock, which does not move with the test's.
        queue=QueueConfig(backoff_min_s=0.001, backoff_max_s=0.001),
        consolidation=ConsolidationConfig(),
        bots={"pond": BotConfig(model=WINDOW, tools=tools, memory=memory)},
    )
    return replace(process, config=config, stopping=anyio.Event(), connect_model=connect)


@asynccontextmanager
async def working(process: Process) -> AsyncGenerator[None]:
    async with anyio.create_task_group() as tg:
        for serve in (serve_agent, serve_consolidation):
            await tg.start(lambda *, task_status, serve=serve: serve(process, task_status=task_status))
        yield
        process.stopping.set()


class Talk:
    """A person who talks to the bot, and the time that passes meanwhile."""

    def __init__(self, process: Process, lab: Lab, mind: Mind, clock: ManualClock) -> None:
        self._bus = process.bus
        self._lab = lab
        self._mind = mind
        self._clock = clock
        self._chance = random.Random(mind.chat.seed)
        self._facts = facts(mind.chat.seed)
        self.told: list[Fact] = []
        self.waiting = 0
        """Turns that wait for a consolidation right now."""
        self.waited: list[int] = []

    async def go_on(self, number: int) -> None:
        """Say something, tell a fact, or ask for one: for the newest or for any other."""
        if number % FACT_EVERY == 1:
            self.told.append(next(self._facts))
            await self.say(number, self.told[-1].told)
        elif number % FACT_EVERY == 3:
            await self.ask(number, self._chance.choice([self.told[-1], *self._chance.choices(self.told, k=3)]))
        else:
            await self.say(number)

    async def ask(self, number: int, fact: Fact) -> None:
        self._mind.asked = fact
        await self._said(number, fact.asked)
        self._mind.asked = None

    async def say(self, number: int, told: str = "") -> None:
        words = "carp and reeds return when rain fills the pond again " * self._chance.randint(1, 8)
        await self._said(number, f"{told} {words}")

    async def _said(self, number: int, text: str) -> None:
        await self._lab.publish(f"m{number}", session=SESSION, text=f"#{number}# {text}")
        waited_s = 0.0
        while not await self._is_answered():
            # All others have time as long as this one waits for a call that hangs.
            if self.waiting and self._mind.hung:
                await self._pass(STEP_S)
                waited_s += STEP_S
            else:
                await anyio.sleep(0.001)
        if waited_s:
            self.waited.append(number)

    async def pause(self) -> None:
        left_s = self._chance.uniform(*PAUSES_S)
        while left_s > 0:
            await until(self._only_time_is_waited_for)
            await self._pass(min(STEP_S, left_s))
            left_s -= STEP_S

    async def _pass(self, seconds: float) -> None:
        put_forward(seconds)
        self._clock.advance(seconds)
        for _ in range(2):  # whoever's time has come has had his turn
            await self._bus.call("PING")

    async def _is_answered(self) -> bool:
        keys = self._bus.keys
        return not await self._bus.call("LLEN", keys.waiting(SESSION)) and not await self._bus.call(
            "HGET", keys.session(SESSION), "nonce"
        )

    async def _only_time_is_waited_for(self) -> bool:
        if self._mind.hung:
            return True
        keys = self._bus.keys
        return not (
            await self._bus.call("XLEN", keys.grew(keys.partition(SESSION)))
            or await self._bus.call("HGET", keys.lock(SESSION), "nonce")
        )


async def chatted(process: Process, lab: Lab, chat: Chat, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    tokenizer, clock = await load(WINDOW.name), ManualClock()
    mind = Mind(chat, tokenizer)
    process = replace(living(process, mind), clock=clock)
    files = process.workspace("pond")
    files.mkdir(parents=True, exist_ok=True)
    (files / "report.md").write_text("carp reeds rain " * (REPORT_WORDS // 3))
    talk = Talk(process, lab, mind, clock)

    async def awaited(consolidator: Consolidator, session: str, *args: Any, within_s: float) -> Any:
        talk.waiting += within_s > 0
        try:
            return await real(consolidator, session, *args, within_s=within_s)
        finally:
            talk.waiting -= within_s > 0

    real = Consolidator.awaited
    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr(Consolidator, "awaited", awaited)
        async with working(process):
            for number in range(chat.turns):
                await talk.go_on(number)
                await talk.pause()
            for number, fact in enumerate(reversed(talk.told), chat.turns):
                await talk.ask(number, fact)
                await talk.pause()
            await until(talk._only_time_is_waited_for)

    turns = chat.turns + len(talk.told)
    state, memories = await lab.state(SESSION), Memories(lab.bus, process.archive)
    history, log = await memories.history(SCOPE), await whole_log(process)
    assert [name for entry in log for name in entry.answers] == [f"m{number}" for number in range(turns)]
    assert tiles(history, state.cursor)
    raw = [entry for entry in history if entry.kind == "raw"]
    taken_in = mind.summed_up | {int(number) for entry in raw for number in MARK.findall(entry.text)}
    said = [int(entry.id.removeprefix("m")) for entry in log[: state.cursor] if entry.id]
    assert [number for number in said if number not in taken_in] == []
    for first in range(0, len(keys := await all_keys(lab.bus)), 500):
        await lab.bus.call("UNLINK", *keys[first : first + 500])
    return Outcome(
        turns=turns,
        refused=mind.refused,
        settled=sum(entry.kind == "summary" for entry in history),
        failed=sum(line["event"] == "consolidation.failed" for line in logs) + len(raw),
        raw_messages=sum(entry.upto - entry.first for entry in raw),
        messages=state.head,
        waited=talk.waited,
        paid_tokens=mind.paid_tokens,
        said_tokens=mind.said_tokens,
        answered=mind.answered,
    )


def judge(hung: Outcome) -> None:
    assert hung.refused == 0
    assert hung.settled >= 0.95 * (hung.settled + hung.failed)
    assert hung.raw_messages <= 0.02 * hung.messages
    assert len(hung.waited) <= 0.02 * hung.turns
    assert not [number for number in hung.waited if number + 1 in hung.waited]
    assert hung.unanswered == []


async def test_a_chat_is_consolidated_although_a_third_of_the_calls_hang(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge(await chatted(process, lab, Chat(turns=15), monkeypatch))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(3_600)  # 230 s of one core
async def test_an_endless_chat_costs_half_as_much_again_when_a_third_of_the_calls_hang(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung = await chatted(process, lab, Chat(turns=600), monkeypatch)
    whole = await chatted(process, lab, Chat(turns=600, hanging=0.0), monkeypatch)

    print(f"\n{hung}\n{whole}")
    judge(hung)
    assert hung.paid_tokens <= 1.5 * whole.paid_tokens
