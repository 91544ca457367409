"""Token counts of providers, read from the ``usage`` object of a response.

Providers name cached tokens differently, and count them as a part of the prompt (OpenAI, OpenRouter, xAI, Mistral,
DeepSeek, Kimi, Gemini) or beside the prompt (Anthropic's ``input_tokens``).

https://openrouter.ai/docs/guides/best-practices/prompt-caching
https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance
https://api-docs.deepseek.com/guides/kv_cache
https://ai.google.dev/gemini-api/docs/caching
"""

from collections.abc import Sequence
from typing import cast

import msgspec
from anyio import to_thread
from msgspec.structs import replace

from daemon.config.bot_settings import PricesConfig
from daemon.config.schema import ModelConfig
from daemon.errors import UNREADABLE, ContextOverflow, ModelRefused, ModelTimeout, ModelUnavailable
from daemon.model.chat_model import Answer, Request, Usage
from daemon.tokens import calibration, load

# What a call cost: as the provider counted it, or else as we do, at the prices of the configuration.

NANO_PER_TOKEN = 1_000
"""Billionths of a currency's unit that a token costs at a price of 1 for a million tokens."""


class CostMeter:
    """Accounts for the calls of one model."""

    def __init__(self, config: ModelConfig) -> None:
        self._name = config.name
        self._server = config.base_url
        self._prices = config.prices

    async def read(self, answer: Answer, request: Request) -> Answer:
        """``answer`` with its usage complete and priced; what the provider counted calibrates our own counts."""
        usage = answer.usage
        if usage.estimated:
            usage = await self._estimate(answer, request)
        else:
            calibration(self._name, self._server).learn(request.tokens, usage.tokens_in)
        return replace(answer, usage=priced(usage, self._prices))

    async def _estimate(self, answer: Answer, request: Request) -> Usage:
        tokenizer = await load(self._name)

        def count_prompt() -> int:
            messages = sum(map(tokenizer.count_message, request.messages))
            return messages + sum(tokenizer.count(tool.decode()) for tool in request.tools)

        calls = (text for call in answer.tool_calls for text in (call.name, call.arguments))
        said = "\n".join((answer.reasoning, answer.text, *calls)).strip()
        tokens_in = request.tokens or await to_thread.run_sync(count_prompt)
        return Usage(tokens_in=tokens_in, tokens_out=await tokenizer.acount(said), estimated=True)


def is_charged(error: BaseException, said: Sequence[str] = ()) -> bool:
    """Whether a provider charges for a call that ended so, after it had ``said`` something.

    It does not if it refused the request, or could not be reached. Of a call that was cut short it never says.
    """
    if isinstance(error, ModelRefused | ContextOverflow):
        return False
    return bool(said) or isinstance(error, ModelTimeout) or not isinstance(error, ModelUnavailable)


def priced(usage: Usage, prices: PricesConfig) -> Usage:
    """``usage`` with what it costs."""
    cached = usage.cached_in * (prices.input if prices.cached_input is None else prices.cached_input)
    written = usage.written_in * (prices.input if prices.cache_write is None else prices.cache_write)
    fresh = (usage.tokens_in - usage.cached_in - usage.written_in) * prices.input
    cost = fresh + written + cached + usage.tokens_out * prices.output
    return replace(
        usage,
        cost_nano=round(cost * NANO_PER_TOKEN),
        cached_nano=round(cached * NANO_PER_TOKEN),
        currency=prices.currency,
    )


_PROMPT = (("prompt_tokens",), ("input_tokens",))
_COMPLETION = (("completion_tokens",), ("output_tokens",))
_CACHED = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),  # OpenAI's Responses API
    ("prompt_cache_hit_tokens",),  # DeepSeek
    ("cache_read_input_tokens",),  # Anthropic
    ("cached_tokens",),  # Kimi
    ("cachedContentTokenCount",),  # Gemini, and below as its SDK writes the name
    ("cached_content_token_count",),
)
_WRITTEN = (
    ("prompt_tokens_details", "cache_write_tokens"),
    ("input_tokens_details", "cache_write_tokens"),
    ("prompt_tokens_details", "cache_creation_tokens"),  # LiteLLM
    ("cache_creation_input_tokens",),
)


def usage_in(given: object) -> Usage | None:
    """The counts of a provider, or None if the prompt's tokens are missing or unreadable."""
    prompt = _first(given, _PROMPT)
    if not prompt:
        return None
    cached, written = _first(given, _CACHED), _first(given, _WRITTEN) or 0
    if _is_beside(given, prompt, (cached or 0) + written):
        prompt += (cached or 0) + written
    cached_in = min(cached or 0, prompt)
    return Usage(
        tokens_in=prompt,
        cached_in=cached_in,
        written_in=min(written, prompt - cached_in),
        reports_cached=cached is not None,
        tokens_out=_first(given, _COMPLETION) or 0,
    )


def _is_beside(given: object, prompt: int, cached: int) -> bool:
    """Whether the prompt's count leaves out the cached tokens, as Anthropic's count does."""
    if _count(given, ("cache_read_input_tokens",)) is None:
        return False
    # Gateways pass Anthropic's names on beside ``prompt_tokens``, which mostly includes the cached tokens.
    return _count(given, ("prompt_tokens",)) is None or cached > prompt


def _first(given: object, paths: Sequence[Sequence[str]]) -> int | None:
    """The first count that is not 0, or 0 if a count is there, or None."""
    found = [count for path in paths if (count := _count(given, path)) is not None]
    return next(filter(None, found), 0 if found else None)


def _count(given: object, path: Sequence[str]) -> int | None:
    for name in path:
        given = cast("dict[str, object]", given).get(name) if isinstance(given, dict) else None
    try:
        return max(0, msgspec.convert(given, int, strict=False))
    except UNREADABLE:
        return None
