"""Conversations through real consolidations, and how much consecutive requests of each share from the beginning."""

import random
from bisect import bisect_left
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import anyio
import anyio.abc
import msgspec

from daemon.bus import publish
from daemon.events import Inbound
from daemon.model import Answer, Model, Request, ToolCall
from daemon.process import Process
from daemon.session import SessionReader
from daemon.session.artificial_session import SENTENCES
from daemon.sessionkey import SessionKey
from tests.limits import HANG_S
from workers.agent.service import serve
from workers.consolidation import Consolidator, Kits, stores_of
from workers.consolidation.consolidation_plan import Thresholds

SCOPE = "pond:person:web:ann"
LONG, SHORT = 200, 10  # sentences of what is said: some 2,500 tokens that fill a window, and a plain message
NEAR_TOKENS = 3_000
LOOK_UP, LOOKS = "Look it up.", 3
NOTES = "notes.txt"

Kind = Literal["long", "plain", "tools"]


@dataclass(frozen=True)
class Sent:
    """One request for an answer."""

    kind: Kind
    text: bytes  # the definitions of the tools and the messages: the order in which servers read them
    settled: int  # how often its session had been consolidated
    memory: int  # how often MEMORY.md had been written


@dataclass(frozen=True)
class Asked:
    """One request of any kind, and its answer."""

    session: str
    text: bytes  # as of ``Sent``
    tokens: int  # of the prompt
    answer: str


class Pondering:
    """Answers, calls a tool three times when asked to look something up, and writes MEMORY.md as models do."""

    name = "pondering"

    def __init__(self) -> None:
        self.sent: dict[str, list[Sent]] = {}
        self.asked: list[Asked] = []
        self.facts: list[str] = []
        self.session, self.kind, self.settled = "", "long", dict[str, int]()
        self._random = random.Random(35)

    def said(self, sentences: int) -> str:
        chosen = self._random.choices(SENTENCES["en"], k=sentences)
        return " ".join(each.format(number=self._random.randrange(1_000), clock="10:15") for each in chosen)

    async def stream(self, request: Request) -> AsyncGenerator[Answer, None]:
        answer = self._answer_to(request)
        said = "".join((answer.text, *(call.arguments for call in answer.tool_calls)))
        self.asked.append(Asked(self.session, _text_of(request), request.tokens, said))
        yield answer

    def _answer_to(self, request: Request) -> Answer:
        if request.force_tool == "save_memory":
            self.facts.append(f"- Fact {len(self.facts)}: {self.said(1)}")
            entry = f"[2026-11-20 09:00] {self.said(6)}"
            return self._calls(
                "save_memory", history_entry=entry, memory_update=self._memory(), continuity=self.said(8)
            )
        if b"Reply with NO_REPLY" in request.messages[-1]:
            self.facts.append(f"- Fact {len(self.facts)}: {self.said(1)}")
            return Answer(text=f"# MEMORY.md\n{self.facts[-1]}", model=self.name)
        return self._answer(request)

    def _answer(self, request: Request) -> Answer:
        sent = Sent(self.kind, _text_of(request), self.settled.get(self.session, 0), len(self.facts))
        self.sent.setdefault(self.session, []).append(sent)
        roles = [msgspec.json.decode(wire)["role"] for wire in request.messages]
        looked = roles[::-1].index("user") // 2
        if self.kind == "tools" and looked < LOOKS:
            return self._calls("read_file", path=NOTES)
        return Answer(text=self.said(SHORT), model=self.name)

    def _memory(self) -> str:
        return "\n".join(("# Ann", "", *self.facts))

    def _calls(self, name: str, **arguments: str) -> Answer:
        number = self._random.randrange(10**9)
        call = ToolCall(id=f"call_{number}", name=name, arguments=msgspec.json.encode(arguments).decode())
        return Answer(text="", tool_calls=(call,), model=self.name)

    async def aclose(self) -> None:
        pass


@dataclass
class Talk:
    """What a person says in some conversations with a bot, which a worker consolidates between turns."""

    process: Process
    model: Pondering
    consolidator: Consolidator
    flush_point_tokens: int
    tokens: int = 0  # of the last prompt, about
    _numbers: dict[str, int] = field(default_factory=dict[str, int])

    async def say(self, session: str, kind: Kind = "plain") -> None:
        number = self._numbers[session] = self._numbers.get(session, -1) + 1
        self.model.session, self.model.kind = session, kind
        words = self.model.said(LONG if kind == "long" else SHORT)
        key = SessionKey.parse(session)
        inbound = Inbound(
            id=f"m{number}", bot="pond", channel=key.channel, chat=key.chat, sender_id="ann", text=f"{number}: {words}",
            received_at="2026-11-20T09:00:00.000Z", correlation=f"c{number}",
        )  # fmt: skip
        await publish(self.process.bus, inbound, config=self.process.config.queue, scope=SCOPE)
        reader = SessionReader(self.process.bus)
        with anyio.fail_after(HANG_S):
            while (state := await reader.state(session)).waiting or state.worker:  # noqa: ASYNC110 - it happens on the server
                await anyio.sleep(0.01)
        report = await self.consolidator.consolidate(session)
        self.tokens = report.tokens_after
        if report.rounds:
            self.model.settled[session] = self.model.settled.get(session, 0) + 1

    async def until_settled(self, session: str) -> None:
        """Long messages until the session is consolidated once more."""
        before = self.model.settled.get(session, 0)
        while self.model.settled.get(session, 0) == before:
            await self.say(session, "long")

    async def until_flushed(self, session: str) -> None:
        """Plain messages, after long ones, until a silent turn has added to MEMORY.md."""
        before = len(self.model.facts)
        while self.tokens + NEAR_TOKENS < self.flush_point_tokens:
            await self.say(session, "long")
        while len(self.model.facts) == before:
            await self.say(session)

    def shares(self, session: str, kind: Kind = "plain") -> list[float]:
        """Of each request's bytes, those that the one before begins with as well; not right after a consolidation."""
        sent = self.model.sent[session]
        return [
            shared_bytes(before.text, after.text) / len(after.text)
            for before, after in pairwise(sent)
            if before.kind == after.kind == kind and before.settled == after.settled
        ]


def _text_of(request: Request) -> bytes:
    return b"\n".join((*request.tools, *request.messages))


def shared_bytes(one: bytes, two: bytes) -> int:
    """With how many bytes both begin."""
    return bisect_left(range(min(len(one), len(two))), 1, key=lambda at: one[: at + 1] != two[: at + 1])


@asynccontextmanager
async def talking(process: Process) -> AsyncGenerator[Talk]:
    """An agent worker and a consolidator of this process, with a model that keeps every request."""
    model = Pondering()

    async def connect(_config: object, *, language: str) -> Model:
        return model

    process = replace(process, connect_model=connect, stopping=anyio.Event())
    (process.workspace("pond") / NOTES).parent.mkdir(parents=True, exist_ok=True)
    (process.workspace("pond") / NOTES).write_text(model.said(12))

    async def work(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await serve(process, task_status=task_status)

    async with anyio.create_task_group() as tg:
        await tg.start(work)
        consolidator = Consolidator(stores_of(process), Kits(process))
        thresholds = Thresholds.of(process.bot("pond").model, process.config.memory_flush)
        yield Talk(process, model, consolidator, thresholds.flush_point_tokens)
        await consolidator.aclose()
        process.stopping.set()


async def plain_turns(talk: Talk) -> dict[str, list[float]]:
    """Plain turns after a consolidation, and on through a flush."""
    await talk.until_settled("web:ann")
    await _turns(talk, 3, "web:ann")
    await talk.until_flushed("web:ann")
    await _turns(talk, 3, "web:ann")
    return {"web:ann": talk.shares("web:ann")}


async def tool_turns(talk: Talk) -> dict[str, list[float]]:
    """Turns of three tool calls each, after a consolidation."""
    await talk.until_settled("web:ann")
    await _turns(talk, 5, "web:ann", kind="tools")
    return {"web:ann": talk.shares("web:ann", "tools")}


async def conversations_in_turns(talk: Talk) -> dict[str, list[float]]:
    """Two conversations of one person in turns: what is learnt in one does not change the prompts of the other."""
    sessions = ("web:ann", "web:ann-too")
    for session in sessions:
        await talk.until_settled(session)
    await _turns(talk, 3, *sessions)
    await talk.until_settled("web:ann")
    await _turns(talk, 3, *sessions)
    return {session: talk.shares(session) for session in sessions}


async def _turns(talk: Talk, count: int, *sessions: str, kind: Kind = "plain") -> None:
    for _ in range(count):
        for session in sessions:
            await talk.say(session, kind)
