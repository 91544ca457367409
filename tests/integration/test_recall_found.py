"""Recall with the built-in engine: what was said and what was remembered is found again, and nobody else's."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import anyio
import msgspec
import pytest

from daemon.bus import publish
from daemon.config import BotConfig
from daemon.memory import Memories, Note
from daemon.process import Process
from daemon.recall.index.index_files import FOLDER
from daemon.recall.vectors import Embedders
from daemon.scope import folder_of
from daemon.testing import ScriptedModel
from tests.conftest import Lab, an_inbound
from tests.integration.test_asides import answered
from tests.integration.test_recall_turns import calls, contents, remember, results
from tests.integration.test_turns import Bot, worked_off
from tests.limits import HANG_S, until
from tests.tables import each_row

TOOLS = ("memory_search", "memory_get", "conversation_search")


@pytest.fixture
def process(process: Process) -> Process:
    search = msgspec.structs.replace(process.config.memory_search, turn_deadline_s=HANG_S)
    return replace(process, config=msgspec.structs.replace(process.config, memory_search=search))


async def say(process: Process, lab: Lab, session: str, *texts: str, model: ScriptedModel, sender: str = "") -> None:
    """Say something in a direct chat, each text once the one before is answered."""
    name = sender or session.partition(":")[2]
    async with Bot(process, model).working():
        for text in texts:
            inbound = an_inbound(f"{session} {text}", session=session, text=text)
            inbound = msgspec.structs.replace(inbound, sender_id=name, sender_name=name)
            scope = f"pond:person:{inbound.channel}:{name}"
            await publish(lab.bus, inbound, scope=scope, config=lab.queue)
            await until(lambda: lab.is_idle(session))


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

    section = contents(model)[-1].partition("## Relevant Memory\n")[2]
    assert wanted in section
    assert "(transcript/web:one) [1.00]" in section


async def test_nobody_is_reminded_of_what_somebody_else_said(process: Process, lab: Lab) -> None:
    await say(process, lab, "web:bob", "My daughter Mia plays the cello.", model=ScriptedModel(then="I see"))
    model = ScriptedModel(calls(("c", "conversation_search", {"query": "daughter cello"})), then="I see")

    await say(with_tools(process), lab, "web:ann", "Which instrument does my daughter play?", model=model)

    assert "Mia" not in "".join(contents(model))
    assert list(results(await lab.log("web:ann")).values()) == ["No earlier messages found."]


def indexes(process: Process) -> list[str]:
    return [path.name for path in (process.data_dir / FOLDER).glob("*")]


async def test_what_stands_in_the_same_conversation_is_not_repeated_or_indexed(process: Process, lab: Lab) -> None:
    model = ScriptedModel(then="I see")

    await say(process, lab, "web:ann", "My daughter Mia plays the cello.", "What does my daughter play?", model=model)

    assert "Relevant Memory" not in "".join(contents(model, 0) + contents(model, 1))
    assert indexes(process) == []
    assert await Memories(lab.bus).history("pond:person:web:ann") == []


async def test_tools_find_history_and_messages_and_read_around_them(process: Process, lab: Lab) -> None:
    await remember(lab)
    model = ScriptedModel(
        calls(("c1", "memory_search", {"query": "tea"}), ("c2", "memory_search", {"query": "rain"})), then="I see"
    )
    await lab.publish("a", text="hello")
    await worked_off(with_tools(process), lab, model)

    found = results(await lab.log())
    tea, rain = found["c1"], found["c2"]
    assert "(memory/MEMORY.md@1) [1.00]" in tea
    assert "likes tea" in tea
    assert "(memory/2026-11-20.md) [1.00]" in rain

    docid = tea.partition("[")[2].partition("]")[0]
    await lab.publish("b", text="more")
    again = ScriptedModel(calls(("c3", "memory_get", {"docid": docid, "context": 1})), then="I see")
    await worked_off(with_tools(process), lab, again)
    assert results(await lab.log())["c3"] == "memory/MEMORY.md@1, lines 1 to 2:\n\n# Ann\n- likes tea"


async def test_a_question_of_a_person_is_answered_from_messages(process: Process, lab: Lab) -> None:
    model = ScriptedModel(then="I see")
    await say(process, lab, "web:ann", "My daughter Mia plays the cello.", model=model)
    inbound = an_inbound("q", session="web:ann", command="memory", text="/memory who plays the cello?")

    async with Bot(process, model).working():
        await publish(lab.bus, inbound, scope="", config=lab.queue)
        (notice,) = await answered(lab)

    assert notice.text.startswith(
        "This is what I remember about that:\n\n1. messages, 2026-11-20: ann: My daughter Mia plays"
    )


async def test_a_second_conversation_or_a_note_is_searched(process: Process, lab: Lab) -> None:
    model, scope = ScriptedModel(then="I see"), "pond:person:web:bob"
    note = Note(time="2026-11-20T09:00:00.000Z", date="2026-11-20", session="web:b", cycle=0, text="- rain at the pond")
    await lab.bus.call("RPUSH", lab.bus.keys.notes(scope), msgspec.json.encode(note))

    await say(process, lab, "web:bob", "Was there rain?", model=model)
    await say(process, lab, "web:one", "Mia plays the cello.", model=model, sender="ann")
    await say(process, lab, "web:two", "What does Mia play?", model=model, sender="ann")

    assert "rain at the pond" in contents(model, 0)[-1]
    assert sorted(indexes(process)) == [folder_of("pond:person:web:ann"), folder_of(scope)]


@each_row(
    "told, asked, nothing, wanted",
    [
        (
            "We got a beagle and named it Biscuit.",
            "What is the name of our beagle?",
            "I don't know its name.",
            "Biscuit",
        ),
        ("我们养了一只比格犬，名叫饼干。", "我们的比格犬叫什么名字？", "我不知道你们的比格犬叫什么。", "饼干"),
    ],
)
async def test_a_question_that_was_asked_before_is_answered_from_the_statement(
    process: Process, lab: Lab, told: str, asked: str, nothing: str, wanted: str
) -> None:
    model, person = ScriptedModel("I see", then=nothing), f"ann-{len(told)}"
    await say(process, lab, f"web:told-{person}", told, model=model, sender=person)
    for number in range(7):
        await say(process, lab, f"web:{number}-{person}", asked, model=model, sender=person)

    recalled = contents(model)[-1].replace(asked, "")

    assert wanted in recalled
    assert nothing not in recalled


async def test_what_is_said_is_taken_in_beside_turns_where_somebody_searches(process: Process, lab: Lab) -> None:
    model = ScriptedModel(then="I see")
    await say(process, lab, "web:one", "Mia plays the cello.", model=model, sender="ann")
    process = replace(process)  # another one of the same data directory
    recaller, scope = process.recaller, "pond:person:web:ann"
    await recaller.search(scope, "cello")

    async def is_taken_in() -> bool:
        [path] = (process.data_dir / FOLDER / folder_of(scope)).glob("words-*.sqlite3")
        with closing(sqlite3.connect(path)) as connection:
            return bool(connection.execute("SELECT 1 FROM chunk WHERE text LIKE '%harp%'").fetchone())

    async with anyio.create_task_group() as tg:
        tg.start_soon(recaller.run)
        await say(replace(process), lab, "web:two", "Leo plays the harp.", model=model, sender="ann")
        recaller.grew(scope)
        await until(is_taken_in)
        tg.cancel_scope.cancel()
    await recaller.aclose()


@pytest.mark.parametrize(("mode", "is_opened"), [("query", True), ("search", False)])
async def test_a_process_that_lasts_opens_what_it_will_search_by_when_it_starts(
    process: Process, monkeypatch: pytest.MonkeyPatch, mode: str, *, is_opened: bool
) -> None:
    opened = list[str]()

    async def open_all(_: Embedders) -> None:
        opened.append(mode)

    monkeypatch.setattr(Embedders, "open_all", open_all)
    search = msgspec.structs.replace(process.config.memory_search, mode=mode)
    process = replace(process, config=msgspec.structs.replace(process.config, memory_search=search))

    await process.recaller.warm()
    await process.recaller.aclose()

    assert bool(opened) == is_opened
