import datetime as dt

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.config import BotConfig, Config, ModelConfig
from daemon.errors import CallSkipped, ModelUnavailable, SummaryFailed
from daemon.events import LogEntry
from daemon.model import Answer, CutOff, Usage
from daemon.testing import ScriptedModel
from daemon.tokens import load
from tests.tables import each_row
from workers.consolidation.summary.flush_request import Flush, newest, parts_of
from workers.consolidation.summary.log_rendering import Line
from workers.consolidation.summary.summary_calls import ModelBreaker

NOW = dt.datetime(2026, 3, 1, 20, 0, tzinfo=dt.UTC)


@each_row(
    ("text", "memory", "notes"),
    [
        ("- Ann likes tea.", "- Ann likes tea.", ()),
        ("# MEMORY.md\n- Tea.\n\n# 2026-03-01.md\n- Met Ann.", "- Tea.", (("2026-03-01", "- Met Ann."),)),
        ("- Tea.\n# 2026-03-01.md\nMet Ann.\n# memory.md:\n- Dog.", "- Tea.\n- Dog.", (("2026-03-01", "Met Ann."),)),
        ("## memory/2026-03-01.md\nOne.\n# 2026-03-01.md\nTwo.", "", (("2026-03-01", "One.\nTwo."),)),
        ("# 2026-03-02.md\nB.\n# 2026-03-01.md\nA.", "", (("2026-03-01", "A."), ("2026-03-02", "B."))),
        ("# MEMORY.md\n\n# 2026-03-01.md\n  \n", "", ()),
        ("# 2026-02-31.md\nNo such day.", "# 2026-02-31.md\nNo such day.", ()),
        ("# ../2026-03-01.md\nElsewhere.", "# ../2026-03-01.md\nElsewhere.", ()),
        ("# Notes\n- Tea.", "# Notes\n- Tea.", ()),
        ("```markdown\n# MEMORY.md\n- Tea.\n```", "- Tea.", ()),
        ("- Tea\x00 \ud800.", "- Tea \ufffd.", ()),
        ("NO_REPLY", "", ()),
        ("no_reply\n", "", ()),
        ("`NO_REPLY`.", "", ()),
        ("NO_REPLY\nThere is nothing to store.", "", ()),
        ("I looked.\n\nNo_Reply", "", ()),
        ("- Say NO_REPLY when nothing is new.", "- Say NO_REPLY when nothing is new.", ()),
        ("- One.\nNO_REPLY\n- Two.", "- One.\nNO_REPLY\n- Two.", ()),
        (" \n", "", ()),
    ],
)
def test_an_answer_is_parts_for_the_memory_and_for_days(text, memory, notes):
    assert parts_of(text) == (memory, notes)


@given(st.text(st.sampled_from("a #.\n-2026130MEORY")))
def test_any_text_is_parts(text):
    memory, notes = parts_of(text)

    assert all(dt.date.fromisoformat(day) and said for day, said in notes)
    assert len({day for day, _ in notes}) == len(notes)
    assert memory == memory.strip()


LINES = st.lists(st.integers(0, 200)).map(lambda sizes: [Line(str(at), size) for at, size in enumerate(sizes)])


@given(LINES, st.integers(0, 500))
def test_the_newest_that_fit_are_shown_without_gaps(lines, room):
    found = newest(lines, room)

    assert sum(line.tokens for line in found) <= room
    assert len(found) <= len(lines)
    for shown, line in zip(found[::-1], lines[::-1], strict=False):
        assert shown == line or line.tokens > room // 2
    if len(found) < len(lines):
        following = lines[-len(found) - 1]
        assert sum(line.tokens for line in found) + min(following.tokens, room // 2) > room - 60


def entry(text: str, role: str = "user", *, tokens: int = 0) -> LogEntry:
    wire = msgspec.json.encode({"role": role, "content": text})
    return LogEntry(time="2026-03-01T10:00:00Z", turn=0, tokens=tokens or len(text) // 3 + 4, wire=msgspec.Raw(wire))


TALK = [entry("Remember that I like tea."), entry("I will.", "assistant")]


async def flush_of(
    model: ScriptedModel, *, breaker: ModelBreaker | None = None, window: ModelConfig | None = None
) -> Flush:
    window = window or ModelConfig()
    return Flush(
        model=model,
        window=window,
        tokenizer=await load("gpt-5"),
        config=Config(),
        breaker=breaker or ModelBreaker(failures_max=5, probe_s=30.0),
        bot=BotConfig(time_zone="Asia/Shanghai"),
    )


async def test_the_silent_turn_is_asked_for_by_its_words_and_knows_the_persons_day():
    model = ScriptedModel("NO_REPLY")
    found = await (await flush_of(model)).ask(TALK, memory="- Ann has a dog.", now=NOW)

    assert found.is_empty
    (request,) = model.requests
    system, user = (msgspec.json.decode(message)["content"] for message in request.messages)
    assert system == "Session nearing compaction. Store durable memories now."
    assert "[2026-03-01 18:00] USER: Remember that I like tea.\n[2026-03-01 18:00] ASSISTANT: I will." in user
    assert "## Current Long-term Memory\n- Ann has a dog.\n" in user
    assert "memory/YYYY-MM-DD.md; today is 2026-03-02 (Asia/Shanghai)" in user
    assert user.endswith("Reply with NO_REPLY if there is nothing to store.")
    assert (request.tools, request.force_tool) == ((), "")
    tokenizer = await load("gpt-5")
    assert request.tokens == pytest.approx(tokenizer.count(system) + tokenizer.count(user) + 8, rel=0.03)


async def test_what_it_writes_comes_with_what_it_used():
    answer = Answer(text="- Tea.\n# 2026-03-02.md\n- Met.", model="m", usage=Usage(tokens_in=100, tokens_out=9))
    found = await (await flush_of(ScriptedModel(answer))).ask(TALK, memory="", now=NOW)

    assert (found.memory, found.notes, found.model) == ("- Tea.", (("2026-03-02", "- Met."),), "m")
    assert (found.used["m"].calls, found.used["m"].tokens) == (1, 109)


@each_row(
    "step",
    [
        ModelUnavailable("away"),
        Answer(text="  ", model="m"),
        Answer(text="x" * 200_000, model="m"),
        CutOff("cut", finish_reason="length", answer=Answer(text="- Te", model="m")),
    ],
)
async def test_no_usable_answer_is_a_failure(step):
    flush = await flush_of(ScriptedModel(step))

    with pytest.raises(
        SummaryFailed, match=r"the model could not save notes before the consolidation \(memory flush\)"
    ) as caught:
        await flush.ask(TALK, memory="", now=NOW)

    assert set(caught.value.used) == ({"m"} if not isinstance(step, ModelUnavailable) else set())


async def test_messages_that_limits_refused_are_no_reason_for_a_silent_turn():
    model = ScriptedModel("NO_REPLY")
    refused = [TALK[0], msgspec.structs.replace(TALK[1], unpaid=True)]

    assert (await (await flush_of(model)).ask(refused, memory="", now=NOW)).is_empty
    assert model.requests == []


async def test_a_model_that_failed_too_often_is_not_asked():
    breaker = ModelBreaker(failures_max=1, probe_s=30.0)
    breaker.enter()
    model = ScriptedModel()
    flush = await flush_of(model, breaker=breaker)
    breaker.failed()

    with pytest.raises(CallSkipped):
        await flush.ask(TALK, memory="", now=NOW)

    assert model.requests == []


@each_row("window", [4_096, 16_384])
async def test_of_a_long_conversation_and_memory_as_much_is_shown_as_fits(window):
    model, tokenizer = ScriptedModel("NO_REPLY"), await load("gpt-5")
    talk = [entry(f"Message {at}: " + "tea " * 100) for at in range(300)]
    talk = [msgspec.structs.replace(each, tokens=tokenizer.count_message(bytes(each.wire))) for each in talk]
    huge = entry("word " * 60_000, tokens=60_004)
    config = ModelConfig(context_window_tokens=window)
    flush = await flush_of(model, window=config)

    await flush.ask([*talk, huge, *talk[:3]], memory="Ann likes tea. " * 50_000, now=NOW)

    texts = [msgspec.json.decode(message)["content"] for message in model.requests[0].messages]
    counted = sum(map(tokenizer.count, texts))
    assert config.budget_tokens * 0.8 < counted <= config.budget_tokens
    assert "[a message of 60016 tokens is omitted here]" in texts[1]
    assert texts[1].count("Message 299: ") == texts[1].count("Message 2: ") == 1
