"""Text and reasoning in the fields of a message, which servers name and shape in many ways. Pure."""

from collections.abc import Iterator, Mapping
from typing import cast

_REASONING = (
    "reasoning_content",  # DeepSeek, vLLM, llama.cpp
    "reasoning",  # OpenRouter, Ollama
    "reasoning_text",  # GitHub Copilot
    "thinking",
    "thinking_blocks",  # Anthropic, see daemon.model.provider_fields
    "reasoning_details",  # OpenRouter, MiniMax
)
"""Fields that hold reasoning; a server that fills several repeats the same in each."""
_OF_THOUGHT = frozenset({"thinking", "reasoning"})
"""Types of parts that hold reasoning (Mistral)."""


def text_of(fields: Mapping[str, object]) -> tuple[str, str]:
    """The text of a message and its reasoning; a refusal (OpenAI) is text."""
    parts = list(_parts(fields.get("content")))
    said = "".join(text for text, is_thought in parts if not is_thought)
    if not said and isinstance(refusal := fields.get("refusal"), str):
        said = refusal
    thought = next((found for name in _REASONING if (found := _joined(fields.get(name)))), "")
    return said, thought + "".join(text for text, is_thought in parts if is_thought)


def _parts(content: object) -> Iterator[tuple[str, bool]]:
    """The texts of a message's content, and whether each is reasoning."""
    for part in cast("list[object]", content) if isinstance(content, list) else [content]:
        text = _joined(part)
        fields = cast("dict[str, object]", part) if isinstance(part, dict) else {}
        yield text, str(fields.get("type")) in _OF_THOUGHT


def _joined(value: object) -> str:
    """All text of a value: of a list, of its parts; of a part, of the field that holds it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_joined, cast("list[object]", value)))
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        names = ("text", "content", "thinking", "summary")
        return next((found for name in names if (found := _joined(fields.get(name)))), "")
    return ""
