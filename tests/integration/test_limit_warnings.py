"""Administrators are told of limits that are nearly used up; on a real server with a scripted model."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from daemon.config import ModelConfig, TestingConfig
from daemon.process import Process
from daemon.testing import FailingBus, ManualClock, ScriptedModel
from daemon.usage import Amount, UsageBook, User
from tests.conftest import Lab
from tests.integration.test_limits import DAY, PRICES, limited, says
from tests.integration.test_turns import replies_of, worked_off
from tests.memorylab import MemoryLab, Summaries
from workers.admin_messages import LimitWarnings
from workers.consolidation import ConsolidationRequest


def with_admin(process: Process, **limits: Any) -> Process:
    """A bot with limits and an administrator on a push channel."""
    process = limited(process, admins=("support:boss", "web:boss", "boss"), **limits)
    channels = dict(process.config.channels) | {"support": TestingConfig(bot="pond")}
    return replace(process, config=msgspec.structs.replace(process.config, channels=channels))


@pytest.mark.parametrize(
    ("limits", "language", "beginning"),
    [
        (
            {"tokens_per_day": {"bot": 400}}, "en",
            "Bot pond has used 90 % of its daily limit (limits.tokens_per_day.bot). 40 of 400 tokens left, enough "
            "for about 1 minute at the current rate.",
        ),
        (
            {"tokens_per_day": {"person": 400}}, "en",
            "Bot pond: web:ann has used 90 % of the daily limit per person (",
        ),
        (
            {"tokens_per_day": {"chat": 400}}, "zh",
            "机器人 pond：对话 web:ann 今天已用掉单个对话限额的 90 %（limits.tokens_per_day.chat）。",
        ),
        (
            {"cost_per_day": {"person": 0.003}, "reserved_for_memory": 0.2}, "en",
            "Bot pond: web:ann has used 83 % of the daily limit per person (limits.cost_per_day.person). "
            "0.0004 of 0.0024 EUR left, enough for about 2 minutes at the current rate.",
        ),
    ],
)  # fmt: skip
async def test_administrators_are_told_once_a_day_over_all_workers_that_a_limit_is_nearly_used_up(
    process: Process, lab: Lab, clock: ManualClock, limits: dict[str, Any], language: str, beginning: str
) -> None:
    model = ModelConfig(prices=PRICES)
    worker = with_admin(process, model=model, language=language, **limits)
    told: list[int] = []
    for day in range(2):
        for number in range(3):  # 300, 360 and 420 tokens, each turn by another worker
            await lab.publish(f"{day}-{number}")
            await worked_off(worker, lab, ScriptedModel(says("hi", tokens_in=50 if number else 290)))
            told.append(len(await replies_of(lab, "support")))
        clock.advance(86_400)

    assert told == [0, 1, 1, 1, 2, 2]
    first, second = await replies_of(lab, "support")
    assert first.text == second.text and first.text.startswith(beginning)
    assert first.session == "support:boss" and first.id != second.id


async def test_a_warning_that_could_not_be_sent_is_sent_after_the_next_turn(process: Process, lab: Lab) -> None:
    process = with_admin(process, tokens_per_day={"bot": 100})
    bus = FailingBus(process.bus, at=5)  # after three accounts and the claim of the warning
    user = User(bot="pond", session="web:ann", channel="web", sender_id="ann")
    await UsageBook(lab.bus).note("a", user, DAY, {"m": Amount(tokens_in=90)})
    warnings = LimitWarnings(bus, process.config, process.clock)

    await warnings.look(user)
    assert await replies_of(lab, "support") == []
    for each in (warnings, warnings, LimitWarnings(lab.bus, process.config, process.clock)):
        await each.look(user)

    assert len(await replies_of(lab, "support")) == 1


async def test_administrators_are_told_when_a_consolidation_brings_a_limit_close_to_its_end(
    process: Process, lab: Lab
) -> None:
    process = with_admin(process, tokens_per_day={"bot": 1_000_000})
    user = User(bot="pond", session="web:ann", channel="web", sender_id="ann")
    await UsageBook(lab.bus).note("a", user, DAY, {"m": Amount(tokens_in=800_000)})
    memory = MemoryLab(process, lab, Summaries())
    await memory.talk(3)

    await memory.consolidator.consolidate(memory.session, ConsolidationRequest(at="now"))

    assert len(await replies_of(lab, "support")) == 1
