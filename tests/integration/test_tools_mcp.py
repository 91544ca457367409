"""Tool servers, real programs and real HTTP: what they give, and how little they can do when they misbehave."""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import msgspec
import pytest
import uvicorn
from structlog.testing import capture_logs

from daemon.config import BotConfig, Config, McpConfig, Secret
from daemon.model import Answer, ToolCall
from daemon.process import Process
from daemon.testing import ManualClock, ScriptedModel
from tests.conftest import Lab
from tests.fakes import tool_server
from tests.integration.test_turns import wire, worked_off
from tests.limits import HANG_S, until
from tests.unit.test_tools_files import a_context
from workers.tools import BUILTIN, Registry, ToolContext, ToolResult
from workers.tools.mcp import ToolServers, tool_server_connection
from workers.tools.mcp import tool_server_program as mcp_program
from workers.tools.mcp import tool_servers as servers
from workers.tools.mcp.tool_server_program import ToolServerProgram

pytestmark = pytest.mark.usefixtures("hurried")

CHUNKS_AT_A_TIME = 3  # as many as the reader of a pipe holds

ANN, BOB = "pond:person:web:ann", "pond:person:web:bob"


def program(how: str = "", **more: Any) -> McpConfig:
    env = {"TOKEN": "for the server", **more.pop("env", {})}
    fields: dict[str, Any] = {"timeout_s": HANG_S, **more}
    return McpConfig(
        command=sys.executable, args=(str(Path(tool_server.__file__)), how),
        env={name: Secret(text) for name, text in env.items()}, **fields,
    )  # fmt: skip


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers have as long as they need to come, and are killed at once when they do not go."""
    monkeypatch.setattr(servers, "LIST_WAIT_S", HANG_S)
    monkeypatch.setattr(tool_server_connection, "OPEN_S", HANG_S)
    monkeypatch.setattr(tool_server_connection, "BACK_OFF_MIN_S", HANG_S)
    monkeypatch.setattr(tool_server_connection, "RESPONSE_MAX_BYTES", 1_000_000)
    for name, value in {"EXIT_S": 0.05, "WATCH_S": 0.02, "FLOOD_MAX_LINES": 1_000}.items():
        monkeypatch.setattr(mcp_program, name, value)


class Desk:
    def __init__(self, tool_servers: ToolServers, workspace: Path, clock: ManualClock) -> None:
        self.servers = tool_servers
        self.clock = clock
        self.workspace = workspace

    async def tools(self, scope: str = ANN) -> Registry:
        return BUILTIN.only(["time", "read_file"]).beside(
            await self.servers.tools("pond", scope=scope, session="web:ann")
        )

    def context(self, scope: str = ANN) -> ToolContext:
        return msgspec.structs.replace(
            a_context(self.workspace, scope=scope), session="web:" + scope.rpartition(":")[2]
        )

    async def call(self, name: str, *, scope: str = ANN, **arguments: Any) -> ToolResult:
        call = ToolCall(id="c", name=name, arguments=msgspec.json.encode(arguments).decode())
        return await (await self.tools(scope)).run(call, self.context(scope), timeout_s=HANG_S)

    async def act(self, what: str, *, scope: str = ANN) -> str:
        return (await self.call("fake_act", scope=scope, what=what)).text


@asynccontextmanager
async def desk(workspace: Path, **configs: McpConfig) -> AsyncGenerator[Desk]:
    config = Config(bots={"pond": BotConfig(mcp=configs)})
    clock = ManualClock()
    process = Process(config=config, data_dir=workspace, bus=None, listener=None, clock=clock)  # type: ignore[arg-type]
    tool_servers = ToolServers(process)
    async with anyio.create_task_group() as tg:
        await tg.start(tool_servers.run)
        yield Desk(tool_servers, workspace, clock)
        tg.cancel_scope.cancel()


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.fixture
def starts(tmp_path: Path) -> Path:
    path = tmp_path / "starts"
    path.touch()
    return path


def pids_in(starts: Path) -> list[int]:
    return [int(line) for line in starts.read_text().split()]


@pytest.fixture
def at_a_time(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many chunks of output were handled between two turns of the event loop; long messages keep it from none."""
    found, loop_thread = [0], threading.current_thread()
    count, message = ToolServerProgram._count, mcp_program._message

    def counted(self: ToolServerProgram, chunk: bytes) -> None:
        if found[-1] == 0:
            asyncio.get_running_loop().call_soon(found.append, 0)
        found[-1] += 1
        count(self, chunk)

    def decoded(line: bytes) -> Any:
        assert len(line) <= mcp_program.THREAD_BYTES or threading.current_thread() is not loop_thread
        return message(line)

    monkeypatch.setattr(ToolServerProgram, "_count", counted)
    monkeypatch.setattr(mcp_program, "_message", decoded)
    return found


async def gone(*pids: int) -> None:
    await until(lambda: not any(map(alive, pids)))


async def there(path: Path) -> str:
    """Wait until another process has written a file; its text."""
    with anyio.fail_after(HANG_S):
        while not (text := text_of(path)):  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(0.005)
    return text


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


async def test_a_servers_tools_have_its_name_and_those_that_no_model_takes_are_left_out(tmp_path: Path) -> None:
    async with desk(tmp_path, fake=program()) as found:
        with capture_logs() as logs:
            tools = await found.tools()

    assert tools.names == ("time", "read_file", "fake_echo", "fake_where", "fake_act")
    assert tools.repeatable("fake_where") and not tools.repeatable("fake_act")
    missing = {log["tool"] for log in logs if log["event"] == "tools.missing"}
    assert missing == {"fake_bad name!", "fake_bad_schema", "fake_huge"}


async def test_only_the_tools_that_the_configuration_lists_can_be_called(tmp_path: Path) -> None:
    async with desk(tmp_path, fake=program(tools=("echo", "nothing"))) as found:
        assert (await found.tools()).names == ("time", "read_file", "fake_echo")
        assert (await found.call("fake_act", what="die")).text.startswith("Error: The tool 'fake_act' was not found")


async def test_a_call_gives_what_the_server_says_and_its_arguments_are_checked_before(tmp_path: Path) -> None:
    async with desk(tmp_path, fake=program()) as found:
        assert (await found.call("fake_echo", text="你好")).text == "你好"
        assert "'text' is a required property" in (await found.call("fake_echo")).text
        assert await found.act("error") == "Error: it went wrong"
        assert await found.act("refuse") == "Error: the tool server fake rejected the call: not today"
        assert await found.act("structured") == '{"a":1}'
        picture = await found.call("fake_act", what="picture")
        assert (picture.text, picture.images[0].media_type) == ("see", "image/png")


async def test_each_scope_has_a_server_of_its_own_that_knows_whose_it_is_and_no_secret_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    monkeypatch.setenv("MILLPOND_REDIS__URL", "redis://:planted@h")
    async with desk(tmp_path, fake=program()) as found:
        ann, bob, again = [json.loads((await found.call("fake_where", scope=scope)).text) for scope in (ANN, BOB, ANN)]

    assert (ann["MILLPOND_SCOPE"], bob["MILLPOND_SCOPE"]) == (ANN, BOB)
    assert (ann["MILLPOND_SESSION"], bob["MILLPOND_SESSION"]) == ("web:ann", "web:bob")
    assert ann["TOKEN"] == "********", "it knows its own, and nobody else reads it"
    assert ann["pid"] == again["pid"] != bob["pid"]
    assert not {"OPENAI_API_KEY", "MILLPOND_REDIS__URL"} & set(ann["names"])
    assert not alive(ann["pid"]) and not alive(bob["pid"]), "they end with us"


@pytest.mark.parametrize("what", ["die", "garbage", "child"])
async def test_a_server_that_breaks_is_an_error_and_the_next_call_has_a_new_one(
    tmp_path: Path, starts: Path, what: str
) -> None:
    async with desk(tmp_path, fake=program(env={"STARTS": str(starts)})) as found:
        assert (await found.call("fake_echo", text="a")).text == "a"

        said = await found.act(what)

        assert said.startswith("Error: the tool server fake ")
        assert (await found.call("fake_echo", text="b")).text == "b"
    assert len(pids_in(starts)) == 2


async def test_a_server_that_dies_again_and_again_is_left_alone_for_a_while(tmp_path: Path, starts: Path) -> None:
    async with desk(tmp_path, fake=program(env={"STARTS": str(starts)})) as found:
        said = [await found.act("die") for _ in range(5)]

    assert all(text.startswith("Error: the tool server fake ") for text in said)
    assert "is unavailable" in said[-1] and "the next attempt to connect is in" in said[-1]
    assert len(pids_in(starts)) == 2


@pytest.mark.parametrize("what", ["flood", "line", "empty lines", "notices", "parts"])
async def test_a_flood_ends_the_server_and_holds_up_nobody(tmp_path: Path, what: str, at_a_time: list[int]) -> None:
    async with desk(tmp_path, fake=program()) as found:
        said = await found.act(what)
        assert said.startswith("Error: the tool server fake "), said
        assert (await found.call("fake_echo", text="b")).text == "b"
    assert max(at_a_time) <= CHUNKS_AT_A_TIME


async def test_what_a_server_prints_besides_is_passed_over(tmp_path: Path, at_a_time: list[int]) -> None:
    async with desk(tmp_path, fake=program("noisy")) as found:
        assert (await found.call("fake_echo", text="a")).text == "a"
        assert await found.act("stderr") == "done"
    assert max(at_a_time) <= CHUNKS_AT_A_TIME


async def test_a_result_of_ten_megabytes_is_kept_whole_and_shown_by_its_ends(tmp_path: Path) -> None:
    async with desk(tmp_path, fake=program()) as found:
        # The text is one JSON line above what a server may send at once.
        said = await found.act("large")

    assert said.startswith("Error: the tool server fake ") and "8,388,608 bytes" in said


async def test_a_call_that_hangs_ends_at_its_deadline_and_with_it_the_server_that_answers_no_more(
    tmp_path: Path, starts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_server_connection, "ALIVE_S", 0.05)
    fake = program(env={"STARTS": str(starts)})
    async with desk(tmp_path, fake=fake) as found:
        await found.tools()
        msgspec.structs.force_setattr(fake, "timeout_s", 0.05)
        said = await found.act("hang")
        msgspec.structs.force_setattr(fake, "timeout_s", HANG_S)

        assert said == "Error: the tool server fake did not respond to act within 0.05 s"
        assert (await found.call("fake_echo", text="b")).text == "b"
    first, second = pids_in(starts)
    assert not alive(first) and not alive(second)


async def test_a_call_that_is_cancelled_leaves_the_server_to_the_others(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    async with desk(tmp_path, fake=program(env={"GATE": str(gate)})) as found:
        before = json.loads((await found.call("fake_where")).text)["pid"]
        async with anyio.create_task_group() as tg:
            tg.start_soon(found.act, "slow")
            await there(gate.with_suffix(".reached"))
            tg.start_soon(found.act, "slow")
            await anyio.wait_all_tasks_blocked()
            tg.cancel_scope.cancel()
        gate.touch()

        assert json.loads((await found.call("fake_where")).text)["pid"] == before


async def test_many_calls_at_a_time_share_one_connection(tmp_path: Path, starts: Path) -> None:
    async with desk(tmp_path, fake=program(env={"STARTS": str(starts)})) as found:
        said: list[str] = []

        async def ask(number: int) -> None:
            said.append((await found.call("fake_echo", text=str(number))).text)

        async with anyio.create_task_group() as tg:
            for number in range(50):
                tg.start_soon(ask, number)

    assert sorted(map(int, said)) == list(range(50))
    assert len(pids_in(starts)) == 1


async def test_a_missing_server_is_left_out_and_not_asked_again_by_every_turn(tmp_path: Path, starts: Path) -> None:
    async with desk(tmp_path, fake=program("gone", env={"STARTS": str(starts)}), other=program()) as found:
        for scope in (ANN, BOB, ANN):
            names = (await found.tools(scope)).names
            assert names == ("time", "read_file", "other_echo", "other_where", "other_act")

    assert len(pids_in(starts)) == 1


async def test_a_server_that_says_nothing_is_left_out_and_not_asked_again_by_every_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starts: Path
) -> None:
    monkeypatch.setattr(servers, "LIST_WAIT_S", 0.05)
    async with desk(tmp_path, fake=program("silent", env={"STARTS": str(starts)})) as found:
        for scope in (ANN, BOB, ANN):
            assert (await found.tools(scope)).names == ("time", "read_file")
        await there(starts)

    assert len(pids_in(starts)) == 1


async def test_a_program_that_cannot_be_started_and_an_address_where_nobody_listens_are_told(tmp_path: Path) -> None:
    program, url = McpConfig(command="/no/such/program"), McpConfig(url="http://127.0.0.1:9/mcp")
    async with desk(tmp_path, fake=program, sums=url) as found:
        with capture_logs() as logs:
            assert (await found.tools()).names == ("time", "read_file")

    missing = {log["tool"]: log["reason"] for log in logs if log["event"] == "tools.missing"}
    assert set(missing) == {"fake", "sums"}
    assert "FileNotFoundError" in missing["fake"]


async def test_an_unused_connection_is_closed_and_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "LOOK_S", 0.02)
    monkeypatch.setattr(servers, "IDLE_S", 0.1)
    async with desk(tmp_path, fake=program()) as found:
        pid = json.loads((await found.call("fake_where")).text)["pid"]

        await gone(pid)

        assert json.loads((await found.call("fake_where")).text)["pid"] != pid


async def test_there_are_never_more_connections_than_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "CONNECTIONS_MAX", 2)
    async with desk(tmp_path, fake=program()) as found:
        pids = [json.loads((await found.call("fake_where", scope=f"pond:person:web:{n}")).text)["pid"] for n in "abc"]
        await gone(pids[0])

        assert alive(pids[1]) and alive(pids[2])


async def test_a_server_that_ignores_its_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stubborn = (
        "import os, pathlib, signal, time; signal.signal(15, signal.SIG_IGN); "
        "pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(60)"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(servers, "LIST_WAIT_S", 0.05)
    async with desk(tmp_path, fake=McpConfig(command=sys.executable, args=("-c", stubborn))) as found:
        await found.tools()
        pid = int(await there(tmp_path / "pid"))
        assert alive(pid)

    assert not alive(pid)


async def test_a_turn_calls_a_server_and_the_worker_that_ends_ends_it(process: Process, lab: Lab) -> None:
    bots = {"pond": BotConfig(tools=("time",), mcp={"fake": program()})}
    process = replace(process, config=msgspec.structs.replace(process.config, bots=bots))
    model = ScriptedModel(
        Answer(text="", tool_calls=(ToolCall(id="w", name="fake_where", arguments="{}"),)),
        Answer(text="", tool_calls=(ToolCall(id="d", name="fake_act", arguments='{"what": "die"}'),)),
        "done",
    )
    await lab.publish("m")

    await worked_off(process, lab, model)

    where, died = [wire(entry)["content"] for entry in await lab.log() if wire(entry)["role"] == "tool"]
    assert json.loads(where)["MILLPOND_SCOPE"] == "pond:workspace"
    assert died.startswith("Error: the tool server fake disconnected")
    assert [msgspec.json.decode(tool)["function"]["name"] for tool in model.requests[0].tools] == [
        *("time", "fake_echo", "fake_where", "fake_act")
    ]
    assert not alive(json.loads(where)["pid"])


@asynccontextmanager
async def http_server(tmp_path: Path, *, flood: bool = False) -> AsyncGenerator[tuple[str, list[dict[str, str]]]]:
    """A server of the library's own making on loopback; its address, and the headers of every request."""
    from mcp.server.mcpserver import MCPServer  # noqa: PLC0415 - an extra

    server, seen = MCPServer("http"), list[dict[str, str]]()

    @server.tool()
    def add(a: int, b: int) -> str:
        return "x" * 1_500_000 if flood else str(a + b)

    app = server.streamable_http_app()

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await app(scope, receive, send)

    config = uvicorn.Config(noting, port=0, log_level="critical", lifespan="on")
    running = uvicorn.Server(config)
    async with anyio.create_task_group() as tg:
        tg.start_soon(running.serve)
        await until(lambda: running.started)
        port = running.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/mcp", seen
        running.should_exit = True
        running.force_exit = True


async def test_a_server_over_http_is_called_with_its_headers(tmp_path: Path) -> None:
    async with http_server(tmp_path) as (url, seen):
        config = McpConfig(url=url, headers={"Authorization": Secret("Bearer hush")}, timeout_s=HANG_S)
        async with desk(tmp_path, sums=config) as found:
            assert (await found.call("sums_add", a=1, b=2)).text == "3"
            assert "'b' is a required property" in (await found.call("sums_add", a=1)).text

    assert {headers.get("authorization") for headers in seen} == {"Bearer hush"}


async def test_a_flood_over_http_is_an_error(tmp_path: Path) -> None:
    async with http_server(tmp_path, flood=True) as (url, _), desk(tmp_path, sums=McpConfig(url=url)) as found:
        said = (await found.call("sums_add", a=1, b=2)).text

    assert said.startswith("Error: "), said[:200]
