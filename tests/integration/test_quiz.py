"""The quiz about a consolidation, with scripted models on a real server."""

import json
from typing import Any

import anyio
import msgspec
import pytest
from prometheus_client import REGISTRY

from daemon.config import EachConfig, LimitsConfig
from daemon.errors import ModelTimeout, ModelUnavailable
from daemon.memory import Audit, HistoryEntry
from daemon.model import Answer, Request, ToolCall, Usage
from daemon.session import ConsolidationLocks
from daemon.usage import UsageBook, day_of
from tests.conftest import Lab
from tests.forgetlab import ANN, NOW, SCOPE, Pond
from tests.integration.test_audits import switched, world
from tests.limits import HANG_S
from tests.memorylab import MemoryLab, Summaries, messages_of, saves
from tests.tables import each_row
from workers.consolidation import BACKGROUND, ConsolidationRequest

__all__ = ["world"]

QUIZZED = "millpond_consolidation_quiz_questions_total"

QUESTIONS = [
    {"question": "Which number has the gate?", "answer": "4711"},
    {"question": "钥匙是什么颜色？", "answer": "红色"},
]


def calls(name: str, **arguments: Any) -> Answer:
    call = ToolCall(id="1", name=name, arguments=json.dumps(arguments))
    return Answer(text="", tool_calls=(call,), model="summaries", usage=Usage(tokens_in=100, tokens_out=10))


ASKED = calls("ask_questions", questions=QUESTIONS)
ANSWERED = calls("answer_questions", answers=["4711", "It is red."])
COMPARED = calls("compare_answers", correct=[True, False])


async def examined(
    world: Pond, lab: Lab, *answers: Any, want: ConsolidationRequest = BACKGROUND
) -> tuple[HistoryEntry, Audit, list[Request]]:
    """Have messages consolidated by a model that gives these answers to the requests of the quiz.

    Returns the first entry, its audit, and these requests.
    """
    model = Summaries(saves("The gate has 4711.", memory="- likes boats"), answers=answers)
    begun = (await lab.state(ANN)).cursor
    await world.turn(ANN, "The gate has 4711. 钥匙是红色的。")
    for _ in range(14):
        await world.turn(ANN, "word " * 150)
    await MemoryLab(world.process, lab, model, session=ANN).consolidator.consolidate(ANN, want)
    [entry] = [each for each in await world.memories.history(SCOPE) if each.first == begun]
    assert entry.audit is not None
    return entry, entry.audit, model.prompts


async def test_a_quiz_asks_about_the_messages_and_is_answered_from_what_is_left(world: Pond, lab: Lab) -> None:
    before = [REGISTRY.get_sample_value(QUIZZED, {"outcome": outcome}) or 0 for outcome in ("correct", "wrong")]

    _, audit, requests = await examined(switched(world, lab, quiz=2), lab, ASKED, ANSWERED, COMPARED)

    version = await world.memories.version(SCOPE, 1)
    assert (audit.questions, audit.correct) == (2, 1)
    assert version.audit == audit
    after = [REGISTRY.get_sample_value(QUIZZED, {"outcome": outcome}) for outcome in ("correct", "wrong")]
    assert after == [number + 1 for number in before]
    asking, answering, comparing = [messages_of(request)[1][1] for request in requests[:3]]
    assert "ann: The gate has 4711. 钥匙是红色的。" in asking
    assert "Write 2 questions" in asking
    assert "- likes boats" in answering
    assert "The gate has 4711." in answering
    assert "2. 钥匙是什么颜色？" in answering
    assert "红色\n" not in answering
    assert "Right answer: 红色\nGiven answer: It is red." in comparing


async def test_questions_without_an_answer_are_wrong_and_not_compared(world: Pond, lab: Lab) -> None:
    unknown = calls("answer_questions", answers=[" "])

    _, audit, requests = await examined(switched(world, lab, quiz=1), lab, ASKED, unknown)

    assert (audit.questions, audit.correct) == (1, 0)
    assert "compare_answers" not in [request.force_tool for request in requests]


@each_row(
    "answers",
    [
        [ModelUnavailable("it is away")],
        [RuntimeError("a bug")],
        [Answer(text="I cannot do that.")],
        [calls("ask_questions", questions=[])],
        [calls("ask_questions", questions=[{"question": " ", "answer": "x"}])],
        [calls("ask_questions", questions=["x"])],
        [Answer(text="[" * 100_001)],
        [Answer(text="[" * 10_000)],
        [ASKED, calls("answer_questions", answers=["4711"])],
        [ASKED, calls("ask_questions", questions=QUESTIONS)],
        [ASKED, ANSWERED, calls("compare_answers", correct=[True, True, True])],
        [ASKED, ANSWERED, calls("compare_answers", correct="all")],
        [ASKED, ANSWERED, ModelTimeout("it hangs")],
    ],
)
async def test_a_model_that_fails_or_answers_with_junk_gives_no_quiz_and_harms_no_consolidation(
    world: Pond, lab: Lab, answers: list[Any]
) -> None:
    entry, audit, _ = await examined(switched(world, lab, quiz=2), lab, *answers)

    assert (entry.kind, audit.questions, audit.correct) == ("summary", 0, 0)
    assert entry.text.endswith("The gate has 4711.")


@pytest.mark.parametrize(("quiz", "want"), [(0, BACKGROUND), (2, NOW)], ids=["switched off", "somebody waits"])
async def test_there_is_no_quiz_if_it_is_switched_off_or_somebody_waits(
    world: Pond, lab: Lab, quiz: int, want: ConsolidationRequest
) -> None:
    _, _, requests = await examined(switched(world, lab, quiz=quiz), lab, want=want)

    assert requests == []


async def test_a_quiz_gives_way_to_a_turn_that_waits(world: Pond, lab: Lab) -> None:
    async def hang(_request: Request) -> Answer:
        assert (
            await ConsolidationLocks(lab.bus, world.process.config.queue, worker="agent").take(ANN, waits=True) is None
        )
        await anyio.sleep_forever()
        raise AssertionError

    with anyio.fail_after(HANG_S):
        entry, audit, _ = await examined(switched(world, lab, quiz=2), lab, hang)

    assert (entry.kind, audit.questions) == ("summary", 0)


async def test_a_quiz_is_paid_for_within_the_limits_of_a_day(world: Pond, lab: Lab) -> None:
    """The first of its calls uses up the limit."""
    world = switched(world, lab, quiz=2)
    bot = msgspec.structs.replace(world.process.bot("pond"), limits=LimitsConfig(tokens_per_day=EachConfig(chat=110)))
    config = msgspec.structs.replace(world.process.config, bots={"pond": bot})
    object.__setattr__(world.process, "config", config)

    _, audit, requests = await examined(world, lab, ASKED)

    used = await UsageBook(lab.bus).read([day_of(world.process.clock.now(), bot.time_zone)], by="session")
    assert (audit.questions, len(requests)) == (0, 1)
    assert sum(amount.tokens for amount in used.values()) == 110
