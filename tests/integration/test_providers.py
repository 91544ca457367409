"""Whole conversations with servers that are as strict as today's providers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from daemon import tokens
from daemon.config import BotConfig, FallbackConfig, ModelConfig
from daemon.model import connect, dialect, dialect_store
from daemon.process import Process
from tests.conftest import Lab
from tests.fakes import providers
from tests.fakes.openai_server import Failure, Reply, fake_openai
from tests.fakes.providers import DeepSeek, Gemini, Kimi, Ollama, Provider
from tests.integration.test_turns import Bot, wire
from tests.limits import until

STRICT = [each for each in vars(providers).values() if isinstance(each, type) and issubclass(each, Provider)]
REFUSALS_MOST = 3  # A server that accepts none of three things refuses a request for each, and none of a later worker's


def forget() -> None:
    """Leave this process as ignorant of servers as a new one is."""
    for facts in (dialect._learnt, dialect_store._saved, tokens._calibrations):
        facts.clear()


class Conversation:
    """A person, a bot with two models, and workers that come and go."""

    def __init__(self, process: Process, lab: Lab, config: ModelConfig) -> None:
        bots = {"pond": BotConfig(model=config, admins=("web:ann",))}
        self.process = replace(process, config=msgspec.structs.replace(process.config, bots=bots))
        self.lab = lab
        self.config = config
        self._number = 0

    async def say(self, text: str, **more: Any) -> str:
        """What the bot says to that; a worker begins for it and ends after it, as after a restart."""
        forget()
        self._number += 1
        await self.lab.publish(f"m{self._number}", text=text, **more)

        async def nobody_waits() -> bool:
            state = await self.lab.state()
            return state.waiting == 0 and not state.worker

        model = await connect(self.config)
        async with Bot(self.process, model).working():
            await until(nobody_waits)
        await model.aclose()
        return str(wire((await self.lab.log())[-1])["content"])


TALK = (
    ("look at the clock", ""),
    ("and at the clock again", ""),
    ("/model second", "model"),
    ("the clock, please", ""),
    ("/model first", "model"),
    ("once more, the clock", ""),
    ("/compact", "compact"),
    ("thanks", ""),
)
"""Each with the command that it is: turns with tools, another model and back, and a consolidation."""


async def talk(conversation: Conversation) -> list[str]:
    return [await conversation.say(text, **({"command": command} if command else {})) for text, command in TALK]


@asynccontextmanager
async def conversing(process: Process, lab: Lab, first: Provider, second: Provider) -> AsyncIterator[Conversation]:
    async with fake_openai(first) as one, fake_openai(second) as two:
        fallback = FallbackConfig(base_url=two.base_url, name="second")
        config = ModelConfig(base_url=one.base_url, name="first", fallbacks=(fallback,))
        yield Conversation(process, lab, config)


@pytest.mark.parametrize("strict", STRICT, ids=lambda each: each.__name__)
async def test_a_conversation_with_tools_goes_on_with_each_provider(process: Process, lab: Lab, strict: type[Provider]):
    provider, other = strict(), Gemini()

    async with conversing(process, lab, provider, other) as conversation:
        said = await talk(conversation)

    log = [wire(entry) for entry in await lab.log()]
    answers = [text.strip().removeprefix("\U0001f600 ") for text in said]
    assert answers == ["done"] * len(said)
    assert sum(message["role"] == "tool" for message in log) == (1 if strict is Ollama else 4)
    assert "secret" not in str([message["content"] for message in log if "content" in message])
    assert len(provider.refusals) <= REFUSALS_MOST, provider.refusals
    assert other.refusals == []


class Failing(Provider):
    def __call__(self, body: dict[str, Any]) -> Reply:
        return super().__call__(body) if not self.prompts else Failure(503)


@pytest.mark.parametrize("strict", [DeepSeek, Kimi, Gemini], ids=lambda each: each.__name__)
async def test_another_model_takes_over_in_the_middle_of_a_turn(process: Process, lab: Lab, strict: type[Provider]):
    async with conversing(process, lab, Failing(), strict()) as conversation:
        assert await conversation.say("look at the clock") == "done"
