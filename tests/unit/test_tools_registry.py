"""Running a tool: whatever goes wrong is a result that the model reads, and nothing but cancellation escapes."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from daemon.errors import BusUnavailable, LeaseLost, ToolError
from daemon.model import ToolCall
from tests.limits import HANG_S
from tests.tables import each_row
from tests.unit.test_tools_files import a_context
from workers.tools import BUILTIN, FAILED, Registry, Tool, ToolContext, ToolResult
from workers.tools.argument_check import ArgumentCheck
from workers.tools.tool_result import KEPT_MAX, RESULT_MAX_CHARS

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 1},
        "word": {"type": "string", "pattern": "^(a+)+$"},
        "list": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["n"],
    "additionalProperties": False,
}


def a_tool(run: Any, **more: Any) -> Registry:
    return Registry([Tool(name="tool", description="", run=run, **more), BUILTIN._tools["read_file"]])


async def run(
    registry: Registry, folder: Path, *, timeout_s: float = HANG_S, name: str = "tool", **arguments: Any
) -> ToolResult:
    call = ToolCall(id="c", name=name, arguments=msgspec.json.encode(arguments).decode())
    return await registry.run(call, a_context(folder), timeout_s=timeout_s)


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


@each_row(
    ("arguments", "said"),
    [
        ("", "'n' is a required property"),
        ("{", "The arguments are not valid JSON"),
        ("[1]", "The arguments must be a JSON object"),
        ("null", "The arguments must be a JSON object"),
        ('{"n": 1} trailing', "The arguments are not valid JSON"),
        ('{"n": "1"}', "n: '1' is not of type 'integer'"),
        ('{"n": 0}', "n: 0 is less than the minimum of 1"),
        ('{"n": 1, "m": 2}', "Additional properties are not allowed ('m' was unexpected)"),
        ('{"n": 1, "list": ["a", 2]}', "list[1]: 2 is not of type 'string'"),
        ('{"n": 1.5, "list": {}}', "n: 1.5 is not of type 'integer'; list: {} is not of type 'array'"),
        ("[" * 100_000, "The arguments must be a JSON object"),
        ('{"n":' + "[" * 100_000, "The arguments are nested too deeply"),
        ('{"n": 1, "word": "%s!"}' % ("a" * 5_000), "does not match"),
        ("x" * 3_000_000, "The arguments have 3,000,000 characters"),
    ],
)
def test_arguments_that_do_not_fit_are_told_with_what_and_where(arguments: str, said: str) -> None:
    with pytest.raises(ToolError) as raised:
        ArgumentCheck(SCHEMA).read(arguments)

    assert said in str(raised.value)
    assert len(str(raised.value)) < 2_000


@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text_for_arguments_is_read_or_told(arguments: str) -> None:
    try:
        found = ArgumentCheck(SCHEMA).read(arguments)
    except ToolError:
        return
    assert isinstance(found["n"], int)


@each_row(
    "schema",
    [
        {"type": "object", "$ref": "http://127.0.0.1:9/schema.json"},
        {"type": "object", "$ref": "#/properties/a", "properties": {"a": {"$ref": "#"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}},
    ],
)
def test_a_schema_that_cannot_be_followed_is_an_error_and_no_request(schema: Mapping[str, Any]) -> None:
    with pytest.raises(ToolError, match="cannot be checked"):
        ArgumentCheck(schema).read('{"a": 1}')


def test_expressions_of_a_schema_take_no_time_whatever_they_are() -> None:
    schema = {
        "type": "object",
        "patternProperties": {"^(a|a)*$": {"type": "integer"}},
        "additionalProperties": False,
        "unevaluatedProperties": False,
        "properties": {"x": {"type": "string", "pattern": "(a|a)*$b"}},
    }

    ArgumentCheck(schema).read(msgspec.json.encode({"a" * 40 + "!": 1}).decode())
    with pytest.raises(ToolError):
        ArgumentCheck(schema).read(msgspec.json.encode({"x": "a" * 50_000}).decode())


async def test_a_tool_that_does_not_exist_is_told_with_those_that_do(tmp_path: Path) -> None:
    result = await run(BUILTIN.only(["time"]), tmp_path, name="teleport" * 1_000)

    assert result.failed
    assert result.text.startswith("Error: The tool 'teleport") and result.text.endswith("Available tools: time")
    assert len(result.text) < 200


@each_row("error", [ToolError("why"), ValueError("why"), KeyError("why"), SystemExit("why"), RecursionError("why")])
async def test_whatever_a_tool_raises_is_a_result(tmp_path: Path, error: BaseException) -> None:
    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        raise error

    result = await run(a_tool(tool), tmp_path)

    assert result.failed
    assert result.text.startswith(FAILED) and "why" in result.text


async def test_a_tool_that_loses_a_cancellation_of_its_own_is_a_failure_too(tmp_path: Path) -> None:
    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        raise asyncio.CancelledError

    assert (await run(a_tool(tool), tmp_path)).text.startswith("Error: tool failed: CancelledError")


@each_row("error", [LeaseLost("lost"), BusUnavailable("away")])
async def test_what_ends_the_turn_is_no_result(tmp_path: Path, error: Exception) -> None:
    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        raise error

    with pytest.raises(type(error)):
        await run(a_tool(tool), tmp_path)


async def test_a_tool_that_hangs_is_ended_and_what_it_did_is_unknown(tmp_path: Path) -> None:
    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        await anyio.sleep_forever()
        raise AssertionError

    once = await run(a_tool(tool), tmp_path, timeout_s=0.01)
    again = await run(a_tool(tool, repeatable=True, timeout_s=0.02), tmp_path, timeout_s=HANG_S)

    assert once.text == "Error: tool did not finish within 0.01 s. It is unknown whether the call had an effect"
    assert again.text == "Error: tool did not finish within 0.02 s"


async def test_a_time_out_of_the_tools_own_is_told_as_its_own(tmp_path: Path) -> None:
    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        raise TimeoutError("the printer")

    assert (await run(a_tool(tool), tmp_path)).text == "Error: tool failed: TimeoutError: the printer"


async def test_a_cancelled_turn_ends_its_tool(tmp_path: Path) -> None:
    ended = False

    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        nonlocal ended
        try:
            await anyio.sleep_forever()
        finally:
            ended = True
        raise AssertionError

    with anyio.move_on_after(0.01) as scope:
        await run(a_tool(tool), tmp_path)

    assert scope.cancelled_caught and ended


@each_row("given_back", [None, 7, b"bytes", ["list"]])
async def test_a_tool_that_gives_back_something_else_is_a_failure(tmp_path: Path, given_back: object) -> None:
    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> Any:
        return given_back

    assert (await run(a_tool(tool), tmp_path)).text.startswith("Error: tool failed: TypeError")


async def test_a_result_of_ten_megabytes_is_kept_whole_where_the_model_can_read_it(tmp_path: Path) -> None:
    text = "".join(f"{number}\n" for number in range(1_500_000))

    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        return text

    registry = a_tool(tool)
    result = await run(registry, tmp_path)

    assert RESULT_MAX_CHARS * 0.9 < len(result.text) < RESULT_MAX_CHARS
    assert result.text.startswith("0\n1\n2\n") and result.text.endswith("\n1499999\n")
    assert "the whole result is in the file results/turn-4-call-1-0.txt" in result.text
    page = await run(
        registry, tmp_path, name="read_file", path="results/turn-4-call-1-0.txt", offset=1_000_000, limit=1
    )
    assert page.text.startswith("999999\n")


async def test_a_long_result_is_only_cut_for_a_bot_that_cannot_read_files(tmp_path: Path) -> None:
    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        return "x" * 100_000

    result = await run(Registry([Tool(name="tool", description="", run=tool)]), tmp_path)

    assert "[... 82,000 of 100,000 characters left out ...]" in result.text
    assert files_in(tmp_path) == set()


async def test_a_result_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        return "x" * 100_000

    (tmp_path / "files").write_text("in the way")

    assert "the whole result could not be saved: " in (await run(a_tool(tool), tmp_path)).text


async def test_only_the_newest_results_are_kept(tmp_path: Path) -> None:
    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        return "x" * 30_000

    registry = a_tool(tool)
    for turn in range(KEPT_MAX + 3):
        call = ToolCall(id="c", name="tool", arguments="{}")
        await registry.run(call, replace(a_context(tmp_path), turn=turn), timeout_s=HANG_S)

    kept = files_in(tmp_path)
    assert len(kept) == KEPT_MAX
    assert f"turn-{KEPT_MAX + 2}-call-1-0.txt" in kept


async def test_what_is_no_unicode_is_replaced(tmp_path: Path) -> None:
    async def tool(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        return "a\ud800b"

    assert (await run(a_tool(tool), tmp_path)).text == "a?b"


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    async def other(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        return ""

    tools = [Tool(name="time", description="not me", run=other), Tool(name="x", description="me", run=other)]
    registry = BUILTIN.only(["time"]).beside([*tools, Tool(name="x", description="not me", run=other)])

    assert registry.names == ("time", "x")
    assert not any(b"not me" in definition for definition in registry.definitions)


def test_every_tools_definition_is_one_that_models_take() -> None:
    for definition in map(msgspec.json.decode, BUILTIN.definitions):
        function = definition["function"]
        assert definition["type"] == "function"
        assert function["name"].replace("_", "").isalnum() and function["description"]
        assert function["parameters"]["additionalProperties"] is False
