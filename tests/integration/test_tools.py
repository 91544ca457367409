"""Tools in turns on a real server: side by side, on record as they end, and what they say in chats."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
import msgspec
import pytest

from daemon.config import AgentConfig, BotConfig, QueueConfig, TestingConfig
from daemon.errors import LeaseLost
from daemon.events import LogEntry, Notice, Reply
from daemon.model import Answer, ToolCall
from daemon.process import Process
from daemon.scope import folder_of
from daemon.session import TurnMessage, TurnMessages
from daemon.testing import Gate, ScriptedModel
from tests.conftest import Lab, with_nonce
from tests.fakes.sink import sink
from tests.integration.test_outbox import replica
from tests.integration.test_turns import Bot, notices_of, replies_of, wire, worked_off
from tests.limits import HANG_S, until
from tests.tables import each_row
from workers.agent import bot_runtime, tool_loop
from workers.agent.service import serve
from workers.tools import BUILTIN, Registry, Tool, ToolContext

SCOPE = "pond:workspace"
EVERY = ("time", "message", "read_file", "write_file", "edit_file", "list_files", "grep")


def calls(*wanted: tuple[str, str, dict[str, Any]]) -> Answer:
    made = [
        ToolCall(id=i, name=name, arguments=msgspec.json.encode(arguments).decode()) for i, name, arguments in wanted
    ]
    return Answer(text="", tool_calls=tuple(made))


def results(log: Sequence[LogEntry]) -> dict[str, Any]:
    """The contents of a log's tool results, by call, in the order in which they stand."""
    return {wire(entry)["tool_call_id"]: wire(entry)["content"] for entry in log if wire(entry)["role"] == "tool"}


def equipped(process: Process, *tools: str, **channels: Any) -> Process:
    config = msgspec.structs.replace(
        process.config, bots={"pond": BotConfig(tools=tools)}, channels={**process.config.channels, **channels}
    )
    return replace(process, config=config)


def with_tools(monkeypatch: pytest.MonkeyPatch, *tools: Tool) -> None:
    monkeypatch.setattr(bot_runtime, "BUILTIN", Registry([*BUILTIN._tools.values(), *tools]))


def gated(name: str, gates: Mapping[str, Gate], ran: list[str], **more: Any) -> Tool:
    """A tool that stands at the gate of its argument ``at``."""

    async def run(arguments: Mapping[str, Any], _context: ToolContext) -> str:
        ran.append(arguments["at"])
        await gates[arguments["at"]].pass_through()
        return f"done {arguments['at']}"

    return Tool(name=name, description="x", run=run, **more)


def hanging(gate: Gate, ended: anyio.Event) -> Tool:
    """A tool that stands at a gate until it is cancelled."""

    async def run(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        try:
            await gate.pass_through()
        finally:
            ended.set()
        raise AssertionError

    return Tool(name="hang", description="x", run=run)


async def test_calls_of_one_answer_run_side_by_side_and_each_result_is_journalled_when_it_is_there(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates, ran = {name: Gate() for name in "abc"}, list[str]()
    with_tools(monkeypatch, gated("wait", gates, ran))
    model = ScriptedModel(calls(*((name, "wait", {"at": name}) for name in "abc")), "all done")
    await lab.publish("m")

    async with Bot(equipped(process, "wait"), model).working():
        for gate in gates.values():
            await gate.reached()
        for number, name in enumerate("cab", start=3):
            gates[name].open()
            await until(lambda number=number: journalled(lab, number))
        await until(lab.is_idle)
        await lab.publish("n")
        await until(lambda: asked(model, 3))
        await until(lab.is_idle)

    assert list(results(await lab.log()).items()) == [("c", "done c"), ("a", "done a"), ("b", "done b")]
    earlier = [msgspec.json.decode(message)["role"] for message in model.requests[2].messages][1:-1]
    assert earlier == ["user", "assistant", "tool", "tool", "tool", "assistant"], "they are history as well"
    assert sorted(ran) == ["a", "b", "c"]
    assert [msgspec.json.decode(message)["role"] for message in model.requests[1].messages][2:] == [
        *("assistant", "tool", "tool", "tool")
    ]


async def test_calls_are_on_record_before_any_of_them_starts(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        return str(await journalled(lab, 2))

    with_tools(monkeypatch, Tool(name="look", description="x", run=look))
    await lab.publish("m")

    await worked_off(equipped(process, "look"), lab, ScriptedModel(calls(("a", "look", {})), "done"))

    assert results(await lab.log()) == {"a": "True"}


async def asked(model: ScriptedModel, times: int) -> bool:
    return len(model.requests) >= times


async def journalled(lab: Lab, count: int) -> bool:
    return int(await lab.bus.call("LLEN", lab.bus.keys.log("web:ann"))) >= count


async def test_results_that_are_there_survive_a_worker_that_is_lost_and_the_others_are_interrupted(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates, ran = {name: Gate() for name in "abc"}, list[str]()
    with_tools(monkeypatch, gated("wait", gates, ran), gated("look", gates, ran, repeatable=True))
    gates["a"].open()
    wanted = calls(("a", "wait", {"at": "a"}), ("b", "wait", {"at": "b"}), ("c", "look", {"at": "c"}))
    await lab.publish("m")

    async with anyio.create_task_group() as tg:
        bot = Bot(equipped(process, "wait", "look"), ScriptedModel(wanted)).process
        tg.start_soon(lambda: serve(bot, task_status=anyio.TASK_STATUS_IGNORED))
        await until(lambda: journalled(lab, 3))
        await gates["b"].reached()
        tg.cancel_scope.cancel()
    await lab.expire()
    gates["c"].open()
    await worked_off(equipped(process, "wait", "look"), lab, ScriptedModel("done"))

    assert results(await lab.log()) == {"a": "done a", "b": "Error: interrupted, outcome unknown", "c": "done c"}
    assert sorted(ran) == ["a", "b", "c", "c"]


async def test_a_result_that_was_there_when_the_turn_was_stopped_is_on_record(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a tool's end and its place in the journal lies an await: a stop may not come in between."""
    counting, stopped = Gate(), anyio.Event()
    gates, ran = {name: Gate() for name in "ab"}, list[str]()
    with_tools(monkeypatch, gated("wait", gates, ran), hanging(gates["b"], stopped))
    slow_result = tool_loop.ToolLoop._record

    async def record(self: tool_loop.ToolLoop, entry: LogEntry) -> None:
        if b"done a" in bytes(entry.wire):
            await counting.pass_through()
        await slow_result(self, entry)

    monkeypatch.setattr(tool_loop.ToolLoop, "_record", record)
    await lab.publish("m")

    answer = calls(("a", "wait", {"at": "a"}), ("b", "hang", {}))
    async with Bot(equipped(process, "wait", "hang"), ScriptedModel(answer)).working():
        await gates["b"].reached()
        gates["a"].open()
        await counting.reached()
        await lab.publish("stop", command="stop")
        with anyio.fail_after(HANG_S):
            await stopped.wait()
        counting.open()
        await until(lab.is_idle)

    assert results(await lab.log()) == {"a": "done a", "b": "Error: interrupted, outcome unknown"}


async def test_a_refusing_journal_ends_all_calls(process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    gates, ran, ended = {"a": Gate()}, list[str](), anyio.Event()
    with_tools(monkeypatch, gated("wait", gates, ran), hanging(Gate(), ended))
    await lab.publish("m")

    answer = calls(("a", "wait", {"at": "a"}), ("b", "hang", {}))
    async with Bot(equipped(process, "wait", "hang"), ScriptedModel(answer)).working():
        await gates["a"].reached()
        # Somebody else holds the session now, for long.
        await lab.bus.call("HSET", lab.bus.keys.session("web:ann"), "nonce", "another")
        gates["a"].open()
        with anyio.fail_after(HANG_S):
            await ended.wait()

    assert not await journalled(lab, 3)


async def test_two_calls_with_one_id_both_have_their_result(process: Process, lab: Lab) -> None:
    answer = calls(("x", "time", {}), ("x", "time", {"time_zone": "Asia/Shanghai"}), ("", "no such tool!", {}))
    await lab.publish("m")

    await worked_off(process, lab, ScriptedModel(answer, "done"))

    found = results(await lab.log())
    assert list(found) == ["x", "x_", "call"] or sorted(found) == ["call", "x", "x_"]
    assert "+0000" in found["x"] and "+0800" in found["x_"]
    assert found["call"].startswith("Error: The tool 'no_such_tool_' was not found. Available tools: time, message, ")


async def test_a_picture_stands_in_the_log_as_a_part(process: Process, lab: Lab) -> None:
    folder = process.workspace("pond") / "files" / folder_of(SCOPE)
    folder.mkdir(parents=True)
    (folder / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    model = ScriptedModel(calls(("p", "read_file", {"path": "dot.png"})), "a dot")
    await lab.publish("m")

    await worked_off(equipped(process, "read_file"), lab, model)

    text, image = results(await lab.log())["p"]
    assert text["text"].startswith("dot.png: image/png")
    assert image["image_url"]["url"].startswith("data:image/png;base64,")
    assert b"data:image/png" in model.requests[1].messages[-1]


async def test_a_message_is_a_notice_in_its_own_chat_and_the_answer_comes_after(process: Process, lab: Lab) -> None:
    model = ScriptedModel(calls(("a", "message", {"content": "one moment"})), "here it is")
    await lab.publish("m")

    await worked_off(equipped(process, "message"), lab, model)

    (notice,) = await notices_of(lab)
    assert (notice.kind, notice.text, notice.attachments) == ("message", "one moment", ())
    assert results(await lab.log()) == {"a": "sent to web:ann"}


async def test_a_file_reaches_a_push_channel_with_the_message(process: Process, lab: Lab, queue: QueueConfig) -> None:
    session = "support:ann"
    async with sink() as platform:
        channel = TestingConfig(url=platform.url, send_timeout_s=0.3)
        process = equipped(process, "message", "write_file", support=channel)
        model = ScriptedModel(
            calls(("w", "write_file", {"path": "a/cat.jpg", "content": "meow"})),
            calls(("m", "message", {"content": "a cat", "media": ["a/cat.jpg"]})),
            "done",
        )
        await lab.publish("m", session=session, delivery="push")
        async with Bot(process, model).working():
            await until(lambda: lab.is_idle(session))
        async with replica(replace(process, stopping=anyio.Event())):
            await until(lambda: delivered(platform, 3))

    said, file, last = (post for post in platform.delivered)
    assert [post["text"] for post in platform.delivered] == ["a cat", "", "done"]
    assert (said["reply"], said["part"], file["part"]) == (file["reply"], 0, 1)
    path = f"files/{folder_of(SCOPE)}/a/cat.jpg"
    [attachment] = file["attachments"]
    assert {name: value for name, value in attachment.items() if value} == {
        "kind": "image", "name": "cat.jpg", "size_bytes": 4, "path": path,
    }  # fmt: skip
    assert "attachments" not in said
    assert "attachments" not in last


async def delivered(platform: Any, count: int) -> bool:
    return len(platform.delivered) >= count


async def test_another_chat_of_the_same_scope_can_be_written_to_and_no_other(process: Process, lab: Lab) -> None:
    await lab.publish("b", session="web:bob")
    await lab.publish("t", session="web:bob:7")
    await lab.bus.call("HSET", lab.bus.keys.session("web:eve"), "scope", "pond:person:web:eve")
    wanted = (("bob", "bob"), ("thread", "bob:7"), ("eve", "eve"), ("nobody", "nobody"), ("bad", "\x07"))
    answer = calls(
        *((name, "message", {"content": f"hi {name}", "channel": "web", "chat_id": chat}) for name, chat in wanted),
        ("channel", "message", {"content": "x", "channel": "nowhere", "chat_id": "bob"}),
        ("half", "message", {"content": "x", "channel": "terminal"}),
    )
    await lab.publish("m")

    async with Bot(equipped(process, "message"), ScriptedModel(*["ok"] * 0, then=answer)).working():
        await until(lambda: has_results(lab, 7))
    found = results(await everything(lab))

    assert found["bob"] == "sent to web:bob" and found["thread"] == "sent to web:bob:7"
    for name in ("eve", "nobody"):
        assert "is not one of the chats that share this conversation's memory" in found[name], found[name]
    assert found["bad"].startswith("Error: chat_id: ")
    assert found["channel"].startswith("Error: The channel 'nowhere' was not found in this worker's configuration")
    assert found["half"].startswith("Error: chat_id is missing")
    assert "hi bob" in {notice.text for notice in await notices_of(lab, "web:bob")}
    assert "hi thread" in {notice.text for notice in await notices_of(lab, "web:bob:7")}
    assert await notices_of(lab, "web:eve") == []


async def everything(lab: Lab, session: str = "web:ann") -> list[LogEntry]:
    raw = await lab.bus.call("LRANGE", lab.bus.keys.log(session), 0, -1)
    return [msgspec.json.decode(entry, type=LogEntry) for entry in raw]


@each_row(("answers", "calls_each", "ran"), [(1, 1_000, 5), (3, 2, 5), (2, 5, 5), (1, 5, 5)])
async def test_no_more_calls_of_a_turn_are_run_than_are_allowed_and_the_model_is_told_so(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch, answers: int, calls_each: int, ran: int
) -> None:
    session, times = f"web:{answers}-{calls_each}", list[bool]()

    async def run(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        times.append(True)
        return "counted"

    with_tools(monkeypatch, Tool(name="count", description="x", run=run))
    agent = AgentConfig(tool_calls_max=5)
    config = msgspec.structs.replace(process.config, bots={"pond": BotConfig(tools=("count",))}, agent=agent)
    script = [calls(*((f"{at}-{number}", "count", {}) for number in range(calls_each))) for at in range(answers)]
    await lab.publish("m", session=session)

    await worked_off(replace(process, config=config), lab, ScriptedModel(*script, "done"), session)

    log = await lab.log(session)
    told = [text for text in results(log).values() if "an answer can use at most 5 tool calls" in text]
    assert (len(times), len(told)) == (ran, answers * calls_each - ran)
    assert wire(log[-1])["content"] == "done"


async def has_results(lab: Lab, count: int) -> bool:
    return len(results(await everything(lab))) >= count


def a_saying(session: str = "web:ann", call: str = "1-0") -> TurnMessage:
    notice = Notice(kind="message", text="hi", time="2026-11-20T09:00:00.000Z")
    reply = Reply(id=f"{session}#x", session=session, turn=0, text="hi", correlation="c")
    return TurnMessage(
        call=call, session=session, scope="pond:workspace", notice=notice, reply=reply, out_channel="web"
    )


async def test_a_call_speaks_once_whoever_runs_it(lab: Lab, queue: QueueConfig) -> None:
    await lab.publish("m")
    first = await lab.claim()
    speech = TurnMessages(lab.bus, lab.sessions, queue)

    assert await speech.say(first, a_saying()) == "said"
    assert await speech.say(first, a_saying()) == "again"
    await lab.expire()
    second = await lab.claim()
    assert await speech.say(second, a_saying()) == "again"
    assert await speech.say(second, a_saying(call="1-1")) == "said"

    assert len(await notices_of(lab)) == 2
    assert len(await replies_of(lab, "web")) == 2


async def test_a_saying_under_a_stale_nonce_changes_nothing(lab: Lab, queue: QueueConfig) -> None:
    await lab.publish("m")
    lost = await lab.claim()
    await lab.expire()
    await lab.claim()
    before = await lab.dump()

    for claim in (lost, with_nonce(lost, "never given")):
        with pytest.raises(LeaseLost):
            await TurnMessages(lab.bus, lab.sessions, queue).say(claim, a_saying())

    assert await lab.dump() == before


async def test_a_saying_of_an_earlier_turn_changes_nothing(lab: Lab, queue: QueueConfig) -> None:
    await lab.publish("m")
    await lab.publish("n")
    claim = await lab.claim()
    following = await lab.commit(claim)
    assert following is not None
    before = await lab.dump()

    with pytest.raises(LeaseLost):
        await TurnMessages(lab.bus, lab.sessions, queue).say(claim, a_saying())

    assert await lab.dump() == before


async def test_a_saying_for_a_chat_of_another_scope_changes_nothing(lab: Lab, queue: QueueConfig) -> None:
    await lab.publish("m")
    claim = await lab.claim()
    await lab.bus.call("HSET", lab.bus.keys.session("web:eve"), "scope", "pond:person:web:eve")
    before = set(await lab.dump())

    assert await TurnMessages(lab.bus, lab.sessions, queue).say(claim, a_saying("web:eve")) == "foreign"

    # On a cluster the lease was renewed before: values may differ, but nothing was added anywhere.
    assert set(await lab.dump()) == before
