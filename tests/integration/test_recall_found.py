"""Recall with the builtin engine: what was said and what was remembered is found again, and nobody else's."""

from dataclasses import replace

import msgspec
import pytest

from daemon.bus import publish
from daemon.config import BotConfig
from daemon.memory import Memories
from daemon.process import Process
from daemon.testing import ScriptedModel
from tests.conftest import Lab, an_inbound
from tests.integration.test_asides import answered
from tests.integration.test_recall_turns import calls, contents, remember, results
from tests.integration.test_turns import Bot, until

pytestmark = pytest.mark.anyio

TOOLS = ("memory_search", "memory_get", "conversation_search")


async def say(process: Process, lab: Lab, session: str, *texts: str, model: ScriptedModel, sender: str = "") -> None:
    """Say something in a direct chat, each text once the one before is answered."""
    name = sender or session.partition(":")[2]

    async def nobody_waits() -> bool:
        state = await lab.state(session)
        return state.exists and state.waiting == 0 and not state.worker

    async with Bot(process, model).working():
        for text in texts:
            inbound = an_inbound(f"{session} {text}", session=session, text=text)
            inbound = msgspec.structs.replace(inbound, sender_id=name, sender_name=name)
            scope = f"pond:person:{inbound.channel}:{name}"
            await publish(lab.bus, inbound, scope=scope, config=lab.queue)
            await until(nobody_waits)


def with_tools(process: Process) -> Process:
    return replace(process, config=msgspec.structs.replace(process.config, bots={"pond": BotConfig(tools=TOOLS)}))


@pytest.mark.parametrize(
    ("told", "asked", "wanted"),
    [
        ("My daughter Mia plays the cello in a quartet.", "Which instrument does my daughter play?", "cello"),
        ("我的女儿叫小雨，今年七岁。", "我的女儿叫什么名字？", "小雨"),
        ("公司的代理地址是 proxy.example.org:3128", "怎么配置代理？", "proxy.example.org:3128"),
    ],
)
async def test_what_was_said_in_another_conversation_comes_back_word_for_word(
    process: Process, lab: Lab, told: str, asked: str, wanted: str
) -> None:
    await say(process, lab, "web:one", told, "The weather is fine.", model=ScriptedModel(then="I see"), sender="ann")
    model = ScriptedModel(then="I see")

    await say(process, lab, "web:two", asked, model=model, sender="ann")

    section = contents(model)[0].partition("## Relevant Memory\n")[2]
    assert wanted in section
    assert "(transcript/web:one) [1.00]" in section


async def test_nobody_is_reminded_of_what_somebody_else_said(process: Process, lab: Lab) -> None:
    await say(process, lab, "web:bob", "My daughter Mia plays the cello.", model=ScriptedModel(then="I see"))
    model = ScriptedModel(calls(("c", "conversation_search", {"query": "daughter cello"})), then="I see")

    await say(with_tools(process), lab, "web:ann", "Which instrument does my daughter play?", model=model)

    assert "Mia" not in "".join(contents(model))
    assert list(results(await lab.log("web:ann")).values()) == ["No earlier messages found."]


async def test_what_stands_in_the_same_conversation_is_not_repeated(process: Process, lab: Lab) -> None:
    model = ScriptedModel(then="I see")

    await say(process, lab, "web:ann", "My daughter Mia plays the cello.", "What does my daughter play?", model=model)

    assert "Relevant Memory" not in contents(model)[0]


async def test_tools_find_history_and_messages_and_read_around_them(process: Process, lab: Lab) -> None:
    await remember(lab)
    model = ScriptedModel(
        calls(("c1", "memory_search", {"query": "tea"}), ("c2", "memory_search", {"query": "rain"})), then="I see"
    )

    async def nobody_waits() -> bool:
        return (await lab.state()).waiting == 0

    await lab.publish("a", text="hello")
    async with Bot(with_tools(process), model).working():
        await until(nobody_waits)

    found = results(await lab.log())
    tea, rain = found["c1"], found["c2"]
    assert "(memory/MEMORY.md@1) [1.00]" in tea
    assert "likes tea" in tea
    assert "(memory/2026-11-20.md) [1.00]" in rain

    docid = tea.partition("[")[2].partition("]")[0]
    await lab.publish("b", text="more")
    again = ScriptedModel(calls(("c3", "memory_get", {"docid": docid, "context": 1})), then="I see")
    async with Bot(with_tools(process), again).working():
        await until(nobody_waits)
    assert results(await lab.log())["c3"] == "memory/MEMORY.md@1, lines 1 to 2:\n\n# Ann\n- likes tea"


async def test_a_question_of_a_person_is_answered_from_messages(process: Process, lab: Lab) -> None:
    model = ScriptedModel(then="I see")
    await say(process, lab, "web:ann", "My daughter Mia plays the cello.", model=model)
    inbound = an_inbound("q", session="web:ann", command="memory", text="/memory who plays the cello?")

    async with Bot(process, model).working():
        await publish(lab.bus, inbound, scope="", config=lab.queue)
        (notice,) = await answered(lab)

    assert notice.text.startswith("What I remember of that:\n\n1. messages, 2026-11-20: ann: My daughter Mia plays")


async def test_a_memory_that_is_empty_changes_no_prompt(process: Process, lab: Lab) -> None:
    model = ScriptedModel(then="I see")

    await say(process, lab, "web:ann", "Which instrument does my daughter play?", model=model)

    assert "Relevant Memory" not in "".join(contents(model))
    assert await Memories(lab.bus).history("pond:person:web:ann") == []
