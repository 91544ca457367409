"""Several models in order, each a real server that goes wrong in its own way."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import anyio
import msgspec
import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from daemon.config.schema import FallbackConfig, ModelConfig
from daemon.errors import (
    ContextOverflow,
    ModelError,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    SetupFault,
)
from daemon.model import Answer, Model, Request, connect
from daemon.model.fallback_model import REST_MAX_S, REST_S, FallbackModel
from tests.fakes.openai_server import Events, Failure, FakeOpenAI, Hang, Plain, Reply, Say, delta, fake_openai
from tests.integration.test_openai_model import answer_of
from tests.limits import HANG_S

REQUEST = Request(
    messages=[msgspec.json.encode({"role": "user", "content": "hi"})], max_completion_tokens=8_000, tokens=10
)


@asynccontextmanager
async def chain(*scripts: Iterable[Reply], **second: object) -> AsyncIterator[tuple[Model, list[FakeOpenAI]]]:
    """A model with fallbacks, a server each; ``second`` are settings of the fallbacks."""
    async with fake_openai(scripts[0]) as one, fake_openai(scripts[1]) as two:
        settings = {"call_timeout_s": HANG_S, **second}
        fallback = FallbackConfig(base_url=two.base_url, name="two", **settings)  # type: ignore[arg-type]
        limit_s = 0.1 if scripts[0] == [Hang()] else HANG_S
        config = ModelConfig(base_url=one.base_url, name="one", call_timeout_s=limit_s, fallbacks=(fallback,))
        model = await connect(config)
        try:
            yield model, [one, two]
        finally:
            await model.aclose()


async def ask(model: Model, request: Request = REQUEST) -> tuple[str, Answer]:
    texts, answer = await answer_of(model, request)
    return "".join(texts), answer


def skip_rests(model: Model) -> None:
    assert isinstance(model, FallbackModel)
    for rung in model._rungs:
        rung._rests_until = 0.0


@pytest.mark.parametrize(
    "reply",
    [
        *(Failure(500), Failure(429), Failure(429, headers={"Retry-After": "60"}), Failure(401), Failure(404)),
        *(
            Failure(400, "too long", code="context_length_exceeded"), Hang(), Say(""), Plain(b"<html>"),
            Say(finish="length"),
        ),
        *(Events([b"data: {broken\n\n"]), Events([delta()], abort=True), Events([delta(reasoning="hm")], done=False)),
        Events([delta(content="<think>hm"), delta(finish="length")]),
    ],
)  # fmt: skip
async def test_whatever_is_wrong_before_any_text_the_next_model_answers(reply: Reply) -> None:
    async with chain([reply], [Say("two answers")]) as (model, _):
        with capture_logs() as logs:
            shown, answer = await ask(model)

    assert (shown, answer.text, answer.model) == ("two answers", "two answers", "two")
    assert [(log["event"], log["model"]) for log in logs] == [("model.failed", "one")]


async def test_what_a_cut_off_answer_cost_goes_along_with_the_next_models_answer() -> None:
    async with chain([Say(finish="length", usage=(300, 20))], [Say("two answers")]) as (model, _):
        _, answer = await ask(model)

    assert [(before.model, before.usage.tokens_in) for before in answer.cut_off] == [("one", 300)]


async def test_nobody_there_is_no_different() -> None:
    async with fake_openai() as gone:
        pass
    async with fake_openai([Say("two answers")]) as two:
        fallback = FallbackConfig(base_url=two.base_url, name="two")
        model = await connect(ModelConfig(base_url=gone.base_url, name="one", fallbacks=(fallback,)))
        _, answer = await ask(model)
        await model.aclose()

    assert answer.model == "two"


async def test_after_text_was_shown_the_call_fails_and_the_next_one_begins_with_another_model() -> None:
    async with chain([Events([delta(content="half")], abort=True)], [Say("whole")]) as (model, servers):
        with pytest.raises(ModelUnavailable):
            await ask(model)
        asked = len(servers[1].requests)
        shown, _ = await ask(model)

    assert (asked, shown) == (0, "whole")


async def test_a_model_that_failed_is_asked_last_for_a_while_and_then_by_one_call_alone() -> None:
    async with chain([Failure(500)] * 2 + [Say("back")], [Say("two")] * 9) as (model, (one, two)):
        for _ in range(3):
            await ask(model)
        assert (len(one.requests), len(two.requests)) == (1, 3)

        skip_rests(model)
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(ask, model)
        assert len(one.requests) == 2

        skip_rests(model)
        assert (await ask(model))[1].model == "one"
        assert (await ask(model))[1].model == "one"


async def test_rests_grow_with_each_failure_up_to_a_limit_and_follow_a_rate_limit() -> None:
    rests = []
    async with chain([Failure(500)] * 8 + [Failure(429, headers={"Retry-After": "90"})], [Say("two")] * 9) as (
        model,
        _,
    ):
        assert isinstance(model, FallbackModel)
        for _ in range(9):
            skip_rests(model)
            await ask(model)
            rests.append(round(model._rungs[0]._rests_until - anyio.current_time()))

    assert rests == [REST_S, 2 * REST_S, 4 * REST_S, 8 * REST_S, 16 * REST_S, *[REST_MAX_S] * 3, 90]


async def test_a_model_whose_answer_could_not_be_used_is_asked_first_again() -> None:
    async with chain([Say(""), Say("one")], [Say("two")]) as (model, _):
        first, second = await ask(model), await ask(model)

    assert (first[0], second[0]) == ("two", "one")


async def test_resting_models_are_asked_all_the_same_when_no_other_is_left() -> None:
    async with chain([Failure(500), Say("one")], [Failure(500), Failure(500)]) as (model, _):
        with pytest.raises(ModelUnavailable):
            await ask(model)

        assert (await ask(model))[0] == "one"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Failure(429, headers={"Retry-After": "60"}), RateLimited),
        (Failure(401), SetupFault),
        (Hang(), ModelTimeout),
        (Failure(400, "too long", code="context_length_exceeded"), ContextOverflow),
    ],
)
async def test_when_none_answers_the_error_is_that_of_the_first(reply: Reply, kind: type[ModelError]) -> None:
    async with chain([reply], [Failure(503)]) as (model, servers):
        with pytest.raises(ModelError) as caught:
            await ask(model)

    assert type(caught.value) is kind
    assert [len(server.requests) for server in servers] == [1, 1]


async def test_a_fallback_is_passed_over_when_the_prompt_does_not_fit_it() -> None:
    async with chain([Failure(500)] * 2, [Say("two")], context_window_tokens=8_192) as (model, (one, two)):
        with pytest.raises(ModelUnavailable):
            await ask(model, replace(REQUEST, tokens=6_000))
        assert (len(one.requests), len(two.requests)) == (1, 0)

        assert (await ask(model))[0] == "two"
    assert two.requests[0].body["max_completion_tokens"] == 2_048


async def test_a_cancelled_call_is_no_failure() -> None:
    async with chain([Hang(), Say("one")], []) as (model, (one, _)):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, model)
            await one.asked.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(HANG_S):
            await one.client_left.wait()

        assert (await ask(model))[0] == "one"
