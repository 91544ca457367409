"""Conversations in lists: titles, pins, archives, deletions, waiting messages, and whose memory they share."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from anyio import to_thread
from click.testing import CliRunner

from daemon.cli.root_command import Options, root
from daemon.clock import SystemClock
from daemon.config import Config
from daemon.config.schema import PersonConfig
from daemon.errors import ConfigError, InboundError
from daemon.events import LogEntry
from daemon.job_handlers import job_runner
from daemon.memory import Note
from daemon.operators import LoginCodes
from daemon.people import operator_sender
from daemon.process import Process
from daemon.session import SessionLabels, pending_of, title_of
from tests.conftest import Lab
from tests.forgetlab import ANN, BOB, BOBS, SCOPE, Pond, pond
from tests.integration.test_web_access import Web, web_of
from tests.integration.test_web_api import error_of
from tests.limits import until
from tests.memorylab import MemoryLab
from tests.tables import each_row
from tests.weblab import Page, page_of


@pytest.fixture
async def page(process: Process) -> AsyncIterator[Page]:
    async with page_of(process) as page:
        yield page


@pytest.fixture
async def web(process: Process) -> AsyncIterator[Web]:
    async with web_of(process) as web:
        assert (await web.log_in()).status_code == 204
        web.browser.headers["Origin"] = web.address
        yield web


async def say(web: Web, session: str, **more: str) -> None:
    answer = await web.browser.post("/api/messages", json={"session": session, "text": "hello", **more})
    assert answer.status_code == 202, answer.text


async def scope_of(lab: Lab, session: str) -> str:
    return (await lab.state(session)).scope


async def placed(lab: Lab, *sessions: str) -> None:
    """Sessions with a message each, the last named one active last."""
    for at, session in enumerate(sessions):
        await lab.publish("m1", session=session, text=f"I am {session}.")
        await lab.bus.activity.written()
        await lab.bus.call("ZADD", lab.bus.keys.sessions, at // 2, session)  # every two at the same time


async def listed(page: Page, **query: Any) -> list[str]:
    """The sessions of all pages."""
    found, place = list[str](), ""
    while True:
        answer = await page.get("/api/sessions", **query, **({"before": place} if place else {}))
        found += [line["session"] for line in answer["sessions"]]
        place = answer["next"]
        if not place:
            return found


# Whose memory


async def test_all_conversations_of_an_operator_share_one_memory(web: Web, lab: Lab) -> None:
    for session in ("one", "two"):
        await say(web, session)

    assert {await scope_of(lab, f"web:{name}") for name in ("one", "two")} == {"pond:person:web:operator"}
    me = (await web.browser.get("/api/me")).json()
    assert (me["person"], me["memory"]) == ("operator", "pond:person:web:operator")


async def test_a_link_names_the_person_who_logs_in(process: Process, lab: Lab) -> None:
    people = {"ann": PersonConfig(identities=("web:ann", "tg:7"))}
    async with web_of(process) as web:
        code = await LoginCodes(lab.bus).offer("web", "小明")
        assert (await web.log_in(code)).status_code == 204
        me = (await web.browser.get("/api/me")).json()

    assert me["memory"] == "pond:person:web:operator-%E5%B0%8F%E6%98%8E"
    config = Config(people=people)
    assert [operator_sender(config, "web", name) for name in ("", "ann", "bob")] == ["ann", "ann", "operator-bob"]
    with pytest.raises(ConfigError, match="people"):
        operator_sender(Config(people={"ann": PersonConfig(identities=("tg:7", "slack:U1"))}), "web", "ann")


async def test_an_older_conversation_keeps_its_memory_until_it_is_joined(web: Web, lab: Lab) -> None:
    """Earlier versions gave each conversation of the page a person of its own."""
    await say(web, "old", user="old")
    await say(web, "old")
    assert [each.sender_id for each in await pending_of(lab.bus, "web:old", limit=9)] == ["old", "old"]
    assert await scope_of(lab, "web:old") == "pond:person:web:old"
    before = (await web.browser.get("/api/sessions/web%3Aold")).json()

    asked = await web.browser.post("/api/sessions/web%3Aold/join", json={})
    await job_runner(web.process).until_ended(asked.json()["job"], within_s=60)

    after = (await web.browser.get("/api/sessions/web%3Aold")).json()
    assert (before["memory"], after["memory"]) == ("pond:person:web:old", "pond:person:web:operator")
    assert error_of(await web.browser.post("/api/sessions/web%3Aold/join", json={}), 409) == "refused"
    assert ("session.join", "web:old", "done") in await web.audit()


# Lists


@each_row(
    "text, title",
    [
        ("  How wide\nis the *race*? ", "How wide is the race?"), ("# Herons", "Herons"), ("", ""),
        ("word " * 30, "word " * 15 + "word…"), ("水" * 100, "水" * 79 + "…"),
        ("What is it?\n[image: 水车.png, 80 bytes]", "What is it?"),
        ("[image: 水车.png, 80 bytes]\n[document: a, b.pdf, 2.5 kB, saved as inbox/1.pdf]", "水车.png, a, b.pdf"),
    ],
)  # fmt: skip
def test_a_title_is_one_line_of_the_first_words(text: str, title: str) -> None:
    assert title_of(text) == title


async def test_a_list_is_read_page_by_page_with_pinned_sessions_first(page: Page, lab: Lab) -> None:
    names = [f"web:s{number}" for number in range(9)]
    await placed(lab, *names)
    labels = SessionLabels(lab.bus)
    await labels.mark("web:s2", "pinned", 1)
    await labels.mark("web:s5", "pinned", 2)
    await labels.mark("web:s7", "archived", 3)

    rest = [name for name in reversed(names) if name not in ("web:s2", "web:s5", "web:s7")]
    for limit in (1, 2, 100):
        assert await listed(page, limit=limit) == ["web:s5", "web:s2", *rest], limit
    assert await listed(page, archived=1) == ["web:s7"]
    assert await listed(page, q="S5") == ["web:s5"]
    assert await page.refused("/api/sessions", 400, params={"before": "web:s1"}) == "bad_request"


async def test_a_line_has_a_title_and_the_last_message(page: Page, process: Process, lab: Lab) -> None:
    async def line() -> dict[str, Any]:
        [found] = (await page.get("/api/sessions"))["sessions"]
        return {name: found[name] for name in ("title", "last", "last_role")}

    await lab.publish("m1", text="How wide is the race?\nAnd how deep?")
    words = "How wide is the race? And how deep?"
    assert await line() == {"title": words, "last": words, "last_role": "user"}
    await MemoryLab(process, lab).talk(1)
    assert (await line())["title"] != ""
    assert (await line())["last_role"] == "assistant"
    await SessionLabels(lab.bus).rename(ANN, "The mill")
    assert (await line())["title"] == "The mill"


async def test_a_session_is_renamed_pinned_and_archived(page: Page, lab: Lab) -> None:
    await lab.publish("m1")
    address = "/api/sessions/web%3Aann"

    async def change(**fields: Any) -> dict[str, Any]:
        answer = await page.client.patch(address, json=fields)
        assert answer.status_code == 200, answer.text
        return {name: value for name, value in answer.json().items() if name != "session"}

    assert await change(title=" The\nmill ") == {"title": "The mill", "pinned": False, "archived": False}
    assert await change(pinned=True) == {"title": "The mill", "pinned": True, "archived": False}
    assert await change(archived=True, title="") == {"title": "", "pinned": True, "archived": True}
    assert await change(pinned=False, archived=False) == {"title": "", "pinned": False, "archived": False}
    assert await lab.bus.call("EXISTS", lab.bus.keys.labels) == 0
    assert await page.refused(address, 400, method="PATCH", json={}) == "bad_request"
    assert await page.refused("/api/sessions/nobody", 404, method="PATCH", json={"pinned": True}) == "no_session"
    assert (await page.stranger.patch(address, json={"pinned": True})).status_code == 401


async def test_a_deleted_session_is_forgotten_with_its_labels(page: Page, process: Process, lab: Lab) -> None:
    await MemoryLab(process, lab).talk(1)
    labels = SessionLabels(lab.bus)
    await labels.rename(ANN, "The mill")
    await labels.mark(ANN, "pinned", 1)

    asked = await page.client.delete("/api/sessions/web%3Aann")
    record = await job_runner(process).until_ended(asked.json()["job"], within_s=60)

    assert record.report["removed"]["titles"] == 1
    assert await labels.all() == {}
    assert (await page.get("/api/sessions"))["sessions"] == []
    assert (await page.get("/api/sessions/web:ann/messages"))["messages"] == []


# Waiting


async def test_waiting_messages_are_listed_with_the_reason(page: Page, lab: Lab) -> None:
    async def waiting() -> tuple[str, int]:
        found = await page.get("/api/sessions/web%3Aann/waiting")
        assert bool(found["since"]) == bool(found["count"])
        assert [each["id"] for each in found["messages"]] == ["m1", "m2"][: found["count"]]
        return found["reason"], found["count"]

    assert await waiting() == ("", 0)
    await lab.publish("m1")
    assert await waiting() == ("no_worker", 1)
    claim = await lab.claim()
    await lab.publish("m2")
    assert await waiting() == ("answering", 2)
    await lab.sessions.park(claim, delay_s=30.0, reason="outage: the model is unavailable")
    assert await waiting() == ("parked", 2)
    found = await page.get("/api/sessions/web%3Aann/waiting")
    assert found["detail"] == "outage: the model is unavailable"
    assert found["until"] > found["since"]


# Search


async def test_a_search_finds_what_was_said_and_noted_in_all_conversations(
    process: Process, lab: Lab, tmp_path: Path
) -> None:
    world = Pond(pond(process, tmp_path), lab)
    await world.turn(ANN, "My heron is called Otto.")
    await world.turn(BOB, "I like mills.")
    lock = await world.stores.locks.take(BOB, waits=False)
    assert lock is not None
    opened = await world.memories.open(BOBS, BOB, fence=lock.fence, nonce=lock.nonce)
    note = Note(time="2026-11-20T09:00:00.000Z", date="2026-11-20", session=BOB, cycle=0, text="A grey heron came by.")
    await world.memories.append(opened, None, cycle=1, notes=[note])
    await SessionLabels(lab.bus).rename(ANN, "Birds")

    async with page_of(world.process) as page:
        found = await page.get("/api/search", q="heron Otto")
        nothing = await page.get("/api/search", q="submarine")

    hits = [(hit["kind"], hit["session"], hit["scope"], hit["index"], hit["title"]) for hit in found["hits"]]
    assert hits == [("message", ANN, SCOPE, 0, "Birds"), ("notes", "", BOBS, None, "")]
    assert "Otto" in found["hits"][0]["snippet"]
    assert (found["searched"], found["left"]) == (2, 0)
    assert nothing["hits"] == []


# Command line


async def run(*args: str) -> Any:
    return await to_thread.run_sync(lambda: CliRunner().invoke(root, list(args), obj=Options()))


async def test_the_command_line_renames_a_session_and_names_the_person_of_a_link(
    process: Process, lab: Lab, server_dir: Path, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLPOND_DATA_DIR", str(server_dir))
    monkeypatch.setenv("MILLPOND_REDIS__PREFIX", prefix)
    await lab.publish("m1", session=ANN)

    renamed = await run("session", "rename", ANN, " The\nmill ")
    listed = json.loads((await run("session", "list", "--json")).stdout)["sessions"]
    unknown = await run("session", "rename", "web:nobody", "x")
    async with web_of(replace(process, clock=SystemClock())) as web:
        await until(lambda: lab.bus.call("HLEN", lab.bus.keys.workers))
        [link] = (await run("page", "--as", "ann")).stdout.split()
        await web.log_in(link.partition("#")[2])
        me = (await web.browser.get("/api/me")).json()

    assert renamed.stdout == f"{ANN}: The mill\n"
    assert [(each["session"], each["title"]) for each in listed] == [(ANN, "The mill")]
    assert unknown.exit_code and isinstance(unknown.exception, InboundError | SystemExit)
    assert me["person"] == "operator-ann"


async def test_a_line_does_not_contain_the_names_of_files(page: Page, lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    said = "What is this?\n[image: pond.png, 50 kB, saved as inbox/2026-11-26-pond-m1.png]\n[image: b.png, 80 bytes]"
    wire = msgspec.Raw(msgspec.json.encode({"role": "user", "content": said}))
    await lab.commit(claim)
    entry = LogEntry(time="2026-11-20T09:00:00.000Z", turn=0, tokens=10, wire=wire, id="m1")
    await lab.bus.call("LSET", lab.bus.keys.log(ANN), 0, msgspec.json.encode(entry))

    assert (await page.get("/api/sessions/web%3Aann"))["title"] == "What is this?"
