"""What is shown of the next prompt is what is sent, to the byte."""

from dataclasses import replace

import msgspec
import pytest

from daemon.config import BotConfig, Config, ModelConfig
from daemon.errors import InboundError
from daemon.events import Attachment
from daemon.model import Answer, ToolCall
from daemon.process import Process
from daemon.testing import Gate, ScriptedModel
from tests.conftest import Lab
from tests.fakes.said import said
from tests.integration.test_tools_mcp import program
from tests.integration.test_turns import Bot
from tests.limits import until
from workers.agent.prompt.prompt_preview import preview


async def answered(process: Process, lab: Lab, model: ScriptedModel) -> None:
    async def nothing_waits() -> bool:
        state = await lab.state()
        return state.exists and state.waiting == 0 and not state.worker

    async with Bot(process, model).working():
        await until(nothing_waits)


def workspace(process: Process) -> None:
    folder = process.workspace("pond")
    (folder / "skills" / "one").mkdir(parents=True)
    (folder / "AGENTS.md").write_text("Be kind.")
    (folder / "skills" / "one" / "SKILL.md").write_text("---\ndescription: how to wade\n---\nslowly")


async def test_the_prompt_shown_for_a_waiting_message_is_the_one_that_is_sent(process: Process, lab: Lab) -> None:
    workspace(process)
    model = ScriptedModel("one", Answer(text="", tool_calls=(ToolCall(id="c", name="time", arguments="{}"),)), "two")
    await lab.publish("a")
    await answered(process, lab, model)
    await lab.publish("b", attachments=(Attachment(kind="image", name="h", url="https://h/h.png"),))

    shown = await preview(process, "web:ann")
    await answered(process, lab, model)

    sent = model.requests[1]
    assert shown["messages"] == [msgspec.json.decode(wire) for wire in sent.messages]
    assert shown["tools"] == [msgspec.json.decode(tool) for tool in sent.tools]
    assert (shown["for"], shown["tokens"]) == ("waiting message", sent.tokens)
    assert sum(shown["parts"].values()) == shown["budget_tokens"]
    assert "Be kind." in shown["messages"][0]["content"]
    assert "how to wade" in shown["messages"][0]["content"]
    assert shown["messages"][-1]["content"][-1] == {"type": "image_url", "image_url": {"url": "https://h/h.png"}}


async def test_the_tools_of_servers_are_shown_as_they_are_sent(process: Process, lab: Lab) -> None:
    process = replace(
        process, config=Config(bots={"pond": BotConfig(mcp={"fake": program(), "gone": program("gone")})})
    )
    model = ScriptedModel("one", "two")
    await lab.publish("a")
    await answered(process, lab, model)
    await lab.publish("b")

    shown = await preview(process, "web:ann")
    await answered(process, lab, model)

    assert "fake_echo" in [tool["function"]["name"] for tool in shown["tools"]]
    assert shown["tools"] == [msgspec.json.decode(tool) for tool in model.requests[1].tools]
    assert shown["tokens"] == model.requests[1].tokens


async def test_tools_of_servers_that_would_fill_the_window_are_not_sent_and_not_shown(process: Process, lab: Lab):
    await lab.publish("a")
    smallest = ModelConfig(context_window_tokens=4_096, max_completion_tokens=1_024, safety_buffer_tokens=2_048)
    servers = {f"fake{number}": program() for number in range(8)}
    process = replace(process, config=Config(bots={"pond": BotConfig(mcp=servers, model=smallest, tools=("time",))}))
    model = ScriptedModel("one")

    shown = await preview(process, "web:ann")
    await answered(process, lab, model)

    assert [tool["function"]["name"] for tool in shown["tools"]] == ["time"]
    assert shown["tools"] == [msgspec.json.decode(tool) for tool in model.requests[0].tools]
    assert shown["tokens"] == model.requests[0].tokens


async def test_the_log_keeps_what_was_said_without_the_runtime_context(process: Process, lab: Lab) -> None:
    model = ScriptedModel("one")
    await lab.publish("a")
    await answered(process, lab, model)

    assert msgspec.json.decode(model.requests[0].messages[1])["content"].startswith("[Runtime context]\n")
    assert msgspec.json.decode((await lab.log())[0].wire)["content"] == "text of a"


async def test_without_a_waiting_message_an_empty_one_is_assumed(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    await answered(process, lab, ScriptedModel("one"))

    shown = await preview(process, "web:ann")

    assert shown["for"] == "empty message"
    assert [message["role"] for message in shown["messages"]] == ["system", "user", "assistant", "user"]
    assert said(shown["messages"][-1]["content"]) == ""
    assert shown["messages"][-1]["content"].startswith("[Runtime context]\n")


async def test_of_a_turn_in_progress_its_journal_is_shown(process: Process, lab: Lab) -> None:
    gate = Gate()
    model = ScriptedModel(Answer(text="", tool_calls=(ToolCall(id="c", name="time", arguments="{}"),)), [gate, "done"])
    await lab.publish("a")
    async with Bot(process, model).working():
        await gate.reached()
        shown = await preview(process, "web:ann")
        gate.open()

    assert shown["for"] == "turn in progress"
    assert [message["role"] for message in shown["messages"]] == ["system", "user", "assistant", "tool"]


async def test_a_group_shows_who_said_what(process: Process, lab: Lab) -> None:
    await lab.publish("a", chat_kind="group", sender_name="Bo")
    await answered(process, lab, ScriptedModel("one"))
    await lab.publish("b", chat_kind="group", sender_name="Ann")

    shown = await preview(process, "web:ann")

    assert shown["messages"][1]["content"] == "[Bo] text of a"
    assert said(shown["messages"][-1]["content"]) == "[Ann] text of b"


async def test_a_session_that_nobody_wrote_to_is_refused(process: Process) -> None:
    with pytest.raises(InboundError, match="no one has sent a message"):
        await preview(process, "web:nobody")
