"""What the web channel tells of memories, and whose."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import pytest

from channels.web.memory.memory_endpoints import scope_of
from daemon.archive import Shelf
from daemon.memory import HistoryEntry, Memories, Note, Version
from daemon.process import Process
from tests.conftest import Lab
from tests.weblab import Page, at, page_of

ANN, BOB = "pond:person:web:ann", "pond:person:tg:%E5%B0%8F"
SECRET = "gardenia"  # what only Bob's memory holds
READS = ("", "/versions", "/versions/1", "/diff?from=0", "/history", "/notes", f"/search?q={SECRET}%20heron")


@pytest.fixture
def memories(process: Process) -> Memories:
    return Memories(process.bus, process.archive)


async def remembered(memories: Memories, scope: str, word: str, session: str) -> None:
    """A memory with two versions, a rejected one between, two entries and notes of two days."""
    opened = await memories.open(scope, session, fence=1, nonce="n")
    for number in range(2):
        entry = HistoryEntry(
            time=f"2026-11-2{number}T09:00:00.000Z", session=session, first=4 * number, upto=4 * number + 4,
            kind="summary", model="m", text=f"[2026-11-2{number} 09:00] They spoke of the {word}, day {number}.",
        )  # fmt: skip
        update = Version(
            kind="consolidation", time=entry.time, session=session, first=entry.first, upto=entry.upto, model="m",
            text="\n".join(["# Known", *(f"- a {word} {n}" for n in range(number + 1)), ""]),
        )  # fmt: skip
        rejected = (
            Version(kind="rejected", time=entry.time, reason=f"no {word}", text=f"only {word}") if number else None
        )
        opened = (await memories.apply(opened, entry, mark="m", update=update, rejected=rejected)).opened
    notes = [
        Note(
            time=f"2026-11-2{day}T10:00:00.000Z", date=f"2026-11-2{day}", session=session, cycle=0, text=f"{word} {day}"
        )
        for day in (0, 1)
    ]
    await memories.append(opened, None, cycle=0, notes=notes)


@pytest.fixture
async def page(process: Process, memories: Memories) -> AsyncIterator[Page]:
    await remembered(memories, ANN, "heron", "web:ann")
    await remembered(memories, BOB, SECRET, "tg:%E5%B0%8F")
    async with page_of(process) as page:
        yield page


async def test_nothing_of_one_scope_is_answered_about_another(page: Page) -> None:
    for read in READS:
        of_bob, of_ann = str(await page.get(at(BOB, read))), str(await page.get(at(ANN, read)))
        assert SECRET in of_bob and "heron" not in of_bob, read
        assert "heron" in of_ann and SECRET not in of_ann, read


async def test_what_is_no_scope_opens_no_memory(page: Page) -> None:
    for name in (
        "x", "../..", "pond", "pond:person", "pond:robot:a:b", "pond:person:web:a b", "p:workspace:x", "a" * 2_000,
    ):  # fmt: skip
        assert await page.refused(at(name), 400) == "bad_request", name
    for name in ("pond:person:web:nobody", "pond:group:web:ann", "other:person:web:ann", "pond:workspace"):
        for read in READS:
            assert await page.refused(at(name, read), 404) == "no_memory", name
    assert await page.refused("/api/memory/pond%3Aworkspace/what", 404) == "not_found"
    assert await page.refused("/api/memory/pond:person:web:ann/x/history", 404) == "not_found"


def test_a_scope_is_named_as_it_is_or_encoded_once_more() -> None:
    for scope in (ANN, BOB, "pond:workspace", "p%20x:group:tg:-100:7", "pond:session:web:a.b~c"):
        assert scope_of(quote(scope, safe="")) == scope_of(quote(scope, safe=":%")) == scope


async def test_a_memory_that_was_joined_with_another_is_that_one(page: Page, process: Process) -> None:
    keys = process.bus.keys
    await process.bus.call("HSET", keys.memory(ANN), "joined", BOB)

    assert (await page.get(at(ANN)))["scope"] == BOB
    assert [line["scope"] for line in (await page.get("/api/memory"))["scopes"]] == [BOB]


async def test_of_whoever_began_to_talk_just_now_nothing_is_remembered_yet(page: Page, lab: Lab) -> None:
    await lab.publish("m1")

    found = await page.get(at("pond:workspace"))

    assert (found["version"], found["text"], found["tokens"]) == (0, "", 0)
    for read, name in (
        ("/versions", "versions"), ("/history", "entries"), ("/notes", "notes"), ("/search?q=x", "hits"),
    ):  # fmt: skip
        assert (await page.get(at("pond:workspace", read)))[name] == []
    assert await page.refused(at("pond:workspace", "/versions/1"), 404) == "no_version"


async def test_memories_are_listed_with_what_is_known(page: Page) -> None:
    found = await page.get("/api/memory")

    assert {line["scope"] for line in found["scopes"]} == {ANN, BOB} and found["more"] == 0
    [line] = (await page.get("/api/memory", q="WEB:ann"))["scopes"]
    assert (line["scope"], line["bot"], line["version"]) == (ANN, "pond", 2)
    assert (line["entries"], line["notes"], line["time"]) == (2, 2, "2026-11-21T09:00:00.000Z")
    assert 5 < line["tokens"] == (await page.get(at(ANN)))["tokens"]
    first = await page.get("/api/memory", limit=1)
    assert (len(first["scopes"]), first["more"]) == (1, 1)


async def test_a_memory_is_read_with_what_made_it(page: Page) -> None:
    found = await page.get(at(ANN))

    assert found["text"] == "# Known\n- a heron 0\n- a heron 1\n"
    about = {name: found[name] for name in ("version", "cause", "session", "first", "upto", "model")}
    assert about == {
        "version": 2, "cause": "consolidation", "session": "web:ann", "first": 4, "upto": 8, "model": "m",
    }  # fmt: skip


async def test_versions_tell_what_they_changed(page: Page) -> None:
    found = (await page.get(at(ANN, "/versions")))["versions"]

    assert [(each["version"], each["cause"], each["current"]) for each in found] == [
        (3, "rejected", False),
        (2, "consolidation", True),
        (1, "consolidation", False),
    ]
    assert [(each["added"], each["removed"]) for each in found] == [(10, 29), (11, 0), (18, 0)]
    assert [each["reason"] for each in found] == ["no heron", "", ""]
    assert (await page.get(at(ANN, "/versions?limit=1")))["versions"] == found[:1]
    one = await page.get(at(ANN, "/versions/1"))
    assert (one["text"], one["current"]) == ("# Known\n- a heron 0\n", False)
    for number in (0, 4, 99):
        assert await page.refused(at(ANN, f"/versions/{number}"), 404) == "no_version"
    assert await page.refused(at(ANN, "/versions/x"), 400) == "bad_request"


async def test_what_changed_is_told_word_by_word(page: Page) -> None:
    found = await page.get(at(ANN, "/diff?from=1"))
    back = await page.get(at(ANN, "/diff?from=2&to=1"))
    first = await page.get(at(ANN, "/diff?from=0&to=1"))

    same = [["same", "# Known"]], [["same", "- a heron 0"]]
    assert (found["from"], found["to"], found["lines"]) == (1, 2, [*same, [["new", "- a heron 1"]]])
    assert back["lines"] == [*same, [["gone", "- a heron 1"]]]
    assert first["lines"] == [[["new", "# Known"]], [["new", "- a heron 0"]]]
    assert (await page.get(at(ANN, "/diff?from=3")))["lines"][-1] == [["new", "- a heron 1"]]
    assert await page.refused(at(ANN, "/diff"), 400) == "bad_request"
    assert await page.refused(at(ANN, "/diff?from=9"), 404) == "no_version"


async def test_the_history_is_read_backwards_page_by_page(page: Page) -> None:
    newest = (await page.get(at(ANN, "/history?limit=1")))["entries"]
    older = (await page.get(at(ANN, "/history?before=1")))["entries"]

    assert [(each["index"], each["session"], each["first"], each["upto"]) for each in (*newest, *older)] == [
        (1, "web:ann", 4, 8),
        (0, "web:ann", 0, 4),
    ]
    assert newest[0]["text"].endswith("heron, day 1.")
    assert (await page.get(at(ANN, "/history?before=0")))["entries"] == []
    assert len((await page.get(at(ANN, "/history")))["entries"]) == 2


async def test_the_history_goes_on_into_the_archive(page: Page, memories: Memories, process: Process) -> None:
    whole = (await page.get(at(ANN, "/history")))["entries"]
    keys = process.bus.keys
    raws = await process.bus.call("LRANGE", keys.history(ANN), 0, 0)
    await process.archive.write(Shelf.of("history", ANN), 0, raws)
    await process.bus.call("LPOP", keys.history(ANN))
    await process.bus.call("HSET", keys.memory(ANN), "history_base", 1)

    assert (await page.get(at(ANN, "/history")))["entries"] == whole
    assert [each["index"] for each in (await page.get(at(ANN, "/history?before=1")))["entries"]] == [0]
    assert [each["index"] for each in (await page.get(at(ANN, "/history?limit=1")))["entries"]] == [1]
    assert (await page.get("/api/memory", q="ann"))["scopes"][0]["entries"] == 2


async def test_notes_are_read_day_by_day(page: Page) -> None:
    last, first = await page.get(at(ANN, "/notes")), await page.get(at(ANN, "/notes?day=2026-11-20"))

    assert (last["day"], last["days"]) == ("2026-11-21", ["2026-11-21", "2026-11-20"])
    assert [note["text"] for note in last["notes"]] == ["heron 1"]
    assert [note["text"] for note in first["notes"]] == ["heron 0"]
    assert (await page.get(at(ANN, "/notes?day=1999-01-01")))["notes"] == []


async def test_words_are_found_with_scores_the_best_first(page: Page) -> None:
    found: list[dict[str, Any]] = (await page.get(at(ANN, "/search?q=Heron%20day")))["hits"]

    assert {hit["source"] for hit in found} == {"memory", "history", "notes"}
    assert found == sorted(found, key=lambda hit: -hit["score"]) and found[-1]["score"] > 0
    assert found[0]["source"] == "history" and {hit.get("index") for hit in found[:2]} == {0, 1}
    assert len((await page.get(at(ANN, "/search?q=heron&limit=2")))["hits"]) == 2
    assert (await page.get(at(ANN, "/search?q=toad")))["hits"] == []
    assert await page.refused(at(ANN, "/search"), 400) == "bad_request"
