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

from daemon.errors import UNREADABLE
from daemon.model.chat_model import Usage

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
