"""Names and schemas of tool servers, as every model's API takes them."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from daemon.errors import ToolError
from daemon.model.event_stream import whole_json
from tests.tables import each_row
from workers.tools import Tool
from workers.tools.argument_check import ArgumentCheck
from workers.tools.mcp.schema_repair import PROPERTY_NAME, SCHEMA_MAX_BYTES, TOOL_NAME, mended, named


async def nothing(*_: object) -> str:
    return ""


def names(*given: str, taken: tuple[str, ...] = ()) -> list[str]:
    return [tool.name for tool in named([Tool(name=name, description="", run=nothing) for name in given], taken)]


@each_row(
    ("given_names", "found"),
    [
        (["s_read", "s_x-Y"], ["s_read", "s_x-Y"]),
        (["s_files.read", "s_a/b c!"], ["s_files_read", "s_a_b_c"]),
        (["s_résumé", "s_搜索", "s_查找"], ["s_resume", "s", "s_2"]),
        (["s_a.b", "s_a_b", "s_a/b"], ["s_a_b_2", "s_a_b", "s_a_b_3"]),
        (["s_" + "x" * 80, "s_" + "x" * 90], ["s_" + "x" * 62, "s_" + "x" * 60 + "_2"]),
        (["s_a_b", "s_a_b"], ["s_a_b", "s_a_b_2"]),
        (["read_file"], ["read_file_2"]),
    ],
)
def test_tools_get_names_that_models_take(given_names, found):
    assert names(*given_names, taken=("read_file",)) == found


@given(st.lists(st.text(max_size=70), max_size=8, unique=True), st.randoms())
def test_names_are_taken_by_models_one_a_tool_and_do_not_depend_on_the_order(given_names, random):
    shuffled = random.sample(given_names, len(given_names))
    found = dict(zip(given_names, names(*given_names), strict=True))

    assert dict(zip(shuffled, names(*shuffled), strict=True)) == found
    assert len(set(found.values())) == len(given_names)
    assert all(TOOL_NAME.fullmatch(name) for name in found.values())


def strictly(schema: Any) -> None:
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    assert not {"anyOf", "oneOf", "allOf", "enum", "not", "const"} & schema.keys()
    Draft202012Validator.check_schema(schema)
    left = [schema]
    while left:
        each = left.pop()
        if isinstance(each, list):
            left += each
        elif isinstance(each, dict):
            assert not {"$ref", "$defs", "definitions", "$id"} & each.keys(), each
            assert each.get("type") != "array" or isinstance(each.get("items"), dict), each
            if isinstance(each.get("properties"), dict):
                assert all(PROPERTY_NAME.fullmatch(name) for name in each["properties"]), each
                assert set(each.get("required", ())) <= each["properties"].keys()
                left += each["properties"].values()
            left += [value for key, value in each.items() if key not in ("properties", "default", "const", "enum")]


POINT = {"type": "object", "properties": {"x": {"type": "number"}}}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "at": {"$ref": "#/$defs/point"}}}


@each_row(
    ("schema", "found"),
    [
        ({}, {"type": "object", "properties": {}}),
        (None, {"type": "object", "properties": {}}),
        (True, {"type": "object", "properties": {}}),
        ([], {"type": "object", "properties": {}}),
        ({"type": ["object", "null"], "properties": None}, {"type": "object", "properties": {}}),
        ({"properties": {"a": True}, "required": ["a", "b", "a"]}, {"a": {}, "b": {}}),
        ({"type": "object", "properties": []}, {"type": "object", "properties": {}}),
        ({"properties": {"p": {"$ref": "#/$defs/point"}}, "$defs": {"point": POINT}}, {"p": POINT}),
        ({"properties": {"p": {"$ref": "#/definitions/a~1b%20c"}}, "definitions": {"a/b c": POINT}}, {"p": POINT}),
        (
            {"properties": {"p": {"$ref": "#/$defs/point", "description": "where"}}, "$defs": {"point": POINT}},
            {"p": {**POINT, "description": "where"}},
        ),
        ({"$ref": "#/$defs/node", "$defs": {"node": NODE, "point": POINT}}, {"next": {"type": "object"}, "at": POINT}),
        ({"properties": {"a": {"type": "array"}}}, {"a": {"type": "array", "items": {}}}),
        (
            {"properties": {"a": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}}},
            {"a": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}},
        ),
        (
            {"properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "required": True}}},
            {"n": {"type": "integer", "exclusiveMinimum": 0}},
        ),
        (
            {"oneOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"type": "null"}]},
            {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]},
        ),
        (
            {"anyOf": [{"properties": {"a": {"const": each}}, "required": ["a", each]} for each in "bc"]},
            {"a": {"anyOf": [{"const": "b"}, {"const": "c"}]}, "b": {}, "c": {}},
        ),
    ],
)
def test_what_strict_servers_refuse_is_mended(schema, found):
    parameters = mended(schema).parameters

    strictly(parameters)
    if "type" in found:
        assert parameters == found
    else:
        assert parameters["properties"] == found


@each_row("ref", ["https://example.org/s.json", "#/$defs/none", "other.json#/a", "#anchor", "#/type", 7])
def test_a_reference_that_cannot_be_looked_up_allows_anything_and_is_named(ref):
    found = mended({"type": "object", "properties": {"a": {"$ref": ref, "description": "d"}}})

    assert found.parameters["properties"] == {"a": {"description": "d"}}
    assert found.lost == (str(ref),)


@each_row(
    ("schema", "why"),
    [
        ({"type": "string"}, "the type 'string', not object"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "does not describe an object"),
        ("string", "is not valid"),
        ({"properties": {"a": {"type": "no such type"}}}, "not a valid JSON Schema"),
        ({"description": "x" * SCHEMA_MAX_BYTES}, "larger than 16,384 bytes"),
        (json.loads('{"items":' * 900 + "{}" + "}" * 900), "nested too deeply"),
    ],
)
def test_what_cannot_be_mended_says_why(schema, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        mended(schema)


def test_references_that_stand_for_very_much_are_followed_less_deep():
    defs = {f"d{n}": {"properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "abcd"}} for n in range(50)}
    defs["d50"] = {"type": "string"}

    parameters = mended({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs}).parameters

    strictly(parameters)
    assert parameters["properties"]["a"]["properties"].keys() == set("abcd")
    assert len(msgspec.json.encode(parameters)) <= SCHEMA_MAX_BYTES


def test_properties_that_strict_servers_refuse_are_renamed_at_every_depth_and_sent_under_their_own_names():
    item = {"properties": {"@type": {"type": "string"}, "fine": {}}, "required": ["@type"]}
    schema = {
        "properties": {
            "user name": {"type": "string", "description": "Who."},
            "user_name": {},
            "用户": {},
            "x" * 65: {},
            "list": {"type": "array", "items": {"anyOf": [{"type": "null"}, item]}},
            "free": {"type": "object"},
            "map": {"type": "object", "additionalProperties": item},
        },
        "required": ["user name", "list"],
    }

    found = mended(schema)
    strictly(found.parameters)
    known = found.parameters["properties"]
    assert [*known] == ["user_name_2", "user_name", "field", "x" * 64, "list", "free", "map"]
    assert known["user_name_2"]["description"] == "user name: Who."
    assert known["field"]["description"] == "用户"
    assert found.parameters["required"] == ["user_name_2", "list"]

    written = {
        "user_name_2": "ann",
        "user_name": 1,
        "field": 2,
        "list": [None, {"type": "t", "fine": 3}],
        "free": {"field": {"type": 4}},
        "map": {"type": {"type": "t"}},
    }
    ArgumentCheck(found.parameters).read(json.dumps(written))
    with pytest.raises(ToolError):
        ArgumentCheck(found.parameters).read('{"user name": "ann"}')
    assert found.arguments(written) == {
        "user name": "ann",
        "user_name": 1,
        "用户": 2,
        "list": [None, {"@type": "t", "fine": 3}],
        "free": {"field": {"type": 4}},
        "map": {"type": {"@type": "t"}},
    }


KEYS = ["$ref", "$defs", "anyOf", "oneOf", "allOf", "items", "not", "if", "required", "type", "properties", "enum"]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from(["object", "array", "string", "#", "#/$defs/a", "#/properties/a", "$x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYS, "a", "b c"]), inner, max_size=4)
    ),
    max_leaves=25,
)


@example({"$ref": None, "items": {"a": {"$ref": None}}})
@example({"required": ["#"]})
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5))
def test_any_schema_is_mended_or_refused(schema):
    try:
        found = mended(schema)
    except (ValueError, TypeError):
        return
    strictly(found.parameters)


@each_row(
    ("payload", "whole"),
    [
        (rb'"a \ud83d b"', rb'"a \ufffd b"'),
        (rb'"\uD83D\uDE00"', rb'"\uD83D\uDE00"'),
        (rb'"\ude00\ud83d"', rb'"\ufffd\ufffd"'),
        (rb'"\\ud83d \\\ud83d"', rb'"\\ud83d \\\ufffd"'),
        (b'"\xe4\xbd x"', '"� x"'.encode()),
        (b'"\\u00e4"', b'"\\u00e4"'),
    ],
)
def test_halves_of_characters_in_json_are_replaced_and_escaped_backslashes_are_not(payload, whole):
    assert whole_json(payload) == whole
