"""Definitions of tools for servers that know only the simplest JSON Schema. Pure."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

import msgspec

_KNOWN = frozenset({"type", "description", "enum", "items", "properties", "required"})
"""Keywords that every provider with tools documents."""


@lru_cache(maxsize=256)
def plain(tool: bytes) -> bytes:
    """A tool's definition (JSON) with nothing but the common keywords in its parameters.

    The schema allows the same or more. The tool itself checks its arguments, so no check is lost.
    """
    definition: dict[str, Any] = msgspec.json.decode(tool)
    function = cast("dict[str, Any]", definition.get("function", {}))
    kept = {name: value for name, value in function.items() if name != "strict"}
    if "parameters" in kept:
        kept["parameters"] = _plain(kept["parameters"])
    return msgspec.json.encode(definition | {"function": kept})


def _plain(schema: object) -> dict[str, Any]:
    """A schema of the common keywords; of a choice, the first one that is not null."""
    fields = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    for choice in ("anyOf", "oneOf", "allOf"):
        options = [option for option in fields.get(choice) or () if option != {"type": "null"}]
        if options:
            fields = {**options[0], **{name: fields[name] for name in ("description",) if name in fields}}
            break
    found = {name: value for name, value in fields.items() if name in _KNOWN}
    if isinstance(found.get("type"), list):
        found["type"] = next((name for name in found["type"] if name != "null"), "string")
    if "enum" in found and not all(isinstance(value, str) for value in found["enum"]):
        del found["enum"]
    if isinstance(found.get("properties"), Mapping):
        found["properties"] = {name: _plain(each) for name, each in found["properties"].items()}
    if "items" in found:
        found["items"] = _plain(found["items"])
    return found
