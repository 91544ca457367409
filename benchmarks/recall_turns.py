"""Asks the questions of ``recall_sets`` in turns, and looks for the evidence in the prompts that the model gets.

``millpond run`` answers each question in a new conversation of the same person, so that the prompt contains only what
was recalled. The model records its requests, and knows nothing. Then all questions are asked a second time, when the
first questions and their empty answers are part of the memory.
"""

import os
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import anyio
import msgspec
from anyio import to_thread

from benchmarks.folder import data_dir
from benchmarks.indexed import indexed
from benchmarks.people import CHANNEL, People, people
from benchmarks.recall_baseline import BM25
from benchmarks.recall_files import Conversation, Question, conversations
from benchmarks.recall_hard import hard_conversations
from benchmarks.recall_sets import DATA, EMPTY_ANSWERS, FEW, LOST_LIMIT, bare, is_shown
from benchmarks.result import Result
from daemon import log
from daemon.clock import stamp
from daemon.events import LogEntry
from daemon.session.artificial_session import fill
from tests.fakes.openai_server import FakeOpenAI, Say, fake_openai
from tests.processes import start

ASKINGS = ("first", "second")
NOT_BELOW = 0.75
"""Times BM25, which shows five messages whatever they score: a turn recalls none below ``min_score``."""
WORDS_ONLY = {"MILLPOND_MEMORY_SEARCH__MODE": "search", "OPENAI_API_KEY": "none", "OPENAI_MODEL": "fake"}
TIME_LIMIT_S = 1_800.0

_encode = msgspec.json.Encoder().encode


def measure() -> list[Result]:
    """The share of the questions for which a prompt contains all evidence, in points lost by the second asking."""
    log.configure("error")
    folder = os.environ.get(DATA)
    told = [*hard_conversations(), *(conversations(Path(folder)) if folder else ())]
    with data_dir() as data:
        shown = anyio.run(_asked_twice, data, told)
    return [result for name, shares in shown.items() for result in _results(name, shares, told)]


def _results(name: str, shown: Mapping[str, Sequence[float]], told: Iterable[Conversation]) -> Iterable[Result]:
    first, second = (100 * sum(shown[asking]) / len(shown[asking]) for asking in ASKINGS)
    plain = [_shown_by_bm25(each) for each in told if _set_of(each) == name]
    floor = 100 * sum(map(sum, plain)) / sum(map(len, plain))
    yield Result(
        name=f"{name}: evidence in the prompt",
        unit="%",
        values=(first,),
        floor=floor,
        floor_is=f"the best {FEW} messages of BM25 alone",
        limit=NOT_BELOW,
        limit_is="ratio, at least",
    )
    yield Result(
        name=f"{name}: second asking",
        unit="points fewer",
        values=(first - second,),
        floor=0,
        floor_is="-",
        limit=LOST_LIMIT,
    )


def _shown_by_bm25(told: Conversation) -> list[bool]:
    plain = BM25([message.text for message in told.messages])
    return [question.evidence <= {*plain.search(question.text, FEW)} for question in _questions(told)]


def _set_of(told: Conversation) -> str:
    return f"{told.set_name}, {told.language}"


def _questions(told: Conversation) -> Sequence[Question]:
    """The questions that were not used for tuning."""
    return told.questions[1::2]


async def _asked_twice(folder: Path, told: Sequence[Conversation]) -> dict[str, dict[str, list[bool]]]:
    """By set and asking, whether the prompts contain all evidence."""
    shown = defaultdict[str, dict[str, list[bool]]](lambda: defaultdict(list))
    with anyio.fail_after(TIME_LIMIT_S):
        async with people(folder) as everybody, _answering(folder) as model:
            for number, each in enumerate(told):
                await _tell(everybody, each, f"past-{number}")
            scopes = [everybody.scope(f"past-{number}") for number in range(len(told))]
            for asking in ASKINGS:
                # The memory contains all questions of the first asking before the second one.
                await indexed(folder, scopes)
                for number, each in enumerate(told):
                    asks = _Asking(everybody, model, scopes[number], f"{asking}-{number}")
                    shown[_set_of(each)][asking] += [await asks.is_shown(each, one) for one in _questions(each)]
    return shown


@asynccontextmanager
async def _answering(folder: Path) -> AsyncGenerator[FakeOpenAI]:
    """The model of a worker that answers during the block."""

    def answer(body: dict[str, object]) -> Say:
        return Say(EMPTY_ANSWERS["en" if str(body["messages"])[-200:].isascii() else "zh"])

    async with fake_openai(answer) as model:
        environment = {**WORDS_ONLY, "OPENAI_BASE_URL": model.base_url}
        worker = await to_thread.run_sync(lambda: start(folder, "--role", "agent", web=False, **environment))
        try:
            yield model
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(worker.stop)


async def _tell(everybody: People, told: Conversation, chat: str) -> None:
    entries = [
        LogEntry(
            time=stamp(message.time),
            turn=number,
            tokens=len(message.text) // 4 + 4,
            id="" if message.speaker == "assistant" else f"m{number}",
            sender="" if message.speaker == "assistant" else message.speaker,
            wire=msgspec.Raw(_encode({"role": _role(message.speaker), "content": message.text})),
        )
        for number, message in enumerate(told.messages)
    ]
    await fill(everybody.bus, f"{CHANNEL}:{chat}", entries, scope=everybody.scope(chat))


def _role(speaker: str) -> str:
    return "assistant" if speaker == "assistant" else "user"


class _Asking:
    """Somebody with a memory who asks questions, each in a new conversation."""

    def __init__(self, everybody: People, model: FakeOpenAI, scope: str, name: str) -> None:
        self._everybody = everybody
        self._model = model
        self._scope = scope
        self._name = name
        self._asked = 0

    async def is_shown(self, told: Conversation, question: Question) -> bool:
        """Whether the prompt for the question contains all of its evidence."""
        self._asked += 1
        self._model.requests.clear()
        chat = f"{self._name}-{self._asked}"
        async with self._everybody.watching(chat) as watch:
            await self._everybody.say(chat, question.text, scope=self._scope)
            await watch.answered()
        prompt = bare("".join(_texts(self._model.requests[0].body["messages"])))
        return all(is_shown(told.messages[at].text, [prompt]) for at in question.evidence)


def _texts(content: object) -> Iterable[str]:
    """The texts of the messages of a request."""
    if isinstance(content, list):
        for each in cast("list[object]", content):
            yield from _texts(each)
    elif isinstance(content, dict):
        part = cast("dict[str, object]", content)
        yield from _texts(part.get("content", part.get("text")))
    elif isinstance(content, str):
        yield content
