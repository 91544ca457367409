"""Tool servers that no model's API would take as they are, that answer in halves, or that a turn goes without."""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from structlog.testing import capture_logs

from daemon.config import BotConfig, McpConfig
from daemon.process import Process
from daemon.testing import ScriptedModel
from daemon.traces import Traces, told
from tests.conftest import Lab
from tests.fakes import tool_server
from tests.integration.test_tools_mcp import desk, program
from tests.integration.test_turns import Bot, wire
from tests.limits import HANG_S, until
from tests.unit.test_mcp_schema import strictly
from workers.tools.mcp import tool_servers

ANYTHING: dict[str, Any] = {"type": "object"}


def offering(*tools: object, **more: Any) -> McpConfig:
    """A server with these tools, which say what was called and with what."""
    return program(env={"TOOLS": json.dumps(tools)}, **more)


def shown(definitions: Any) -> dict[str, Any]:
    functions = [msgspec.json.decode(each)["function"] for each in definitions]
    return {each["name"]: each for each in functions}


async def test_tools_have_names_that_models_take_and_are_called_by_their_own(tmp_path: Path) -> None:
    names = ["files.read", "files/read", "files_read", "搜索", "x" * 90]
    config = offering(*({"name": name, "inputSchema": ANYTHING} for name in names))
    async with desk(tmp_path, fs=config) as found:
        tools = await found.tools()
        called = {name: json.loads((await found.call(name)).text)[0] for name in tools.names[2:]}

    assert called == {
        "fs_files_read_2": "files.read",
        "fs_files_read_3": "files/read",
        "fs_files_read": "files_read",
        "fs": "搜索",
        "fs_" + "x" * 61: "x" * 90,
    }
    assert shown(tools.definitions)["fs"]["description"] == "搜索"


async def test_servers_and_our_own_tools_never_share_a_name(tmp_path: Path) -> None:
    one, two, three = (offering({"name": name, "inputSchema": ANYTHING}) for name in ("b_c", "c", "file"))
    async with desk(tmp_path, a=one, a_b=two, read=three) as found:
        names = (await found.tools()).names
        called = [json.loads((await found.call(name)).text)[0] for name in names[2:]]

    assert names == ("time", "read_file", "a_b_c", "a_b_c_2", "read_file_2")
    assert called == ["b_c", "c", "file"]


async def test_schemas_are_mended_and_what_cannot_be_is_left_out_without_the_others(tmp_path: Path) -> None:
    point = {"type": "object", "properties": {"x": {"type": "number"}}}
    config = offering(
        {
            "name": "local",
            "inputSchema": {**ANYTHING, "properties": {"p": {"$ref": "#/$defs/p"}}, "$defs": {"p": point}},
        },
        {"name": "remote", "inputSchema": {**ANYTHING, "properties": {"p": {"$ref": "https://example.org/p.json"}}}},
        {"name": "named", "inputSchema": {**ANYTHING, "properties": {"user name": {"type": "string"}}}},
        {"name": "none"},
        {"name": "null", "inputSchema": None, "description": 7, "annotations": [], "outputSchema": {"type": "string"}},
        {"name": "php", "inputSchema": {"type": "object", "properties": [], "required": None}},
        {"name": "untyped", "inputSchema": {"properties": {"a": {"type": "array"}}, "required": ["b"]}},
        {"name": "text", "inputSchema": {"type": "string"}},
        {"inputSchema": ANYTHING},
        "no tool",
        {"name": "fine", "inputSchema": ANYTHING, "annotations": {"readOnlyHint": True}},
    )
    async with desk(tmp_path, s=config) as found:
        with capture_logs() as logs:
            tools = await found.tools()
        called = json.loads((await found.call("s_named", user_name="ann")).text)

    known = shown(tools.definitions)
    ours = {name: each["parameters"] for name, each in known.items() if name.startswith("s_")}
    assert [*ours] == [f"s_{name}" for name in ("local", "remote", "named", "none", "null", "php", "untyped", "fine")]
    for parameters in ours.values():
        strictly(parameters)
    assert ours["s_local"]["properties"]["p"] == point
    assert called == ["named", {"user name": "ann"}]
    assert tools.repeatable("s_fine")
    missing = {log["tool"]: log["reason"] for log in logs if log["event"] == "tools.missing"}
    assert missing.keys() == {"s_remote", "s_text", "s_"}
    assert "https://example.org/p.json" in missing["s_remote"]
    assert missing["s_text"] == "left out: the tool's schema has the type 'string', not object"


async def test_no_more_tools_are_offered_than_a_request_may_have(tmp_path: Path) -> None:
    configs = {
        server: offering(*({"name": f"t{n}", "inputSchema": ANYTHING} for n in range(100))) for server in ("a", "b")
    }
    async with desk(tmp_path, **configs) as found:
        tools = await found.servers.tools("pond", scope="pond:person:web:ann", session="web:ann")

    assert len(tools) == tool_servers.SERVED_MAX < tool_servers.TOOLS_MAX


async def test_half_a_character_is_a_result_and_no_json_an_error_at_once(tmp_path: Path) -> None:
    async with desk(tmp_path, fake=program(timeout_s=HANG_S)) as found:
        with anyio.fail_after(HANG_S / 2):
            half = await found.act("half")
            broken = await found.act("no JSON")

    assert half == "a \ufffd b \n\ufffd c 😀 \\ud83d \x01"
    assert broken.startswith("Error: the tool server fake rejected the call: the server's response cannot be read: ")


@asynccontextmanager
async def raw_server(*, as_events: bool) -> AsyncGenerator[str]:
    """A server over HTTP that answers in halves of characters; its address."""

    async def answer(request: Request) -> Response:
        asked = await request.json() if request.method == "POST" else {}
        if "id" not in asked:
            return Response(status_code=202 if asked else 405)
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "r", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "a.b"}]},
            "tools/call": {"content": [{"type": "text", "text": "HERE"}]},
        }
        if asked["method"] not in results:
            error = {"code": -32601, "message": "no such method"}
            return Response(
                json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), media_type="application/json"
            )
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": results[asked["method"]]}).encode()
        body = body.replace(b"HERE", b"a \\ud83d b \xe4\xbd c \\ud83d\\ude00")
        if as_events:
            return Response(b"event: message\ndata: " + body + b"\n\n", media_type="text/event-stream")
        return Response(body, media_type="application/json")

    app = Starlette(routes=[Route("/mcp", answer, methods=["GET", "POST", "DELETE"])])
    running = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
    async with anyio.create_task_group() as tg:
        tg.start_soon(running.serve)
        await until(lambda: running.started)
        port = running.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/mcp"
        running.should_exit = running.force_exit = True


@pytest.mark.parametrize("as_events", [False, True])
async def test_over_http_half_a_character_is_a_result_as_well(tmp_path: Path, as_events: bool) -> None:
    async with raw_server(as_events=as_events) as url, desk(tmp_path, r=McpConfig(url=url)) as found:
        assert (await found.call("r_a_b")).text == "a \ufffd b \ufffd c 😀"


async def test_a_turn_names_the_servers_it_goes_without_to_the_model_and_in_its_trace(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_servers, "LIST_WAIT_S", 1.0)
    gone = McpConfig(command=sys.executable, args=(str(Path(tool_server.__file__)), "gone"))
    mcp = {"away": gone, "sleepy": program("silent")}
    bots = {"pond": BotConfig(tools=("time",), mcp=mcp)}
    process = replace(process, config=msgspec.structs.replace(process.config, bots=bots))
    model = ScriptedModel("done")
    await lab.publish("m")

    async def answered() -> bool:
        state = await lab.state()
        return state.exists and state.waiting == 0 and not state.worker

    async with Bot(process, model).working():
        await until(answered)

    said = msgspec.json.decode(model.requests[0].messages[-1])["content"]
    assert "Tool server away is not working, so its tools are unavailable for this answer." in said
    assert "Tool server sleepy did not respond in time, so its tools are unavailable for this answer." in said
    assert [wire(entry)["content"] for entry in await lab.log()][-1] == "done"
    (found,) = await Traces(lab.bus).of("web:ann")
    assert told(found)["missing_servers"] == [
        {"server": "away", "reason": "the tool server could not be used"},
        {"server": "sleepy", "reason": "the tool server did not respond in time"},
    ]
