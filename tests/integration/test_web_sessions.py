"""What the web channel tells of sessions: lists, pages backwards, what fills a prompt, timelines, searches."""

from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.web import message_endpoints as messages_module
from channels.web.session import session_endpoints
from daemon.events import LogEntry
from daemon.model import Model
from daemon.process import Process
from daemon.session import SessionReader
from daemon.transcripts import transcripts
from tests.conftest import Lab
from tests.memorylab import MemoryLab, Summaries, saves, small_window
from tests.weblab import Page, page_of
from workers.agent.prompt.prompt_preview import preview
from workers.consolidation import ConsolidationRequest

ANN = "/api/sessions/web:ann"


@pytest.fixture
def small(process: Process) -> Process:
    return replace(process, config=small_window(process.config))


@pytest.fixture
def memory(small: Process, lab: Lab) -> MemoryLab:
    said = saves("[2026-11-20 09:00] They talked.\nOf herons.", memory="Ann asks.", continuity="Ann wants to know why.")
    return MemoryLab(small, lab, cast("Model", Summaries(said)))


@pytest.fixture
async def page(memory: MemoryLab) -> AsyncIterator[Page]:
    async with page_of(memory.process) as page:
        yield page


async def consolidated(memory: MemoryLab) -> None:
    """A session of which older messages were consolidated, and newer ones were not."""
    await memory.talk(6)
    await memory.consolidator.consolidate(memory.session, ConsolidationRequest(at="now"))
    await memory.talk(2)


async def archived(memory: MemoryLab) -> int:
    """As ``consolidated``; the older messages have left Redis. Gives the index of the first that it holds."""
    await consolidated(memory)
    bus, archive = memory.lab.bus, memory.process.archive
    await bus.call("HDEL", bus.keys.session("web:ann"), "unflushed")  # they stay until they were flushed
    await archive.files.opened()
    base = await archive.trim("web:ann", (await memory.state()).cursor)
    assert 0 < base < 16
    return base


async def test_sessions_are_found_by_channel_and_by_a_part_of_their_name(page: Page, lab: Lab) -> None:
    for at, session in enumerate(("web:ann", "web:%E5%B0%8F%E6%98%8E", "tg:-100:7", "webb:ann")):
        await lab.publish("m1", session=session)
        await lab.bus.activity.written()
        await lab.bus.call("ZADD", lab.bus.keys.sessions, at, session)  # the newest comes first

    async def found(**query: Any) -> list[str]:
        return [line["session"] for line in (await page.get("/api/sessions", **query))["sessions"]]

    assert await found() == ["webb:ann", "tg:-100:7", "web:%E5%B0%8F%E6%98%8E", "web:ann"]
    assert await found(channel="web") == ["web:%E5%B0%8F%E6%98%8E", "web:ann"]
    assert await found(q="ANN") == ["webb:ann", "web:ann"]
    assert await found(q="小明") == await found(q="%e5%b0%8f") == ["web:%E5%B0%8F%E6%98%8E"]
    assert await found(channel="web", q="ann") == ["web:ann"]
    assert await found(q="a", limit=1) == ["webb:ann"]
    assert await found(q="nobody") == []


async def test_a_line_tells_whose_a_session_is_and_what_it_does(page: Page, lab: Lab) -> None:
    await lab.publish("m1")

    async def line() -> dict[str, Any]:
        [found] = (await page.get("/api/sessions"))["sessions"]
        return {name: found[name] for name in ("channel", "bot", "scope", "busy", "parked")}

    whose = {"channel": "web", "bot": "pond", "scope": "pond:workspace"}
    assert await line() == {**whose, "busy": False, "parked": False}
    claim = await lab.claim()
    assert await line() == {**whose, "busy": True, "parked": False}
    await lab.sessions.park(claim, delay_s=30.0)
    assert await line() == {**whose, "busy": False, "parked": True}


async def test_the_newest_messages_before_an_index_are_read_with_their_tokens(page: Page, memory: MemoryLab) -> None:
    await memory.talk(4)

    async def indexes(**query: Any) -> list[int]:
        return [message["index"] for message in (await page.get(f"{ANN}/messages", **query))["messages"]]

    assert await indexes(before=6, limit=3) == [3, 4, 5]
    assert await indexes(before=3, limit=100) == [0, 1, 2]
    assert await indexes(before=0) == []
    assert await indexes(before=2**53, limit=2) == [6, 7]
    first, *_ = (await page.get(f"{ANN}/messages"))["messages"]
    assert first["tokens"] == (await memory.log())[0].tokens > 50


async def test_a_page_of_long_messages_holds_the_newest(page: Page, memory: MemoryLab, monkeypatch: pytest.MonkeyPatch):
    await memory.talk(4)
    monkeypatch.setattr(transcripts, "CHUNK", 2)
    monkeypatch.setattr(messages_module, "PAGE_BYTES", 700)

    found = (await page.get(f"{ANN}/messages", before=8))["messages"]

    assert [message["index"] for message in found] == [4, 5, 6, 7]


async def test_pages_backwards_go_on_into_the_archive(page: Page, memory: MemoryLab) -> None:
    await archived(memory)

    found = (await page.get(f"{ANN}/messages", before=2**53))["messages"]

    assert [message["index"] for message in found] == list(range(16))


async def test_the_parts_of_a_context_add_up_to_its_budget(page: Page, memory: MemoryLab) -> None:
    await consolidated(memory)

    found = await page.get(f"{ANN}/context")

    tokens = {part["name"]: part["tokens"] for part in found["parts"]}
    assert list(tokens) == ["system", "tools", "memory", "recalled", "continuity", "history", "current"]
    assert sum(tokens.values()) + found["free"] == found["budget"] == 2048
    assert tokens["history"] == (await memory.state()).tokens_start
    assert min(tokens["memory"], tokens["continuity"], tokens["system"], tokens["tools"]) > 0
    assert tokens["current"] == tokens["recalled"] == 0
    assert found["trigger"]["flush"] < found["trigger"]["consolidation"] < found["budget"]
    assert (found["bot"], found["model"]) == ("pond", "offline")


async def test_a_context_says_whether_somebody_consolidates_just_now(page: Page, memory: MemoryLab) -> None:
    await memory.talk(3)
    bus, lock = memory.process.bus, memory.process.bus.keys.lock("web:ann")
    now_ms = await SessionReader(bus).now_ms()

    found: list[bool] = []
    for lease_ms in (now_ms + 60_000, now_ms - 1):
        await bus.call("HSET", lock, "nonce", "n", "lease", lease_ms)
        found.append((await page.get(f"{ANN}/context"))["settling"])
    await bus.call("HDEL", lock, "nonce", "lease")

    assert [*found, (await page.get(f"{ANN}/context"))["settling"]] == [True, False, False]


async def test_a_context_is_near_to_the_prompt_that_is_made(page: Page, memory: MemoryLab) -> None:
    await memory.talk(3, fixed_tokens=0)

    context = {part["name"]: part["tokens"] for part in (await page.get(f"{ANN}/context"))["parts"]}
    prompt = (await preview(memory.process, "web:ann"))["parts"]

    assert context["tools"] == prompt["tools"]
    assert context["system"] == sum(prompt[name] for name in ("identity", "bootstrap", "skills"))
    assert context["history"] == prompt["history"]


async def test_what_is_longer_than_a_budget_leaves_nothing_free(page: Page, memory: MemoryLab) -> None:
    await memory.talk(30)

    found = await page.get(f"{ANN}/context")

    assert found["free"] == 0
    assert sum(part["tokens"] for part in found["parts"]) == found["budget"]


async def test_a_session_to_which_nobody_wrote_has_a_context_and_nothing_else(page: Page) -> None:
    context = await page.get("/api/sessions/nobody/context")
    timeline = await page.get("/api/sessions/nobody/timeline")

    assert {part["name"] for part in context["parts"] if part["tokens"]} == {"system", "tools"}
    assert (timeline["head"], timeline["tokens"], timeline["roles"], timeline["entries"]) == (0, [], "", [])
    assert (await page.get("/api/sessions/nobody/search", q="x"))["hits"] == []
    assert await page.refused("/api/sessions/nobody/prompt", 404) == "no_session"
    assert (await page.get("/api/sessions"))["sessions"] == []


async def test_a_turn_in_progress_counts_as_current(page: Page, memory: MemoryLab) -> None:
    await memory.talk(1)
    await memory.lab.publish("m9")
    claim = await memory.lab.claim()
    wire = msgspec.Raw(b'{"role":"user","content":"more"}')
    entry = LogEntry(time="2026-11-20T09:00:00.000Z", turn=2, tokens=70, id="m9", wire=wire)
    await memory.lab.sessions.journal(claim, step=0, entries=[entry])

    found = await page.get(f"{ANN}/context")

    assert found["parts"][-1] == {"name": "current", "tokens": 70}


async def test_a_waiting_message_counts_as_current_about_as_in_its_prompt(page: Page, memory: MemoryLab) -> None:
    await memory.talk(1)
    await memory.lab.publish("m9", text="Tell me about the heron. " * 40)

    [current] = [part["tokens"] for part in (await page.get(f"{ANN}/context"))["parts"] if part["name"] == "current"]
    exact = (await preview(memory.process, "web:ann"))["parts"]["current"]

    # What stands before it in the prompt, time and place, comes with the turn.
    assert 200 < current <= exact < current + 150


async def test_a_prompt_is_shown_part_by_part_and_word_by_word(page: Page, memory: MemoryLab) -> None:
    await consolidated(memory)

    found = await page.get(f"{ANN}/prompt")

    parts = {part["name"]: part for part in found["parts"]}
    assert "Ann asks." in parts["memory"]["text"]
    assert sum(part["tokens"] for part in found["parts"]) == found["tokens"]
    stretches = [(parts[name]["first"], parts[name]["upto"]) for name in ("continuity", "history", "current")]
    assert stretches[0] == (1, 3) and stretches[-1][1] == len(found["messages"])
    assert all(before[1] == after[0] for before, after in pairwise(stretches))
    assert "Ann wants to know why." in found["messages"][1]["content"]
    assert found["messages"][0]["role"] == "system" and found["tools"]


def test_memories_beside_the_newest_message_are_a_part_of_the_prompt() -> None:
    sizes = {"tools": 1, "recalled": 7, "continuity": 0, "history": 2, "current": 3}
    system = [{"part": "recalled", "tokens": 2, "text": "Of herons."}]
    stretches = {"continuity": (1, 1), "history": (1, 2), "current": (2, 3)}

    parts = session_endpoints._parts({"system": system, "parts": sizes, "stretches": stretches})

    assert sum(part["tokens"] for part in parts) == sum(sizes.values())
    assert [part["tokens"] for part in parts if part["name"] == "recalled"] == [2, 5]


async def test_a_timeline_tells_sizes_roles_turns_and_what_became_of_which(page: Page, memory: MemoryLab) -> None:
    await consolidated(memory)
    state, log = await memory.state(), await memory.log()
    assert 0 < state.cursor < 16

    found = await page.get(f"{ANN}/timeline")

    assert (found["first"], found["head"], found["cursor"], found["start"]) == (0, 16, state.cursor, state.start)
    assert found["tokens"] == [entry.tokens for entry in log]
    assert found["roles"] == "ua" * 8
    assert found["turns"] == list(range(0, 16, 2))
    [entry] = found["entries"]
    assert (entry["entry"], entry["first"], entry["upto"], entry["kind"]) == (0, 0, state.cursor, "summary")
    assert entry["title"] == "[2026-11-20 09:00] They talked."
    assert (entry["audit"]["score"], entry["audit"]["lost"]) == (None, [])


async def test_entries_of_another_session_of_the_memory_are_not_in_the_timeline(
    page: Page, memory: MemoryLab, lab: Lab
) -> None:
    await consolidated(memory)
    other = MemoryLab(memory.process, lab, cast("Model", Summaries()), session="web:bob")
    await consolidated(other)

    of_ann, of_bob = await page.get(f"{ANN}/timeline"), await page.get("/api/sessions/bob/timeline")

    assert [entry["entry"] for entry in of_ann["entries"]] == [0]
    assert [entry["entry"] for entry in of_bob["entries"]] == [1]


async def test_a_timeline_goes_on_behind_an_index(page: Page, memory: MemoryLab) -> None:
    await archived(memory)
    whole = await page.get(f"{ANN}/timeline")

    for after in (-1, 0, 5, 12, 14, 15, 99):
        found = await page.get(f"{ANN}/timeline", after=after)
        assert found["first"] == after + 1
        assert found["tokens"] == whole["tokens"][after + 1 :]
        assert found["roles"] == whole["roles"][after + 1 :]
        assert found["turns"] == [turn for turn in whole["turns"] if turn > after]


async def test_messages_whose_archive_is_gone_have_a_place_in_the_timeline(page: Page, memory: MemoryLab) -> None:
    base = await archived(memory)
    for file in memory.process.data_dir.rglob("*.jsonl.gz"):
        file.unlink()

    found = await page.get(f"{ANN}/timeline")

    assert found["roles"] == "?" * base + "ua" * ((16 - base) // 2)
    assert len(found["tokens"]) == 16 and not any(found["tokens"][:base])


async def test_messages_are_found_by_their_words_the_newest_first(page: Page, memory: MemoryLab) -> None:
    await consolidated(memory)

    found = await page.get(f"{ANN}/search", q="QUESTION why", limit=3)

    assert [hit["index"] for hit in found["hits"]] == [14, 12, 10]
    assert "question 7 why" in found["hits"][0]["excerpt"] and found["hits"][0]["role"] == "user"
    assert (found["missing"], found["partly"]) == ([], False)
    assert [hit["index"] for hit in (await page.get(f"{ANN}/search", q="question 1"))["hits"]] == [2]
    assert (await page.get(f"{ANN}/search", q="heron"))["hits"] == []
    assert await page.refused(f"{ANN}/search", 400) == await page.refused(f"{ANN}/search?q=%20", 400) == "bad_request"


async def test_a_search_looks_at_one_session_alone(page: Page, memory: MemoryLab, lab: Lab) -> None:
    await memory.talk(1)
    other = MemoryLab(memory.process, lab, session="web:bob")
    await other.talk(1)

    found = await page.get("/api/sessions/bob/search", q="question")

    assert len(found["hits"]) == 1


async def test_an_address_has_no_more_parts_than_it_should(page: Page, memory: MemoryLab) -> None:
    await memory.talk(1)

    for path in ("context", "timeline", "prompt", "search"):
        assert await page.refused(f"/api/sessions/web:ann/more/{path}", 404) == "not_found"
        assert await page.refused(f"/api/sessions/a:b:c:d/{path}?q=x", 400) == "bad_session"


@given(first=st.integers(0, 30), head=st.integers(0, 30), limit=st.integers(1, 12), chunk=st.integers(1, 7))
async def test_pages_backwards_hold_every_message_once(first: int, head: int, limit: int, chunk: int) -> None:
    class Log(transcripts.Transcripts):
        def __init__(self) -> None:
            pass

        async def read(self, session: str, first: int, upto: int) -> list[bytes]:
            entries = [LogEntry(time=str(at), turn=0, tokens=0, wire=msgspec.Raw(b"{}")) for at in range(head)]
            return [msgspec.json.encode(entry) for entry in entries[max(first, forgotten) : upto]]

    forgotten, seen, before = min(first, head), list[int](), head
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transcripts, "CHUNK", chunk)
        while found := await Log().newest("x", before=before, limit=limit):
            assert [str(index) for index, _ in found] == [entry.time for _, entry in found]
            assert len(found) <= limit
            seen[:0] = [index for index, _ in found]
            before = found[0][0]

    assert seen == list(range(forgotten, head))


async def test_those_who_look_again_and_again_share_a_list_for_as_long_as_they_said(
    page: Page, memory: MemoryLab, lab: Lab, process: Process
) -> None:
    await lab.publish("a")
    first = await page.get("/api/sessions", age=5)

    await lab.publish("b", session="web:bea")

    assert await page.get("/api/sessions", age=5) == first
    assert len((await page.get("/api/sessions"))["sessions"]) == 2
    assert len((await page.get("/api/sessions", age=5, limit=1))["sessions"]) == 1
    process.clock.advance(6)  # type: ignore[attr-defined]
    assert len((await page.get("/api/sessions", age=5))["sessions"]) == 2
    assert await page.refused("/api/sessions?age=soon", 400) == "bad_request"
