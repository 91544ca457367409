"""Facts about a model's server outlive the worker that learned them, and the doctor reports them."""

import json
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from daemon.cli.doctor.model_checks import examine_caching, examine_models
from daemon.config import BotConfig, Config, ModelConfig, PricesConfig
from daemon.config.memory_settings import MemorySearchConfig
from daemon.model import LearntDialect, Request, Unsaid, connect, dialect, learnt_of, recall, remember
from daemon.model.dialect import Dialect, host_of, learn, server_of
from daemon.process import Process
from daemon.testing import ManualClock
from daemon.tokens import calibration
from daemon.usage import Amount, UsageBook, User
from tests.conftest import Lab
from tests.fakes.openai_server import fake_openai
from tests.fakes.providers import Ollama, Provider
from tests.integration.test_providers import forget
from tests.integration.test_turns import Bot
from tests.limits import until

MODEL = ModelConfig(base_url="http://127.0.0.1:9/v1", name="small")


@pytest.fixture(autouse=True)
def ignorant() -> None:
    forget()


async def test_another_process_uses_what_was_learnt(lab: Lab) -> None:
    learn(host_of(MODEL.base_url), MODEL.name, Dialect(tools=False))
    calibration(MODEL.name, MODEL.base_url).fits(3_000)
    learnt = learnt_of(MODEL)
    await remember(lab.bus, MODEL)

    forget()
    await recall(lab.bus, MODEL)

    assert learnt_of(MODEL) == learnt != LearntDialect()


async def test_another_window_in_the_configuration_is_tried_as_it_is(lab: Lab) -> None:
    calibration(MODEL.name, MODEL.base_url).fits(3_000)
    await remember(lab.bus, MODEL)

    forget()
    await recall(lab.bus, msgspec.structs.replace(MODEL, context_window_tokens=8_192))

    assert calibration(MODEL.name, MODEL.base_url).window_tokens is None


async def test_a_fact_is_forgotten_after_a_week_and_one_that_cannot_be_read_at_once(lab: Lab) -> None:
    learn(host_of(MODEL.base_url), MODEL.name, Dialect(tools=False))
    await remember(lab.bus, MODEL)
    [key] = await lab.bus.call("KEYS", f"{lab.bus.keys.prefix}:learnt:*")
    assert 0 < await lab.bus.call("TTL", key) <= 7 * 86_400

    forget()
    await lab.bus.call("SET", key, "{", "EX", 60)
    await recall(lab.bus, MODEL)

    assert learnt_of(MODEL) == LearntDialect()


async def test_a_guessed_window_is_used_for_an_hour(lab: Lab) -> None:
    guess = calibration(MODEL.name, MODEL.base_url)
    guess.fits(3_000, is_guess=True)
    await remember(lab.bus, MODEL)
    [key] = await lab.bus.call("KEYS", f"{lab.bus.keys.prefix}:learnt:*")
    assert 0 < await lab.bus.call("TTL", key) <= 3_600

    assert guess.lowered(50_000) == 3_000
    guess._kept_until = 0.0
    assert guess.lowered(50_000) == 50_000


async def test_the_doctor_reports_what_a_worker_learnt(process: Process, lab: Lab) -> None:
    async with fake_openai(Ollama()) as server:
        model = ModelConfig(base_url=server.base_url, name="llama")
        config = msgspec.structs.replace(process.config, bots={"pond": BotConfig(model=model)})
        await lab.publish("m", text="hello")
        async with Bot(replace(process, config=config), await connect(model)).working():
            await until(lambda: asked(lab))
    calibration(model.name, model.base_url).fits(3_000)
    await remember(lab.bus, model)

    [finding] = await examine_models(lab.bus, config)

    assert (finding.check, finding.state) == ("server of llama", "warning")
    assert finding.text == (
        "the server rejected prompts larger than 3000 tokens, so Millpond now keeps prompts for this model below "
        "that size. Set model.context_window_tokens (now 65536) to the model's real window; Millpond adjusts its "
        "requests to this server: the tool_choice setting cannot force a tool call on this server, tools are not sent"
    )


async def asked(lab: Lab) -> bool:
    return bool(await lab.bus.call("KEYS", f"{lab.bus.keys.prefix}:learnt:*"))


async def test_the_doctor_warns_of_cached_tokens_without_a_price_of_their_own(lab: Lab) -> None:
    user = User(bot="pond", session="web:ann", channel="web", sender_id="ann")
    await UsageBook(lab.bus).note("a", user, "2026-11-20", {"m": Amount(calls=1, cacheable_in=90, cached_in=9)})
    found: list[list[str]] = []
    for prices in (PricesConfig(input=1.0), PricesConfig(input=1.0, cached_input=0.1), PricesConfig()):
        config = Config(bots={"pond": BotConfig(model=ModelConfig(name="m", prices=prices))})
        found.append([finding.check for finding in await examine_caching(lab.bus, config, ManualClock())])

    assert found == [["prices of pond"], [], []]


REFUSES_KEY = Dialect(key=False)


def cached(tokens: int, *, calls: int = 50, of: int = 100_000) -> Amount:
    return Amount(calls=calls, tokens_in=10**6, cacheable_in=of, cached_in=tokens)


@pytest.mark.parametrize(
    ("used", "place", "learnt", "expected"),
    [
        (cached(50_000), "user", None, ("ok", "50% of the input tokens since yesterday came from the")),
        (cached(49_000), "user", None, ("warning", "Likely causes are long pauses between messages")),
        (cached(49_000), "system", None, ("warning", 'Set memory_search.place to "user".')),
        (cached(49_000), "user", REFUSES_KEY, ("warning", "The server of llama rejected prompt cache markers")),
        (cached(49_000, calls=49), "system", None, None),
        (cached(0, of=51_199), "system", None, None),  # prompts that no provider caches
        (cached(0, of=0), "system", None, None),  # no provider reports cached tokens
    ],
)
async def test_the_doctor_warns_of_a_bot_whose_prompts_are_seldom_cached(
    lab: Lab, used: Amount, place: Any, learnt: Dialect | None, expected: tuple[str, str] | None
) -> None:
    model = ModelConfig(base_url="http://127.0.0.1:9/v1", name="llama")
    config = Config(bots={"pond": BotConfig(model=model)}, memory_search=MemorySearchConfig(place=place))
    user = User(bot="pond", session="web:ann", channel="web", sender_id="ann")
    for day, amount in (("2026-11-18", cached(10**8, of=10**8)), ("2026-11-19", used)):  # the first is too long ago
        await UsageBook(lab.bus).note(day, user, day, {"llama": amount})
    if learnt:
        learn(server_of(model), model.name, learnt)
        await remember(lab.bus, model)

    found = await examine_caching(lab.bus, config, ManualClock())

    assert [finding.check for finding in found] == (["prompt cache of pond"] if expected else [])
    for finding in found:
        assert expected is not None and finding.state == expected[0] and expected[1] in finding.text


class Refusing(Provider):
    """Refuses each request that contains one of these words."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self._words = words

    def refusal(self, body: dict[str, Any]) -> str:
        found = [word for word in self._words if word in json.dumps(body)]
        return f"{found[0]}: Extra inputs are not permitted" if found else ""


@pytest.mark.parametrize("hints", [("prompt_cache_key",), ("cache_control",), ("prompt_cache_key", "cache_control")])
async def test_a_refused_hint_for_prompt_caches_is_left_out_by_all_workers(
    lab: Lab, hints: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(dialect.PROVIDERS, "127.0.0.1", Dialect(marks=True))  # as OpenRouter
    provider = Refusing(*hints)
    async with fake_openai(provider) as server:
        config = ModelConfig(base_url=server.base_url, name="anthropic/claude")
        messages = [b'{"role":"system","content":"You are."}', b'{"role":"user","content":"hi"}']
        request = Request(messages=messages, max_completion_tokens=9, current=1, cache_key="k")
        for _worker in range(2):
            forget()
            await recall(lab.bus, config)
            model = await connect(config)
            for _ in range(2):
                async with aclosing(model.stream(request)) as said:
                    assert [chunk.text async for chunk in said if not isinstance(chunk, Unsaid)][-1] == "done"
            await model.aclose()
            await remember(lab.bus, config)
        last = server.requests[-1].body

    assert len(provider.refusals) == len(hints)
    for hint in ("prompt_cache_key", "cache_control"):
        assert (hint in json.dumps(last)) is (hint not in hints)
