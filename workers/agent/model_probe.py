"""Tests a model with tools, with a second round after a tool result, and with a picture.

``millpond doctor --probe-model`` and ``millpond init`` tell what was found; a provider charges for three short calls.
"""

from collections.abc import Sequence
from contextlib import aclosing

import msgspec

from daemon.config import BotConfig, ModelConfig
from daemon.errors import ConfigError, InvalidAnswer, ModelRefused
from daemon.model import Answer, CutOff, Model, OnlyThought, Request, connect, learnt_of, with_own
from workers.message_format import encode, message
from workers.tools import BUILTIN

TOOL = "time"
TOKENS = 1_024
"""Longest answer, beside the budget for thinking: a model that thinks first needs some hundred."""

ASK = message(
    "user", f"Call the tool {TOOL} now, without arguments. Then tell me in a few words what the tool returned."
)
PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52f"
    "TcuYAAAAAElFTkSuQmCC"
)
"""Ten red pixels by ten: the smallest that servers take."""
LOOK = message(
    "user",
    [
        {"type": "text", "text": "Which color is this, in one word?"},
        {"type": "image_url", "image_url": {"url": PICTURE}},
    ],
)


async def probe(bot: BotConfig, model: ModelConfig) -> list[str]:
    """What was found out about one model of a bot, a sentence each; nothing when all is as expected.

    Raises:
        ModelError: it does not answer.
        ConfigError: it cannot be asked.
    """
    try:
        tools = BUILTIN.only({*bot.tools, TOOL}).definitions
    except ConfigError:  # which the doctor tells of by itself
        tools = BUILTIN.only([TOOL]).definitions
    asked = await connect(model)
    try:
        tokens = TOKENS + model.thinking.budget_tokens
        found = [*await _tools(asked, tools, tokens), *(await _picture(asked, tokens) if model.vision else ())]
        return [*found, *learnt_of(model).lines(model)]
    finally:
        await asked.aclose()


async def _tools(model: Model, tools: Sequence[bytes], tokens: int) -> list[str]:
    answer = await answer_of(model, [ASK], tools, tokens)
    if not answer.tool_calls:
        return [f"the model was asked to call the tool {TOOL} but did not, so tools may not work with this model"]
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.tool_calls
    ]
    said = {"role": "assistant", **({"content": answer.text} if answer.text else {}), "tool_calls": calls}
    results = [encode({"role": "tool", "content": "09:00", "tool_call_id": call["id"]}) for call in calls]
    again = await answer_of(model, [ASK, with_own(encode(said), answer.own), *results], tools, tokens)
    return [] if again.text.strip() else ["the model returned no text after the result of a tool"]


async def _picture(model: Model, tokens: int) -> list[str]:
    try:
        await answer_of(model, [LOOK], (), tokens)
    except (ModelRefused, InvalidAnswer) as error:
        return [f"the model does not accept pictures ({str(error).rstrip('.')}). Set model.vision = false"]
    return []


async def answer_of(model: Model, messages: Sequence[bytes], tools: Sequence[bytes], tokens: int) -> Answer:
    """The model's answer, also where it was cut off or is reasoning alone.

    Raises:
        ModelError: it does not answer.
    """
    request = Request(messages=messages, tools=tools, max_completion_tokens=tokens)
    try:
        async with aclosing(model.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, Answer):
                    return chunk
    except (CutOff, OnlyThought) as error:
        return msgspec.structs.replace(error.answer, text=error.answer.text or "…")
    raise InvalidAnswer("the model's stream ended without an answer")
