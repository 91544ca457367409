"""Whole conversations with servers that are as strict as today's providers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from daemon.config import BotConfig, FallbackConfig, ModelConfig
from daemon.model import connect, dialect
from daemon.process import Process
from tests.conftest import Lab
from tests.fakes import providers
from tests.fakes.openai_server import fake_openai
from tests.fakes.providers import Gemini, Ollama, Provider
from tests.integration.test_turns import Bot, wire
from tests.limits import until

STRICT = [each for each in vars(providers).values() if isinstance(each, type) and issubclass(each, Provider)]
REFUSALS_MOST = 3
"""In a process, of a server that takes none of three things: a request for each is refused, and none ever again."""
WORKERS = 8  # one for each message


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
        dialect._learnt.clear()
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


@asynccontextmanager
async def conversing(process: Process, lab: Lab, first: Provider, second: Provider) -> AsyncIterator[Conversation]:
    async with fake_openai(first) as one, fake_openai(second) as two:
        fallback = FallbackConfig(base_url=two.base_url, name="second")
        config = ModelConfig(base_url=one.base_url, name="first", fallbacks=(fallback,))
        yield Conversation(process, lab, config)


@pytest.mark.parametrize("strict", STRICT, ids=lambda each: each.__name__)
async def test_a_conversation_with_tools_goes_on_with_each_provider(
    process: Process, lab: Lab, strict: type[Provider]
) -> None:
    provider, other = strict(), Gemini()

    async with conversing(process, lab, provider, other) as conversation:
        said = [
            await conversation.say("look at the clock"),
            await conversation.say("and at the clock again"),
            await conversation.say("/model second", command="model"),
            await conversation.say("the clock, please"),
            await conversation.say("/model first", command="model"),
            await conversation.say("once more, the clock"),
            await conversation.say("/compact", command="compact"),
            await conversation.say("thanks"),
        ]

    log = [wire(entry) for entry in await lab.log()]
    answers = [text.strip().removeprefix("\U0001f600 ") for text in said]
    assert answers == ["done"] * len(said)
    assert sum(message["role"] == "tool" for message in log) == (1 if strict is Ollama else 4)
    assert "secret" not in str([message["content"] for message in log if "content" in message])
    assert len(provider.refusals) <= REFUSALS_MOST * WORKERS, provider.refusals
    assert other.refusals == []
