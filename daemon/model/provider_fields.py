"""Fields of a model's message and calls that Millpond does not know: kept, and sent back to that model alone.

DeepSeek and Kimi want ``reasoning_content`` back, OpenRouter ``reasoning_details``, Gemini's OpenAI-compatible address
``extra_content.google.thought_signature`` of each call, Anthropic its thinking blocks; another model refuses them.
"""

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

KNOWN = frozenset({"role", "content", "tool_calls", "refusal", "annotations", "audio", "function_call", "name"})
"""Fields of a message that Millpond writes itself, or that no server takes back."""
KNOWN_OF_CALL = frozenset({"index", "id", "type", "function"})

BLOCKS = "thinking_blocks"
"""The field of an answer of Anthropic's: its blocks ``thinking`` and ``redacted_thinking`` as they came, each with its
``index`` and ``at``, its place among text and calls: 0 before the text, 1 before the first call, 2 before the second.
"""

_CONSTANT = frozenset({"type", "id", "format", "index", "name", "role"})
"""Fields that are the same in each piece of a stream; all other texts are put together from their pieces."""


class ProviderFields(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one answer had beside text and calls."""

    of: str
    """The server and model that it belongs to, see ``identity``."""
    message: dict[str, object] = msgspec.field(default_factory=dict[str, object])
    calls: tuple[dict[str, object], ...] = ()
    """Of each call, in order; empty when none has any."""


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(ProviderFields).decode


def identity(host: str, model: str) -> str:
    """The name of a server's model."""
    return f"{host} {model}"


def unknown(fields: Mapping[str, object], known: frozenset[str]) -> dict[str, object]:
    """The fields that are to be kept."""
    return {name: value for name, value in fields.items() if name not in known and value not in (None, "", [], {})}


def thought(blocks: object) -> str:
    """The reasoning in Anthropic's thinking blocks, as far as it can be read."""
    found = cast("list[object]", blocks) if isinstance(blocks, list) else []
    return "".join(str(cast("dict[str, object]", each).get("thinking", "")) for each in found if isinstance(each, dict))


def joined(so_far: object, piece: object, name: str = "") -> object:
    """A value of a stream with its next piece: texts are appended, lists by the ``index`` of what they hold."""
    if isinstance(so_far, str) and isinstance(piece, str):
        return piece if name in _CONSTANT else so_far + piece
    if isinstance(so_far, dict) and isinstance(piece, dict):
        return _dicts(cast("dict[str, object]", so_far), cast("dict[str, object]", piece))
    if isinstance(so_far, list) and isinstance(piece, list):
        return _lists(cast("list[object]", so_far), cast("list[object]", piece))
    return piece


def _dicts(so_far: dict[str, object], piece: dict[str, object]) -> dict[str, object]:
    return so_far | {
        name: joined(so_far[name], value, name) if name in so_far else value for name, value in piece.items()
    }


def _lists(so_far: Sequence[object], piece: Sequence[object]) -> list[object]:
    found = list(so_far)
    for each in piece:
        at = next((at for at, known in enumerate(found) if _same(known, each)), None)
        if at is None:
            found.append(each)
        else:
            found[at] = joined(found[at], each)
    return found


def _same(one: object, other: object) -> bool:
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return False
    first, second = cast("dict[str, object]", one), cast("dict[str, object]", other)
    return first.get("index") is not None and [first.get(name) for name in ("index", "type")] == [
        second.get(name) for name in ("index", "type")
    ]
