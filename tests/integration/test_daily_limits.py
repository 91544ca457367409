"""A day's limits bind turns and consolidations call by call; on a real server with scripted models."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from daemon.config import EachConfig, EmbeddingsConfig, LimitsConfig, MemorySearchConfig, RerankerConfig
from daemon.errors import BusUnavailable, ModelTimeout, ModelUnavailable
from daemon.model import Answer, Usage
from daemon.process import Process
from daemon.recall import Hit
from daemon.recall.reranking import RerankingEngine
from daemon.recall.vectors import Embedders, VectorEngine
from daemon.testing import FailingBus, Gate, ManualClock, ScriptedModel
from daemon.usage import Amount, Estimate, Payer, UsageBook, User
from tests.conftest import Lab
from tests.fakes.openai_server import Rerank, fake_openai
from tests.integration.test_limits import DAY, says, text_of
from tests.integration.test_turns import Bot, notices_of, worked_off
from tests.limits import until
from tests.memorylab import MemoryLab, Summaries, saves, small_window
from tests.recalllab import ScriptedEngine
from tests.vectorlab import SmallIndex
from workers.consolidation import ConsolidationRequest

ANN = User(bot="pond", session="web:ann", channel="web", sender_id="ann")


async def spend(process: Process, tokens: int, user: User = ANN) -> None:
    """As if ``user`` had used so many tokens today."""
    await UsageBook(process.bus).note("before", user, DAY, {"m": Amount(calls=1, tokens_in=tokens)})


async def tokens_of(process: Process, by: Any = "session") -> int:
    return sum(amount.tokens for amount in (await UsageBook(process.bus).read([DAY], by=by)).values())


def limiting(process: Process, *, memory: float = 0.0, **each: int) -> Process:
    limits = LimitsConfig(tokens_per_day=EachConfig(**each), reserved_for_memory=memory)
    config = small_window(process.config)
    bot = msgspec.structs.replace(config.bots["pond"], limits=limits, tools=("time",))
    return replace(process, config=msgspec.structs.replace(config, bots={"pond": bot}))


@pytest.mark.parametrize(
    ("used", "limits", "want", "outcome"),
    [
        (999, {"person": 1_000}, ConsolidationRequest(at="now", user=ANN), "settled"),
        (1_000, {"person": 1_000}, ConsolidationRequest(at="now", user=ANN), "unpaid"),
        (1_000, {"chat": 1_000}, ConsolidationRequest(), "unpaid"),
        (1_000, {"bot": 1_000}, ConsolidationRequest(at="budget", user=ANN), "unpaid"),
    ],
)
async def test_a_consolidation_waits_while_a_limit_is_used_up(
    process: Process, lab: Lab, used: int, limits: dict[str, int], want: ConsolidationRequest, outcome: str
) -> None:
    model = Summaries()
    memory = MemoryLab(limiting(process, **limits), lab, model)
    await memory.talk(30)
    await spend(process, used)

    report = await memory.consolidator.consolidate("web:ann", want)

    state = await memory.state()
    assert report.outcome == outcome
    assert (state.cursor > 0) is bool(model.requests) is (outcome == "settled")
    assert (await lab.fields()).get("failures", "0") == "0"
    assert len(await memory.log()) == 60, "nothing is lost"


async def test_what_is_reserved_for_memory_is_left_to_a_consolidation_when_turns_have_used_up_the_rest(
    process: Process, lab: Lab
) -> None:
    process, turns, model = limiting(process, memory=0.1, chat=1_000), ScriptedModel(), Summaries()
    memory = MemoryLab(process, lab, model)
    await memory.talk(30)
    await spend(process, 900)
    await lab.publish("a")
    await worked_off(process, lab, turns)

    report = await memory.consolidator.consolidate("web:ann")

    assert (await lab.log())[-1].unpaid
    assert not turns.requests
    assert report.outcome == "settled"


async def test_each_call_of_a_consolidation_is_counted_before_the_next_one(process: Process, lab: Lab) -> None:
    """Each call uses 600 tokens, in a conversation that takes several: the second one may pass the limit."""
    answers = [
        msgspec.structs.replace(saves(f"summary {n}", memory="fact"), usage=Usage(tokens_in=590, tokens_out=10))
        for n in range(9)
    ]
    quiet = Answer(text="NO_REPLY", usage=Usage(tokens_in=600), model="summaries")
    model = Summaries(*answers, flushes=[quiet] * 9)
    memory = MemoryLab(limiting(process, chat=1_000), lab, model)
    await memory.talk(60)

    report = await memory.consolidator.consolidate("web:ann")

    assert report.outcome == "unpaid"
    assert len(model.requests) + len(model.flushes) == 2
    assert await tokens_of(process) == 1_200


async def test_a_message_that_a_limit_refused_is_in_no_later_prompt_and_no_summary(
    process: Process, lab: Lab, clock: ManualClock
) -> None:
    process = limiting(process, chat=110)
    model = ScriptedModel(then=says("fine"))
    async with Bot(process, model).working():
        for message_id in ("before", "secret-1", "secret-2"):
            await lab.publish(message_id, text=f"{message_id} " + "why " * 500)
            await until(lab.is_idle)
        clock.advance(86_400)
        await lab.publish("after", text="after")
        await until(lab.is_idle)

    log = await lab.log()
    assert [entry.unpaid for entry in log if entry.answers] == [False, True, True, False]
    assert sum(entry.tokens for entry in log[2:6]) == 0, "nothing of it makes a consolidation due"
    prompt = b"".join(model.requests[-1].messages)
    assert b"before" in prompt
    assert b"secret" not in prompt
    assert b"reached its usage limit" not in prompt
    summaries = Summaries()
    memory = MemoryLab(replace(process, config=small_window(process.config)), lab, summaries)
    await memory.consolidator.consolidate("web:ann", ConsolidationRequest(at="now"))
    material = b"".join(wire for request in (*summaries.requests, *summaries.flushes) for wire in request.messages)
    assert b"before" in material
    assert b"secret" not in material
    assert b"reached its usage limit" not in material


async def test_nobody_is_asked_about_messages_that_limits_refused(process: Process, lab: Lab) -> None:
    process = limiting(process, chat=1)
    await spend(process, 1)
    async with Bot(process, ScriptedModel()).working():
        for number in range(4):
            await lab.publish(str(number))
            await until(lab.is_idle)

    summaries = Summaries()
    memory = MemoryLab(replace(process, config=small_window(process.config)), lab, summaries)
    report = await memory.consolidator.consolidate("web:ann", ConsolidationRequest(at="now"))

    assert report.outcome == "settled"
    assert report.upto
    assert not (summaries.requests or summaries.flushes)


async def test_a_call_that_is_cut_short_counts_as_its_prompt_and_what_it_said(process: Process, lab: Lab) -> None:
    gate = Gate()
    async with Bot(limiting(process, chat=1_000_000), ScriptedModel(["nine letters", gate, "more"])).working():
        await lab.publish("a")
        await gate.reached()
        await lab.publish("s", command="stop")
        await until(lab.is_idle)

    [amount] = (await UsageBook(lab.bus).read([DAY], by="session")).values()
    assert (amount.calls, amount.estimated, amount.tokens_out) == (1, 1, 4)
    assert amount.tokens_in > 100
    assert await reserved(lab) == {}


async def reserved(lab: Lab) -> dict[bytes, bytes]:
    found = await lab.bus.call("HGETALL", lab.bus.keys.usage_reserved(DAY))
    return dict(zip(found[::2], found[1::2], strict=True)) if isinstance(found, list) else dict(found)


@pytest.mark.parametrize("error", [ModelUnavailable("away"), ModelTimeout("slow")])
async def test_nothing_stays_reserved_for_a_call_that_failed(process: Process, lab: Lab, error: Exception) -> None:
    await lab.publish("a")
    await worked_off(limiting(process, chat=1_000_000), lab, ScriptedModel(error, "ok"))

    [amount] = (await UsageBook(lab.bus).read([DAY], by="session")).values()
    assert amount.estimated == isinstance(error, ModelTimeout), "a server that is away has not been paid"
    assert await reserved(lab) == {}


async def test_a_call_whose_reservation_is_unknown_is_not_made_and_nothing_stays_reserved(
    process: Process, lab: Lab
) -> None:
    """Redis carries the reservation out, and its answer is lost."""
    process = limiting(process, chat=1_000_000)
    payer_bus = FailingBus(process.bus, at=1, carried_out=True)
    process = replace(process, bus=payer_bus)
    payer = Payer(ledger=process.ledger, clock=process.clock, user=ANN, bot=process.bot("pond"), work="w")
    with pytest.raises(BusUnavailable):
        async with payer.call(Estimate(model="m", tokens_in=5), {}, wait_s=0):
            raise AssertionError("the call must not be made")

    assert await reserved(lab) == {}


async def test_a_turn_that_might_pass_a_limit_beside_another_waits_without_an_attempt(
    process: Process, lab: Lab
) -> None:
    """The longest answer alone is above the limit."""
    gate, second = Gate(), "web:ann:2"
    model = ScriptedModel([gate, says("one")], says("two"))
    async with Bot(limiting(process, person=1_000), model).working():
        await lab.publish("a")
        await gate.reached()
        await lab.publish("b", session=second)

        async def put_off() -> bool:
            return (await lab.state(second)).retry_at_ms > 0

        await until(put_off)
        assert len(model.requests) == 1
        gate.open()
        await until(lab.is_idle)
        await until(lambda: lab.is_idle(second))

    assert text_of((await lab.log(second))[-1]) == "two"
    assert (await lab.state(second)).attempts == 0
    assert len(model.requests) == 2


async def test_the_compact_command_says_that_a_limit_is_used_up(process: Process, lab: Lab) -> None:
    process, model = limiting(process, person=1_000), Summaries()
    memory = MemoryLab(process, lab, model)
    await memory.talk(30)
    await spend(process, 1_000)

    async with Bot(memory.process, model).working():
        await lab.publish("c", command="compact", text="/compact")
        await until(lab.is_idle)

    [notice] = await notices_of(lab)
    assert notice.text.startswith("The older messages were not summarized because today's usage limit")
    assert not model.requests


async def test_vectors_of_a_server_are_counted_and_a_search_uses_words_when_a_limit_is_used_up(
    process: Process, tmp_path: Path
) -> None:
    scope, index = "pond:person:web:ann", SmallIndex(["my cat sleeps", "tea in the afternoon"])
    async with fake_openai() as server:
        search = MemorySearchConfig(embeddings=EmbeddingsConfig(model="embedder", base_url=server.base_url))
        config = msgspec.structs.replace(limiting(process, person=1).config, memory_search=search)
        embedders = Embedders(config, process.clock, process.ledger)
        engine = VectorEngine(index, embedder_of=embedders.of, data_dir=tmp_path, clock=process.clock)
        first = await engine.search(scope, "cat", mode="query", limit=5)
        asked = len(server.requests)
        again = await engine.search(scope, "cat", mode="query", limit=5)
        await embedders.aclose()

    assert [hit.snippet for found in (first, again) for hit in found.hits] == ["my cat sleeps"] * 2
    assert len(server.requests) == asked == 1, "one call may pass the limit"
    accounts = await UsageBook(process.bus).read([DAY], by="person")
    assert {name: (amount.calls, amount.tokens_in) for name, amount in accounts.items()} == {"pond web:ann": (1, 2)}


async def test_calls_of_a_reranker_are_counted_and_the_order_stays_when_a_limit_is_used_up(process: Process) -> None:
    hits = [
        Hit(docid=text, file="memory/HISTORY.md", score=1.0, snippet=text)
        for text in ("tea in the afternoon", "my cat")
    ]
    async with fake_openai([Rerank()] * 2) as server:
        search = MemorySearchConfig(reranker=RerankerConfig(model="orders", base_url=server.base_url))
        config = msgspec.structs.replace(limiting(process, person=1).config, memory_search=search)
        engine = RerankingEngine(ScriptedEngine(*hits), config, process.clock, ledger=process.ledger)
        found = [await engine.search("pond:person:web:ann", "cat", mode="query", limit=1) for _ in range(2)]
        await engine.aclose()

    assert [hit.snippet for each in found for hit in each.hits] == ["my cat", "tea in the afternoon"]
    assert len(server.requests) == 1, "one call may pass the limit"
    accounts = await UsageBook(process.bus).read([DAY], by="person")
    assert {name: (amount.calls, amount.estimated) for name, amount in accounts.items()} == {"pond web:ann": (1, 1)}
