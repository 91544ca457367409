"""Definitions of tools keep their meaning without the rarer keywords of JSON Schema."""

from typing import Any

import msgspec

from daemon.model.adaptation import plain


def parameters(schema: dict[str, Any]) -> dict[str, Any]:
    tool = {"type": "function", "function": {"name": "t", "description": "d", "strict": True, "parameters": schema}}
    kept = msgspec.json.decode(plain(msgspec.json.encode(tool)))
    assert kept == {
        "type": "function",
        "function": {"name": "t", "description": "d", "parameters": kept["function"]["parameters"]},
    }
    return kept["function"]["parameters"]


def test_only_common_keywords_are_left_at_every_depth() -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["a"],
        "properties": {
            "a": {"anyOf": [{"type": "null"}, {"type": "string", "minLength": 1}], "description": "A."},
            "b": {"type": ["null", "integer"], "minimum": 0, "enum": [1, 2]},
            "c": {"type": "array", "items": {"type": "object", "properties": {"d": {"const": 1}}, "oneOf": []}},
        },
    }

    assert parameters(schema) == {
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"type": "string", "description": "A."},
            "b": {"type": "integer"},
            "c": {"type": "array", "items": {"type": "object", "properties": {"d": {}}}},
        },
    }


def test_a_tool_without_parameters_stays() -> None:
    tool = b'{"type":"function","function":{"name":"time"}}'

    assert msgspec.json.decode(plain(tool)) == msgspec.json.decode(tool)
