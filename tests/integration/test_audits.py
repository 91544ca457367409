"""Audits of consolidations on a real server: their records, what they pin, and what forgetting leaves of them."""

import json
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from daemon.memory import Audit, HistoryEntry
from daemon.process import Process
from daemon.recall import LostItem, lost_of
from tests.conftest import Lab
from tests.forgetlab import ANN, SCOPE, Pond, pond
from tests.memorylab import saves
from workers.consolidation import BACKGROUND

RULE, PROMISE, CODE = "Never water the ferns at noon.", "I will bring the lemon-7431 key tomorrow.", "lemon-7431"
TIME = "2026-11-20T09:00:00.000Z"


@pytest.fixture
def world(process: Process, lab: Lab, tmp_path: Path) -> Pond:
    return Pond(pond(process, tmp_path / "work"), lab)


async def last_entry(world: Pond) -> tuple[HistoryEntry, Audit]:
    entry = (await world.memories.history(SCOPE))[-1]
    assert entry.audit is not None
    return entry, entry.audit


async def told(world: Pond, *texts: str, entry: str = "They spoke.", **more: Any) -> None:
    """Say the texts, and have them consolidated into a summary that keeps nothing but what it is given."""
    for text in texts:
        await world.turn(ANN, text)
    await world.turn(ANN, "Thanks.")
    await world.consolidate(ANN, saves(entry, **{"memory": "- likes boats", **more}))


def switched(world: Pond, lab: Lab, **audit: Any) -> Pond:
    """The same with other settings of the audit, and with a search that finds nothing."""
    consolidation = world.process.config.consolidation
    new = msgspec.structs.replace(consolidation, audit=msgspec.structs.replace(consolidation.audit, **audit))
    object.__setattr__(world.process, "config", msgspec.structs.replace(world.process.config, consolidation=new))
    return Pond(world.process, lab)


def find_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_args: object, **_options: object) -> list[str]:
        return []

    monkeypatch.setattr("daemon.recall.recall.Recaller.snippets", nothing)


async def broken(*_args: object, **_options: object) -> list[Any]:
    raise RuntimeError("a bug")


async def test_each_item_is_counted_where_it_is_left(world: Pond) -> None:
    texts = ("My code is 4711.", "The gate is 5822.", "The shed is 6933.", RULE)

    await told(world, *texts, entry="The gate has 5822.", memory="- code 4711")

    entry, audit = await last_entry(world)
    version = await world.memories.version(SCOPE, 1)
    assert (audit.memory, audit.history, audit.recall, audit.archive, audit.pinned) == (2, 1, 1, 0, 1)
    assert audit.score == 1.0
    assert version.audit == audit
    assert version.text == f"- code 4711\n\n## Pinned\n- {RULE}\n"
    assert (entry.first, entry.upto) == (0, 8)


async def test_what_nothing_finds_is_listed_by_its_place_and_read_back_from_the_archive(
    world: Pond, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_nothing(monkeypatch)

    await told(world, f"Hello. {PROMISE}", "Bye.")

    entry, audit = await last_entry(world)
    assert (audit.archive, audit.score) == (2, 0.0)
    assert await lost_of(world.process.transcripts, entry) == [
        LostItem(kind="promise", index=0, text=PROMISE),
        LostItem(kind="code", index=0, text=CODE),
    ]
    assert CODE not in json.dumps(msgspec.to_builtins(audit))


@pytest.mark.parametrize(("words", "left"), [(CODE, set[str]()), ("ferns at noon", {PROMISE, CODE})])
async def test_forgetting_a_message_forgets_the_words_of_its_audit_and_its_pinned_line(
    world: Pond, monkeypatch: pytest.MonkeyPatch, words: str, left: set[str]
) -> None:
    find_nothing(monkeypatch)
    await told(world, PROMISE, RULE, "Bye.")
    assert RULE in (await world.memories.current(SCOPE)).text

    await world.forget(words)

    entry, _ = await last_entry(world)
    assert {lost.text for lost in await lost_of(world.process.transcripts, entry)} - {""} == left
    assert not await world.places(words)


async def test_a_line_that_a_person_deleted_is_never_pinned_again_and_one_that_he_added_stays(world: Pond) -> None:
    await told(world, RULE, "Always use the blue boat.")
    current = await world.memories.current(SCOPE)
    text = current.text.replace(f"- {RULE}\n", "- The lake is deep.\n")
    await world.memories.edit(SCOPE, of=current.version, text=text, by="ann", time=TIME)

    await told(world, "Bye.", memory="- likes lakes")

    text = (await world.memories.current(SCOPE)).text
    assert text == "- likes lakes\n\n## Pinned\n- The lake is deep.\n- Always use the blue boat.\n"


@pytest.mark.parametrize(
    ("memory", "reason", "left"),
    [
        ("- likes lakes", "", f"- likes lakes\n\n## Pinned\n- {RULE}\n"),
        ("- never waters the ferns at noon", "", "- never waters the ferns at noon"),
        ("- likes lakes", "The ferns have died.", "- likes lakes"),
    ],
    ids=["dropped", "merged", "dropped with a reason"],
)
async def test_a_later_summary_may_merge_a_pinned_line_or_say_why_it_goes(
    world: Pond, memory: str, reason: str, left: str
) -> None:
    await told(world, RULE)

    await told(world, "Bye.", memory=memory, memory_reason=reason)

    assert (await world.memories.current(SCOPE)).text == left


async def test_a_rule_that_a_later_summary_drops_is_pinned(world: Pond) -> None:
    await told(world, RULE, memory="- ferns: never water at noon")

    await told(world, "Bye.", memory="- likes lakes")

    text = (await world.memories.current(SCOPE)).text
    assert text == "- likes lakes\n\n## Pinned\n- ferns: never water at noon\n"


async def test_a_request_that_was_merged_without_its_trigger_word_outlasts_all_later_summaries(world: Pond) -> None:
    await told(world, "Please remember that I am allergic to nuts.", memory="- likes boats\n- is allergic to nuts")
    await told(world, "Hello.", memory="- likes boats, and is allergic to nuts")
    assert (await world.memories.current(SCOPE)).text == "- likes boats, and is allergic to nuts"

    await told(world, "Bye.", memory="- likes lakes")

    kept = "- likes lakes\n\n## Pinned\n- Please remember that I am allergic to nuts.\n"
    assert (await world.memories.current(SCOPE)).text == kept
    assert len((await last_entry(world))[1].requests) == 1


async def test_a_pinned_line_of_a_person_that_was_merged_outlasts_later_summaries(world: Pond) -> None:
    text = "- likes boats\n\n## Pinned\n- The lake is 40 m deep.\n"
    await world.memories.edit(SCOPE, of=0, text=text, by="ann", time=TIME)
    await told(world, "Hello.", memory="- likes boats, and the lake is 40 m deep")
    await told(world, "Hello again.", memory="- likes boats. The lake, which is 40 m deep, is cold.")
    assert "Pinned" not in (await world.memories.current(SCOPE)).text

    await told(world, "Bye.", memory="- likes boats")

    assert (await world.memories.current(SCOPE)).text == text


@pytest.mark.parametrize("memory_reason", ["", "The allergy is cured."])
async def test_a_request_that_a_person_deleted_or_a_summary_dropped_for_a_reason_is_kept_no_longer(
    world: Pond, memory_reason: str
) -> None:
    await told(world, "Please remember that I am allergic to nuts.", memory="- is allergic to nuts")
    if not memory_reason:
        current = await world.memories.current(SCOPE)
        await world.memories.edit(SCOPE, of=current.version, text="- likes boats", by="ann", time=TIME)

    await told(world, "Hello.", memory="- likes lakes", memory_reason=memory_reason)
    await told(world, "Bye.", memory="- likes ponds")

    assert (await world.memories.current(SCOPE)).text == "- likes ponds"
    assert (await last_entry(world))[1].requests == ()


async def test_a_request_in_a_forgotten_message_is_pinned_no_more(world: Pond) -> None:
    await told(world, "Please remember that I am allergic to nuts.", "Bye.", memory="- is allergic to nuts")
    await world.forget("allergic to nuts")

    await told(world, "Hello.", memory="- likes lakes")

    assert (await world.memories.current(SCOPE)).text == "- likes lakes"
    assert not await world.places("allergic to nuts")


async def test_a_request_that_cannot_be_read_back_is_passed_on(world: Pond, monkeypatch: pytest.MonkeyPatch) -> None:
    await told(world, "Please remember that I am allergic to nuts.", memory="- is allergic to nuts")

    async def hang(*_args: object) -> None:
        await anyio.sleep_forever()

    with monkeypatch.context() as patch:
        patch.setattr("workers.consolidation.audit.pinned_statements.messages_at", hang)
        patch.setattr("workers.consolidation.audit.pinned_statements.READ_S", 0.0)
        await told(world, "Hello.", memory="- is allergic to nuts, and likes lakes")
    assert len((await last_entry(world))[1].requests) == 1

    await told(world, "Bye.", memory="- likes lakes")

    assert "allergic to nuts" in (await world.memories.current(SCOPE)).text


async def test_a_range_that_no_model_summarized_has_its_rules_pinned(world: Pond, lab: Lab) -> None:
    await world.turn(ANN, RULE)
    await world.turn(ANN, "Thanks.")
    await lab.bus.call("HSET", lab.bus.keys.session(ANN), "failures", 3)

    await world.consolidate(ANN)

    entry, audit = await last_entry(world)
    assert (entry.kind, audit.score, audit.pinned) == ("raw", 1.0, 1)
    assert (await world.memories.current(SCOPE)).text == f"## Pinned\n- {RULE}\n"


async def test_a_pinned_line_outlasts_the_summary_of_an_earlier_outage(world: Pond, lab: Lab) -> None:
    await world.turn(ANN, RULE)
    await world.turn(ANN, "Thanks.")
    await lab.bus.call("HSET", lab.bus.keys.session(ANN), "failures", 3)
    await world.consolidate(ANN)
    await world.turn(ANN, "word " * 2_000)
    await world.turn(ANN, "Bye.")

    await world.consolidate(ANN, *[saves("x", memory=f"- likes {at}") for at in "abc"], want=BACKGROUND)

    assert any(version.kind == "digest" for version in await world.memories.versions(SCOPE))
    assert (await world.memories.current(SCOPE)).text.endswith(f"\n\n## Pinned\n- {RULE}\n")


async def test_a_failing_search_leaves_items_unsearched(world: Pond, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daemon.recall.recall.Recaller.snippets", broken)

    await told(world, PROMISE)

    _, audit = await last_entry(world)
    assert (audit.unsearched, audit.score) == (2, None)


async def test_an_audit_that_is_switched_off_pins_nothing(world: Pond, lab: Lab) -> None:
    world = switched(world, lab, enabled=False)

    await told(world, RULE)

    assert (await world.memories.history(SCOPE))[-1].audit is None
    assert (await world.memories.current(SCOPE)).text == "- likes boats"


async def test_a_full_pinned_part_takes_no_more_and_the_audit_says_so(world: Pond, lab: Lab) -> None:
    world = switched(world, lab, pinned_max_share=0.005)

    await told(world, RULE, "Always use the blue boat on the large lake behind the mill.")

    _, audit = await last_entry(world)
    assert (audit.pinned, audit.memory, audit.recall) == (1, 1, 1)
