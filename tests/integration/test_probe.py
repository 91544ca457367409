"""A model is tried with what a bot really uses, and what was learnt of it is told."""

import pytest

from daemon.config import BotConfig, ModelConfig
from daemon.errors import ModelRefused
from tests.fakes.openai_server import Failure, Script, fake_openai
from tests.fakes.providers import DeepSeek, Mistral, Ollama, Provider
from workers.agent.bot_checks import probe


class Blind(Provider):
    def refusal(self, body: dict[str, object]) -> str:
        return "this model does not support image input" if "image_url" in str(body["messages"]) else ""


async def found(script: Script, **model: object) -> list[str]:
    async with fake_openai(script) as server:
        bot = BotConfig(tools=("time", "read_file"))
        return await probe(bot, ModelConfig(base_url=server.base_url, name="m", **model))  # type: ignore[arg-type]


async def test_a_model_that_can_do_everything_leaves_nothing_to_say() -> None:
    provider = Provider()

    assert await found(provider) == []
    assert [prompt[-1]["role"] for prompt in provider.prompts] == ["user", "tool", "user"]


async def test_what_was_learnt_is_told() -> None:
    assert await found(Mistral()) == [
        "Millpond adjusts its requests to this server: the maximum answer length is sent as the parameter max_tokens"
    ]
    assert await found(DeepSeek()) == [
        "Millpond adjusts its requests to this server: the maximum answer length is sent as the parameter max_tokens"
    ]


async def test_a_model_without_tools_is_told_of() -> None:
    assert await found(Ollama()) == [
        "the model was asked to call the tool time but did not, so tools might not work with this model",
        "Millpond adjusts its requests to this server: the tool_choice setting cannot force a tool call on this "
        "server, tools are not sent",
    ]


async def test_a_model_without_pictures_is_told_of() -> None:
    assert await found(Blind()) == ["Millpond adjusts its requests to this server: pictures are not sent"]
    assert await found(Blind(), vision=False) == []


async def test_a_model_that_refuses_everything_is_an_error() -> None:
    async with fake_openai(lambda _body: Failure(401)) as server:
        with pytest.raises(ModelRefused):
            await probe(BotConfig(), ModelConfig(base_url=server.base_url, name="m"))
