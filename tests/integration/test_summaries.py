import datetime as dt
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio
import msgspec
import pytest
from msgspec.structs import replace

from daemon.config import BotConfig, Config, ConsolidationConfig, ModelConfig
from daemon.errors import CallSkipped, SummaryFailed, Unsummarizable
from daemon.events import LogEntry
from daemon.model import Answer, connect
from daemon.testing import ScriptedModel
from daemon.tokens import load
from tests.answers import FIELDS, FIRST, KINDS, MEMORY, Kind, called
from tests.fakes.openai_server import Failure, FakeOpenAI, Hang, Reply, fake_openai
from tests.limits import HANG_S
from tests.tables import each_row
from workers.consolidation.consolidation_plan import boundaries
from workers.consolidation.summary.flush_request import Flush
from workers.consolidation.summary.log_rendering import Line, raw_entry
from workers.consolidation.summary.summarize import NO_LIMIT, Summarizer, Summary
from workers.consolidation.summary.summary_calls import ModelBreaker, PaidParts
from workers.consolidation.summary.summary_request import Background, Turn

START = dt.datetime.fromisoformat(f"{FIRST}:00+00:00")
CONFIG = Config(consolidation=ConsolidationConfig(call_deadline_s=HANG_S))
HASTY = Config(consolidation=ConsolidationConfig(call_deadline_s=0.5))


def said(*texts: str) -> list[LogEntry]:
    entries: list[LogEntry] = []
    for at, text in enumerate(texts):
        wire = msgspec.json.encode({"role": "assistant" if at % 2 else "user", "content": text})
        time = (START + dt.timedelta(minutes=at)).isoformat()
        entries.append(LogEntry(time=time, turn=at // 2 * 2, tokens=len(text) // 4 + 4, wire=msgspec.Raw(wire)))
    return entries


TALK = said("Tea or coffee?", "Which do you like?", "Tea.", "Noted.")


@asynccontextmanager
async def summing_up(
    script: Sequence[Reply] | Callable[[dict[str, object]], Reply], *, config: Config = CONFIG, **limits: object
) -> AsyncIterator[tuple[Summarizer, FakeOpenAI]]:
    async with fake_openai(script) as server:
        window = ModelConfig(base_url=server.base_url, name="fake", **limits)
        model = await connect(window)
        try:
            yield await summarizer(model, window, config=config), server
        finally:
            await model.aclose()


async def summarizer(
    model, window: ModelConfig, breaker: ModelBreaker | None = None, config: Config = CONFIG
) -> Summarizer:
    return Summarizer(
        model=model,
        window=window,
        tokenizer=await load(window.name),
        config=config,
        breaker=breaker or ModelBreaker(failures_max=5, probe_s=30.0, model=window.name),
        bot=BotConfig(model=window),
    )


def script_of(kind: Kind):
    return kind.reply if callable(kind.reply) else lambda _body: kind.reply


@each_row("kind", KINDS)
async def test_every_kind_of_answer_gives_the_texts_it_means_or_one_failure(kind: Kind):
    config = HASTY if isinstance(kind.reply, Hang) else CONFIG
    async with summing_up(script_of(kind), config=config) as (summaries, _server):
        if kind.fails:
            with pytest.raises(SummaryFailed) as caught:
                await summaries.summarize(TALK, Background(memory=kind.memory))
            assert bool(caught.value.used) is kind.counted
            assert not re.search(r"\btea\b", str(caught.value), re.IGNORECASE)
            return
        summary = await summaries.summarize(TALK, Background(memory=kind.memory))

    assert summary.history_entry == kind.entry
    assert summary.memory_update == kind.update
    assert summary.rejected_update == kind.rejected
    assert summary.continuity == kind.continuity
    assert (summary.rejected, summary.complete, summary.model) == (bool(kind.rejected), True, "fake")
    assert summary.used["fake"].calls == 1
    assert summary.used["fake"].tokens > 0


def test_the_table_has_at_least_thirty_bad_answers():
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    assert sum(kind.fails for kind in KINDS) >= 30


class Reader:
    """A model's server that sums up what it is shown, and remembers it."""

    def __init__(self, *refusals: Reply | None) -> None:
        self.refusals = list(refusals)
        """What it says first, in order; None: it sums up."""
        self.bodies: list[str] = []

    def __call__(self, body: dict[str, object]) -> Reply:
        self.bodies.append(body["messages"][1]["content"])
        refusal = self.refusals.pop(0) if self.refusals else None
        number = len(self.bodies)
        summed_up = {
            "history_entry": f"[2026-03-01 10:0{number}] Part {number}.",
            "memory_update": f"{shown_memory(self.bodies[-1])}\n- Fact {number}.".strip(),
            "continuity": f"So far {number} parts.",
        }
        return refusal or called(summed_up)

    @property
    def conversations(self) -> list[str]:
        return [body.partition("## Conversation to Process")[2].partition("\n")[2] for body in self.bodies]


def shown_memory(body: str) -> str:
    memory = body.partition("## Current Long-term Memory")[2].partition("\n")[2]
    memory = memory.partition("\n\n## Conversation to Process")[0]
    return "" if memory == "(empty)" else memory


async def in_chunks(summaries: Summarizer, entries: Sequence[LogEntry], background: Background) -> list[Summary]:
    """The summaries of all ``entries``, each with what those before came to, as a consolidation has them made."""
    found, most_tokens = list[Summary](), NO_LIMIT
    while entries:
        try:
            summary = await summaries.summarize(entries, background, most_tokens=most_tokens)
        except Unsummarizable:
            first_turn = entries[: next(boundaries(entries), len(entries))]
            summary = Summary(count=len(first_turn), history_entry=raw_entry(first_turn, now=START))
        found.append(summary)
        entries, most_tokens = entries[summary.count :], summary.limit_tokens or most_tokens
        background = Background(
            memory=background.memory if summary.memory_update is None else summary.memory_update,
            continuity=summary.continuity,
            rejected=summary.rejected_update,
        )
    return found


def long_talk(count: int, words: int = 60) -> list[LogEntry]:
    talk = said(*(f"Message {at}: " + "tea and coffee " * words for at in range(count)))
    return [replace(entry, tokens=words * 3 + 8) for entry in talk]


async def test_the_request_is_what_the_consolidation_agent_is_told():
    reader = Reader()
    async with summing_up(reader) as (summaries, server):
        await summaries.summarize(
            TALK, Background(memory="", continuity="They met.", focus="the tea", rejected="# Old")
        )

    body = server.requests[0].body
    system, user = (message["content"] for message in body["messages"])
    assert system.startswith(
        "You are a memory consolidation agent. Call the save_memory tool with your consolidation of the conversation.\n"
    )
    assert "at most 6553 tokens" in system
    assert user.startswith("Process this conversation and call the save_memory tool with your consolidation.\n\n## ")
    assert "## What to Preserve\n" in user and "\nthe tea\n\n" in user
    assert "## Summary So Far\nThey met.\n\n" in user
    assert "## Rejected Memory Update\n" in user and "\n# Old\n\n" in user
    assert user.endswith(
        "## Current Long-term Memory\n(empty)\n\n"
        "## Conversation to Process\n"
        "[2026-03-01 10:00] USER: Tea or coffee?\n"
        "[2026-03-01 10:01] ASSISTANT: Which do you like?\n"
        "[2026-03-01 10:02] USER: Tea.\n"
        "[2026-03-01 10:03] ASSISTANT: Noted."
    )
    assert body["tool_choice"] == {"type": "function", "function": {"name": "save_memory"}}


async def test_a_range_that_fits_is_one_call():
    reader = Reader()
    async with summing_up(reader) as (summaries, _server):
        await summaries.summarize(long_talk(150), Background(memory=MEMORY))

    assert len(reader.bodies) == 1


@each_row("refusals", [[Failure(400, "too long", code="context_length_exceeded")], [called("{}")] * 2])
async def test_a_refused_range_is_summed_up_in_chunks_each_with_what_those_before_came_to(refusals):
    reader, talk = Reader(*refusals), long_talk(250)
    async with summing_up(reader) as (summaries, _server):
        found = await in_chunks(summaries, talk, Background(memory=MEMORY))

    tried = len(refusals)
    whole, pieces = reader.conversations[0], reader.conversations[tried:]
    assert len(pieces) == len(found) >= 3  # what the first chunk leaves is not tried as a whole
    assert "\n".join(pieces) == whole
    assert f"## Summary So Far\nSo far {tried + 1} parts." in reader.bodies[tried + 1]
    assert shown_memory(reader.bodies[tried + 1]) == f"{MEMORY}\n- Fact {tried + 1}."
    numbers = range(tried + 1, tried + 1 + len(pieces))
    assert [each.history_entry for each in found] == [f"[2026-03-01 10:0{number}] Part {number}." for number in numbers]
    assert found[-1].memory_update == "\n".join([MEMORY, *(f"- Fact {number}." for number in numbers)])
    assert found[-1].continuity == f"So far {numbers[-1]} parts."
    # Each ends with a turn, which is two messages here.
    assert [each.count % 2 for each in found] == [0] * len(found)


async def test_a_turn_that_no_request_holds_is_summed_up_in_parts_which_are_paid_for_once():
    kept: list[bytes] = []

    async def keep(record: bytes) -> None:
        kept.append(record)

    [turn] = [[replace(entry, turn=0) for entry in long_talk(900)]]
    reader = Reader(None, None, *[called("{}")] * 3)
    async with summing_up(reader) as (summaries, _server):
        with pytest.raises(SummaryFailed) as caught:
            await summaries.summarize(turn, Background(memory=MEMORY), parts=PaidParts(keep=keep))
        of_other_text = PaidParts(kept[-1]).begun([Turn([Line("Other", 9)])], Background(memory=MEMORY))
        summary = await summaries.summarize(turn, Background(memory=MEMORY), parts=PaidParts(kept[-1], keep))

    paid = [*reader.conversations[:2], *reader.conversations[5:]]
    assert (caught.value.used["fake"].calls, of_other_text) == (5, None)
    assert "\n".join(paid).count("Message ") == 900
    assert "(part 3 of " in reader.bodies[5]
    assert summary.count == 900
    assert [number for number in range(1, 7) if f"Part {number}." in summary.history_entry] == [1, 2, 6]
    assert "- Fact 1." in summary.memory_update


async def test_a_model_that_is_away_is_not_asked_for_parts():
    reader = Reader(*[Failure(503)] * 9)
    async with summing_up(reader) as (summaries, _server):
        with pytest.raises(SummaryFailed):
            await summaries.summarize(long_talk(150), Background(memory=MEMORY))

    assert len(reader.bodies) == 1


async def test_a_request_without_a_usable_answer_is_sent_a_second_time():
    reader = Reader(called("{}"))
    async with summing_up(reader) as (summaries, _server):
        summary = await summaries.summarize(TALK, Background(memory=MEMORY))

    first, second = reader.bodies
    assert first == second
    assert (summary.count, summary.used["fake"].calls) == (4, 2)


async def test_a_model_that_has_answered_a_request_as_large_is_asked_a_third_time_for_the_same():
    """Two hanging calls in a row were taken for a request that is too large, and smaller ones were paid for."""
    talk = long_talk(150)
    known, unknown = Reader(None, *[called("{}")] * 2), Reader(*[called("{}")] * 2)
    for reader, count in ((known, 4), (unknown, 3)):
        async with summing_up(reader) as (summaries, _server):
            for _ in range(count - 2):
                await summaries.summarize(talk, Background(memory=MEMORY))

        sizes = [len(conversation) for conversation in reader.conversations]
        assert (sizes[-1] == sizes[0]) == (reader is known)
        assert len(sizes) == count


async def test_requests_that_fail_are_one_failure_with_what_all_calls_used():
    reader = Reader(*[called("{}")] * 4)
    async with summing_up(reader) as (summaries, _server):
        with pytest.raises(SummaryFailed) as caught:
            await summaries.summarize(long_talk(150), Background(memory=MEMORY))

    sizes = [len(conversation) for conversation in reader.conversations]
    assert sizes[0] == sizes[1] > sizes[2] == sizes[3]
    assert caught.value.used["fake"].calls == 4


async def test_the_server_that_knows_of_a_smaller_window_gets_half_of_what_it_refused():
    reader, talk = Reader(Failure(400, "", code="context_length_exceeded")), long_talk(20)
    async with summing_up(reader) as (summaries, _server):
        found = await in_chunks(summaries, talk, Background(memory=MEMORY))

    whole, *pieces = reader.conversations
    assert len(pieces) >= 2
    assert "\n".join(pieces) == whole
    assert found[0].complete


def oversized(tokens: int) -> LogEntry:
    (entry,) = said("Large: " + "data " * tokens)
    return replace(entry, tokens=tokens)


async def test_messages_without_room_stand_whole_in_the_entry_and_the_others_are_summed_up():
    reader, small, large = Reader(), long_talk(10), [oversized(60_000), oversized(61_000)]
    async with summing_up(reader) as (summaries, _server):
        together = [replace(entry, turn=0) for entry in (*small[:4], large[0], *small[4:], large[1])]
        summary = await summaries.summarize(together, Background(memory=MEMORY))

    (shown,) = reader.conversations
    assert shown.count("\n") == 9
    assert "Large:" not in shown
    head, mark, *raw = summary.history_entry.split("\n")
    assert head == "[2026-03-01 10:01] Part 1."
    assert mark.startswith("[Skipped 2 oversized messages (1210")
    assert [line[: line.index(":", 20) + 8] for line in raw] == ["[2026-03-01 10:00] USER: Large:"] * 2
    assert [line.count("data") for line in raw] == [60_000, 61_000]
    assert not summary.complete


async def test_messages_that_could_be_oversized_are_tried_first():
    reader, large = Reader(), oversized(30_000)
    async with summing_up(reader) as (summaries, _server):
        summary = await summaries.summarize([*long_talk(4), large], Background(memory=MEMORY))

    assert "Large:" in reader.conversations[0]
    assert summary.complete


async def test_after_four_failures_they_are_left_out():
    reader = Reader(*[called("{}")] * 4)
    turn = [replace(entry, turn=0) for entry in (*long_talk(4), oversized(30_000))]
    async with summing_up(reader) as (summaries, _server):
        summary = await summaries.summarize(turn, Background(memory=MEMORY))

    assert ["Large:" in shown for shown in reader.conversations] == [True, True, False, False, False]
    assert "[Skipped 1 oversized messages (3001" in summary.history_entry


async def test_when_all_are_oversized_the_raw_entry_comes_at_once():
    reader = Reader()
    async with summing_up(reader) as (summaries, _server):
        with pytest.raises(Unsummarizable) as caught:
            await summaries.summarize([oversized(60_000)] * 3, Background(memory=MEMORY))

    assert reader.bodies == []
    assert caught.value.note.startswith("[Session context was compacted: 3 messages, 1800")
    assert "3 oversized messages were excluded" in caught.value.note


async def test_a_rejected_update_stands_in_the_next_request():
    many = "\n".join(f"- Fact {number} about Ann." for number in range(100))
    short = called({**FIELDS, "memory_update": "- Nothing but tea."})
    reader = Reader(Failure(400, "too long", code="context_length_exceeded"), short)
    async with summing_up(reader) as (summaries, _server):
        found = await in_chunks(summaries, long_talk(150), Background(memory=many))

    assert "## Rejected Memory Update\n" in reader.bodies[2]
    assert "\n- Nothing but tea.\n" in reader.bodies[2]
    assert shown_memory(reader.bodies[2]) == many
    assert [each.rejected for each in found[:2]] == [True, False]
    assert found[1].memory_update.startswith(many)


async def test_small_steps_that_shrink_the_memory_to_less_than_half_are_rejected_too():
    many = "- 0123456789\n" * 100
    steps = [called({**FIELDS, "memory_update": many[: len(many) * share // 10]}) for share in (7, 4)]
    reader = Reader(Failure(400, "too long", code="context_length_exceeded"), *steps)
    async with summing_up(reader) as (summaries, _server):
        turn = [replace(entry, turn=0) for entry in long_talk(110)]
        summary = await summaries.summarize(turn, Background(memory=many))

    assert len(reader.bodies) == 3
    assert summary.memory_update == many[: len(many) * 7 // 10].strip()
    assert summary.rejected
    assert "memory_reason" in summary.rejection


async def test_a_memory_without_room_is_shown_in_part_and_not_replaced():
    reader = Reader()
    async with summing_up(reader) as (summaries, _server):
        summary = await summaries.summarize(TALK, Background(memory="Ann likes tea and coffee. " * 20_000))

    assert "characters left out" in reader.bodies[0]
    assert "(only the beginning" in reader.bodies[0]
    assert len(reader.bodies[0]) < 300_000
    assert (summary.memory_update, summary.rejected) == (None, False)
    assert summary.history_entry == "[2026-03-01 10:01] Part 1."


async def test_a_memory_that_is_nearly_full_is_to_become_shorter():
    reader = Reader()
    async with summing_up(reader) as (summaries, _server):
        await summaries.summarize(TALK, Background(memory="Ann likes tea. " * 1_400))

    assert re.search(r"Memory \(nearly full: \d+ of 6553 tokens; shorten the memory\)\n", reader.bodies[0])


@pytest.mark.parametrize("window", [4_096, 8_192, 32_768, pytest.param(65_536, marks=pytest.mark.slow)])
async def test_no_request_is_above_the_budget_of_its_model(window):
    """Every message stands in exactly one request, or as it is in the entry."""
    reader, tokenizer = Reader(), await load("fake")
    talk = [await counted(entry) for entry in (*long_talk(60), *said("word " * 9_000), *long_talk(3, words=600))]
    async with summing_up(reader, context_window_tokens=window) as (summaries, server):
        found = await in_chunks(
            summaries, talk, Background(memory="Ann likes tea. " * (window // 3), continuity="- So.\n" * (window // 3))
        )

    budget = ModelConfig(context_window_tokens=window).budget_tokens
    for request in server.requests:
        texts = [message["content"] for message in request.body["messages"]]
        tools = msgspec.json.encode(request.body["tools"][0]).decode()
        assert sum(map(tokenizer.count, (*texts, tools))) <= budget
    held = "\n".join([*reader.conversations, *(each.history_entry for each in found)])
    assert [held.count(f"Message {at}: ") for at in range(3, 60)] == [1] * 57
    assert [held.count(f"Message {at}: ") for at in range(3)] == [2] * 3
    assert held.count("word word") > 0


async def counted(entry: LogEntry) -> LogEntry:
    return replace(entry, tokens=await (await load("fake")).acount_message(bytes(entry.wire)))


async def test_messages_without_content_need_no_model():
    async with summing_up([]) as (summaries, server):
        summary = await summaries.summarize(said(""), Background(memory=MEMORY, continuity="They met."))

    assert server.requests == []
    assert summary.history_entry == "[2026-03-01 10:00] Nothing was said."
    assert (summary.memory_update, summary.continuity, summary.used) == (None, "They met.", {})


async def test_a_raw_entry_is_worked_in_later_as_a_whole():
    reader = Reader()
    raw = raw_entry(long_talk(300), now=START)
    async with summing_up(reader) as (summaries, _server):
        summary = await summaries.digest(raw, memory=MEMORY)

    assert len(reader.bodies) > 1
    assert "\n".join(reader.conversations) == raw
    assert summary.memory_update.startswith(f"{MEMORY}\n- Fact 1.")


async def test_a_message_of_a_raw_entry_that_fits_into_no_request_is_shown_in_chunks():
    reader = Reader()
    raw = raw_entry([oversized(90_000)], now=START)
    async with summing_up(reader) as (summaries, _server):
        await summaries.digest(raw, memory="")

    shown = reader.conversations
    assert len(shown) > 2
    assert sum(text.count("dat") for text in shown) >= 89_990


async def test_a_model_that_failed_too_often_is_not_asked_and_that_is_no_failure():
    breaker = ModelBreaker(failures_max=2, probe_s=30.0)
    async with fake_openai(lambda _body: Failure(503)) as server:
        window = ModelConfig(base_url=server.base_url, name="fake")
        model = await connect(window)
        summaries = await summarizer(model, window, breaker)
        for _ in range(2):
            with pytest.raises(SummaryFailed):
                await summaries.summarize(TALK, Background())
        with pytest.raises(CallSkipped) as caught:
            await summaries.summarize(TALK, Background())
        await model.aclose()

    assert len(server.requests) == 2
    assert 0 < caught.value.retry_after_s <= 30


async def test_a_cancelled_call_is_no_failure_and_leaves_its_connection():
    breaker = ModelBreaker(failures_max=1, probe_s=30.0)
    async with fake_openai(lambda _body: Hang()) as server:
        window = ModelConfig(base_url=server.base_url, name="fake")
        model = await connect(window)
        summaries = await summarizer(model, window, breaker)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(summaries.summarize, TALK, Background()))
            await server.asked.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(HANG_S):
            await server.client_left.wait()
        await model.aclose()

    assert not breaker.is_open


async def test_five_hundred_messages_cost_little_beside_the_call():
    talk = [await counted(entry) for entry in long_talk(500, words=20)]
    model = ScriptedModel(then=Answer(text=json.dumps(FIELDS), model="scripted"))
    summaries = await summarizer(model, ModelConfig())
    costs = []
    for _ in range(5):
        began = time.process_time()
        await summaries.summarize(talk, Background(memory="Ann likes tea. " * 1_000))
        costs.append(time.process_time() - began)

    assert min(costs) < 0.030


@each_row(
    ("told", "kept"),
    [
        ("记住我的偏好：我喜欢用Python，不用JavaScript", "记住我的偏好：我喜欢用Python，不用JavaScript"),
        ("Please remember that my sister lives in Oslo.", "Please remember that my sister lives in Oslo."),
    ],
)
async def test_the_offline_model_keeps_what_it_is_told(told, kept):
    talk = said(told, "好的。", "It rains.", "Indeed.")
    window = ModelConfig()
    model = await connect(window)
    tokenizer = await load("")
    summaries = await summarizer(model, window)
    flush = Flush(
        model=model,
        window=window,
        tokenizer=tokenizer,
        config=CONFIG,
        breaker=ModelBreaker(failures_max=5, probe_s=30.0),
        bot=BotConfig(),
    )

    flushed = await flush.ask(talk, memory="", now=START)
    summary = await summaries.summarize(talk, Background())
    again = await summaries.summarize(talk, Background(memory=flushed.memory))

    assert flushed.memory == f"- {kept}"
    assert kept in summary.memory_update
    assert kept in summary.history_entry
    assert kept in summary.continuity
    assert again.memory_update is None
