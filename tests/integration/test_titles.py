"""Titles of new conversations: by the first words, or by a model within the limits of the bot."""

from dataclasses import replace
from typing import Any, cast

import msgspec

from daemon.config.bot_settings import EachConfig, LimitsConfig
from daemon.errors import ModelTimeout
from daemon.model import Answer, Model
from daemon.process import Process
from daemon.session import SessionLabels
from tests.conftest import Lab
from tests.memorylab import MemoryLab, Summaries, messages_of, small_window
from tests.tables import each_row
from workers.consolidation import Kits
from workers.consolidation.session_titles import SessionTitles


def lab_of(process: Process, lab: Lab, model: Summaries, session: str, **bot: Any) -> MemoryLab:
    config = small_window(process.config)
    bots = {"pond": msgspec.structs.replace(config.bots["pond"], **bot)}
    process = replace(process, config=msgspec.structs.replace(config, bots=bots))
    return MemoryLab(process, lab, cast("Model", model), session=session)


async def entitled(memory: MemoryLab) -> str:
    """The title that the session of ``memory`` gets."""
    entitling = SessionTitles(memory.process, memory.stores, Kits(memory.process))
    await entitling.entitle(memory.session)
    return (await SessionLabels(memory.lab.bus).of(memory.session)).title


async def first_words(memory: MemoryLab) -> str:
    [first, *_] = await memory.log()
    text: str = msgspec.json.decode(first.wire)["content"]
    return text


@each_row(
    "number, bot, answer, by_model",
    [
        (1, {}, "Herons", False), (2, {"titles": "words"}, "Herons", False),
        (3, {"titles": "model"}, ' "Herons at\nthe mill." ', True), (4, {"titles": "model"}, "", False),
        (5, {"titles": "model"}, ModelTimeout("away"), False),
        (6, {"titles": "model", "limits": LimitsConfig(tokens_per_day=EachConfig(bot=1))}, "Herons", False),
    ],
)  # fmt: skip
async def test_a_conversation_is_named_by_a_model_if_one_is_chosen_and_answers(
    process: Process, lab: Lab, number: int, bot: dict[str, Any], answer: Any, by_model: bool
) -> None:
    said = Answer(text=answer, model="summaries") if isinstance(answer, str) else answer
    memory = lab_of(process, lab, Summaries(answers=[said]), f"web:s{number}", **bot)
    await memory.talk(1)

    title = await entitled(memory)

    words = await first_words(memory)
    assert title == "Herons at the mill" if by_model else words.startswith(title.rstrip("…")) and title


async def test_a_model_sees_the_first_exchange_alone(process: Process, lab: Lab) -> None:
    model = Summaries(answers=[Answer(text="Herons", model="summaries")])
    memory = lab_of(process, lab, model, "web:ann", titles="model")
    await memory.talk(3)

    await entitled(memory)

    [request] = model.prompts
    roles = [role for role, _ in messages_of(request)]
    assert roles == ["system", "user"]
    assert (await first_words(memory))[:40] in messages_of(request)[1][1]


async def test_a_title_that_a_person_gave_stays(process: Process, lab: Lab) -> None:
    model = Summaries()
    memory = lab_of(process, lab, model, "web:ann", titles="model")
    await memory.talk(1)
    await SessionLabels(lab.bus).rename("web:ann", "Mine")

    assert await entitled(memory) == "Mine"
    assert model.prompts == []
    await SessionLabels(lab.bus).suggest("web:ann", "A title that a model wrote meanwhile")
    assert (await SessionLabels(lab.bus).of("web:ann")).title == "Mine"
