"""Answers that end too early, hold reasoning alone, or whose prompt was too large: what a turn makes of them."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from daemon.config import BotConfig, ModelConfig
from daemon.errors import ContentFiltered, InvalidAnswer, ModelRefused
from daemon.model import Answer, CutOff, OnlyThought, Usage
from daemon.process import Process
from daemon.testing import ScriptedModel
from daemon.tokens import calibration
from daemon.wording import text as say
from tests.conftest import Lab
from tests.integration.test_turns import Bot, calls_time, wire
from tests.limits import until


async def answered(process: Process, lab: Lab, model: ScriptedModel) -> str:
    async def nobody_waits() -> bool:
        state = await lab.state()
        return state.exists and state.waiting == 0 and not state.worker

    async with Bot(process, model).working():
        await until(nobody_waits)
    return str(wire((await lab.log())[-1])["content"])


def cut(text: str, *, reason: str = "length", is_call: bool = False) -> CutOff:
    answer = Answer(text=text, usage=Usage(tokens_in=10, tokens_out=5), model="scripted")
    return CutOff("it is cut off", finish_reason=reason, answer=answer, is_call=is_call)


def only_thought() -> OnlyThought:
    return OnlyThought("nothing but reasoning", answer=Answer(text="", reasoning="hm", model="scripted"))


async def said(process: Process, lab: Lab, *calls: Any) -> tuple[str, ScriptedModel]:
    model = ScriptedModel(*calls)
    await lab.publish("a")
    return await answered(process, lab, model), model


async def test_an_answer_that_reached_the_limit_is_continued_where_it_ended(process: Process, lab: Lab) -> None:
    text, model = await said(process, lab, ["one ", cut("one ")], ["two ", cut("two ")], "three")

    assert text == "one two three"
    assert [
        wire["content"] for wire in map(msgspec.json.decode, model.requests[2].messages) if wire["role"] == "assistant"
    ] == ["one two "]
    assert len(await lab.log()) == 2


async def test_after_two_continuations_it_is_delivered_and_marked_as_cut(process: Process, lab: Lab) -> None:
    text, model = await said(process, lab, *[["on ", cut("on ")]] * 3)

    assert text == f"on on on\n\n{say('cut_short', 'en')}"
    assert len(model.requests) == 3


async def test_a_call_cut_in_half_is_asked_for_again_with_more_room(process: Process, lab: Lab) -> None:
    text, model = await said(process, lab, ["", cut("", is_call=True)], calls_time(), "it is late")

    first, second = model.requests[:2]
    assert text == "it is late"
    assert second.max_completion_tokens == 2 * first.max_completion_tokens


async def test_a_call_that_is_cut_in_half_twice_is_told_after_two_requests(process: Process, lab: Lab) -> None:
    text, model = await said(process, lab, *[["", cut("", is_call=True)]] * 2)

    assert (text, len(model.requests)) == (say("call_too_long", "en"), 2)


async def test_a_content_filter_is_told_after_one_request(process: Process, lab: Lab) -> None:
    text, model = await said(process, lab, ["Well, ", cut("Well, ", reason="content_filter")])

    assert (text, len(model.requests)) == (f"Well,\n\n{say('filtered', 'en')}", 1)


async def test_a_prompt_that_a_content_filter_refuses_is_told_after_one_request(process: Process, lab: Lab) -> None:
    text, model = await said(process, lab, ContentFiltered("the content filter refuses the request", status=400))

    assert (text, len(model.requests)) == (say("prompt_filtered", "en"), 1)


async def test_an_answer_of_reasoning_alone_is_asked_for_once_more_and_then_told(process: Process, lab: Lab) -> None:
    text, model = await said(process, lab, only_thought(), only_thought())

    assert (text, len(model.requests)) == (say("only_thought", "en"), 2)


async def test_an_answer_after_reasoning_alone_is_the_answer(process: Process, lab: Lab) -> None:
    text, _ = await said(process, lab, only_thought(), "here")

    assert text == "here"


async def test_what_cut_off_answers_cost_is_accounted(process: Process, lab: Lab) -> None:
    await said(process, lab, ["one ", cut("one ")], "two")

    used = await lab.bus.each(
        [("HGETALL", key) for key in await lab.bus.call("KEYS", f"{lab.bus.keys.prefix}:*usage*")]
    )
    assert b"10" in [value for fields in used for value in fields.values()]


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_large_prompt_that_is_refused_for_no_known_reason_is_halved_once_and_its_size_remembered(
    process: Process, lab: Lab, status: int
) -> None:
    name = f"small-{status}"
    bots = {"pond": BotConfig(model=ModelConfig(name=name, base_url="http://127.0.0.1:9/v1"))}
    configured = replace(process, config=msgspec.structs.replace(process.config, bots=bots))
    model = Sized(name, most_tokens=4_000, status=status)
    await lab.publish("a", text="heron " * 3_000)

    assert await answered(configured, lab, model) == "ok"
    assert [request.tokens > 4_000 for request in model.requests] == [True, False]
    assert calibration(name, "http://127.0.0.1:9/v1").lowered(50_000) == model.requests[1].tokens


class Full(ScriptedModel):
    """Has no room left for an answer to what is too large for it."""

    def __init__(self, name: str, error: InvalidAnswer) -> None:
        super().__init__()
        self.name = name
        self._error = error

    async def stream(self, request: Any) -> Any:
        if request.tokens > 4_000:
            self.requests.append(request)
            raise self._error
        async for chunk in super().stream(request):
            yield chunk


@pytest.mark.parametrize(("kind", "refused"), [("empty", 2), ("cut off", 1)])
async def test_a_large_prompt_without_room_for_an_answer_is_halved(
    process: Process, lab: Lab, kind: str, refused: int
) -> None:
    error = (
        CutOff("no room", finish_reason="length", answer=Answer(text="")) if refused == 1 else InvalidAnswer("empty")
    )
    error.is_empty = kind == "empty"
    model = Full(kind, error)
    await lab.publish("a", text="heron " * 3_000)

    assert await answered(process, lab, model) == "ok"
    assert [request.tokens > 4_000 for request in model.requests] == [*[True] * refused, False]


async def test_a_small_prompt_that_is_refused_is_not_sent_again(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Parts of a prompt of fewer than 3,000 tokens cannot be left out anyway.
    monkeypatch.setattr("workers.agent.model_calls.LARGE_TOKENS", 10_000)
    model = Sized("tiny", most_tokens=0, status=400)
    await lab.publish("a", text="heron " * 2_000)

    await answered(process, lab, model)

    # The request of 0 tokens only tests whether the model answers.
    assert len({request.tokens for request in model.requests} - {0}) == 1


class Sized(ScriptedModel):
    """Refuses what is too large for it in words that nobody knows."""

    def __init__(self, name: str, *, most_tokens: int, status: int) -> None:
        super().__init__()
        self.name = name
        self._most_tokens, self._status = most_tokens, status

    async def stream(self, request: Any) -> Any:
        if request.tokens > self._most_tokens:
            self.requests.append(request)
            raise ModelRefused("no, thank you", status=self._status)
        async for chunk in super().stream(request):
            yield chunk
