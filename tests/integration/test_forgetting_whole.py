"""A whole conversation, a whole memory, a whole person: everything goes, and what is others' stays."""

from pathlib import Path

import msgspec
import pytest

from daemon.forget import ForgetOrder, extent_of, scopes_with
from daemon.forget.text_matcher import FORGOTTEN
from daemon.process import Process
from daemon.reminders import Preferences, prefer
from daemon.session import SessionReader
from daemon.transcripts import Transcripts
from daemon.usage import Amount, UsageBook, User
from tests.conftest import Lab, dump
from tests.datalab import a_reminder
from tests.forgetlab import ANN, ANNS, BOB, BOBS, CANARY, KEPT, SCOPE, SCOPES, Pond, pond, stands_in, texts
from tests.memorylab import saves

SESSION = ForgetOrder(whole="session", name=ANN, session=ANN, scopes=(SCOPE,))
WHOLE = ForgetOrder(whole="scope", name=SCOPE, scopes=(SCOPE,))
PERSON = ForgetOrder(whole="person", name=SCOPE, scopes=(SCOPE,), people=("web:ann", "terminal:ann"), bot="pond")
GROUP, GROUPS = "web:club", "pond:group:web:club"


@pytest.fixture
def world(process: Process, lab: Lab, tmp_path: Path) -> Pond:
    return Pond(pond(process, tmp_path / "work"), lab)


async def anns(world: Pond, *words: str) -> list[str]:
    """Where one of the words stands in what is Ann's; keys that hold nothing but names do not count."""
    found = set[str]()
    for word in words:
        found |= {place for place in await world.places(word) if "ann" in place}
    return sorted(found)


async def test_of_a_whole_session_nothing_is_left_but_where_it_stood(world: Pond) -> None:
    await world.plant()
    before, notes = await world.lab.state(ANN), len(await world.memories.notes(SCOPE))

    record = await world.forget(order=SESSION)

    assert record.report["removed"]["messages"] == before.head
    state = await world.lab.state(ANN)
    assert (state.base, state.cursor, state.start, state.head) == (before.head,) * 4
    assert (state.tokens, state.tokens_start, state.continuity, state.waiting) == (0, 0, None, 0)
    assert [place for place in await anns(world, CANARY, KEPT) if "%3ann" not in place and ANN in place] == []
    assert await Transcripts(world.bus, world.stores.archive).committed(ANN, limit=1_000) == []
    assert await world.stores.archive.segments(ANN) == []
    assert {entry.text[-len(FORGOTTEN) :] for entry in await world.memories.history(SCOPE)} == {FORGOTTEN}
    assert len(await world.memories.notes(SCOPE)) == notes
    assert (await world.memories.current(SCOPE)).text.strip() == ""
    assert CANARY in texts(await world.lab.log(ANNS))
    assert ANN not in [name for name, _ in await SessionReader(world.bus).sessions()]


async def test_a_forgotten_session_goes_on_where_it_stood(world: Pond) -> None:
    await world.plant()
    before = await world.lab.state(ANN)
    await world.forget(order=SESSION)

    for word in ("one", "two", "three"):
        await world.turn(ANN, word)
    await world.consolidate(ANN, saves("[2026-11-20 12:00] they counted", memory="- counts"))

    log = await Transcripts(world.bus, world.stores.archive).committed(ANN, limit=1_000)
    assert [index for index, _ in log] == list(range(before.head, before.head + 6))
    entries = await world.memories.history(SCOPE)
    assert (entries[-1].first, entries[-1].text) == (before.head, "[2026-11-20 12:00] they counted")
    assert (await world.memories.current(SCOPE)).text == "- counts"


async def test_a_turn_that_somebody_died_at_is_forgotten_with_its_session(world: Pond) -> None:
    await world.turn(ANN, f"I have a {CANARY}.")
    await world.inbound(ANN, f"And a {CANARY} sings.")
    claim = await world.lab.claim(ANN)
    entries = await world.entries(2, [f"And a {CANARY} sings."], answer="Yes.", told=CANARY, gave=CANARY)
    await world.lab.sessions.journal(claim, step=0, entries=entries[:3])
    await world.lab.expire(ANN)

    await world.forget(order=SESSION)

    assert await anns(world, CANARY) == []
    await world.turn(ANN, "hello")
    state = await world.lab.state(ANN)
    assert (state.base, state.head, state.waiting) == (2, 4, 0)


async def test_of_a_whole_memory_nothing_is_left(world: Pond) -> None:
    await world.plant()
    version = (await world.memories.current(SCOPE)).version
    extent = await extent_of(world.stores, WHOLE)
    assert extent["messages"] == sum([(await world.lab.state(session)).head for session in (ANN, ANNS)])
    assert set(extent) >= {"memory", "history", "notes", "versions", "files", "waiting", "dead", "replies", "terminal"}

    record = await world.forget(order=WHOLE)

    assert record.report["failed"] == []
    assert await anns(world, CANARY, KEPT, "likes boats") == []
    current = await world.memories.current(SCOPE)
    assert (current.text, current.version) == ("", version + 1)
    assert not (world.workspace / "files" / "pond%3aperson%3aweb%3aann").exists()
    folder = world.workspace / "memory" / "pond%3aperson%3aweb%3aann"
    assert (folder / "MEMORY.md").read_text() == ""
    assert set((folder / "HISTORY.md").read_text().split()) <= {FORGOTTEN, "[2026-11-20", "09:00]", "09:10]"}
    assert KEPT in texts(await world.lab.log(BOB))
    assert await extent_of(world.stores, WHOLE) == {}


async def test_of_a_person_nothing_is_left_in_groups_and_accounts_either(world: Pond, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(SCOPES, GROUP, GROUPS)
    await world.plant()
    for sender in ("ann", "bob"):
        await world.inbound(GROUP, f"{sender} has a {CANARY}", sender_name=sender.title())
        claim = await world.lab.claim(GROUP)
        entries = await world.entries(claim.begun.head, [f"{sender} has a {CANARY}"], answer="nice", sender=sender)
        await world.lab.sessions.commit(claim, world.commit_of(claim, entries), step=0, go_on=False)
    book, day = UsageBook(world.bus), "2026-11-20"
    for session, sender in ((ANN, "ann"), (GROUP, "ann"), (GROUP, "bob")):
        user = User(bot="pond", session=session, channel="web", sender_id=sender)
        await book.note(f"{session} {sender}", user, day, {"m": Amount(messages=1, calls=1, tokens_in=9)})

    for session in (GROUP, "web:never-asked"):
        for sender in ("ann", "bob"):
            await world.overhear(session, CANARY, sender=sender)

    bots = await book.read([day], by="bot")
    for person in ("web:ann", "web:bob"):
        await prefer(world.bus, "pond", person, Preferences(zone="Europe/Berlin"))
        sender = person[-3:]
        reminder = msgspec.structs.replace(a_reminder(sender, session=GROUP), sender_id=sender)
        await world.bus.call("HSET", world.bus.keys.reminders(GROUP), reminder.id, reminder.raw)

    await world.forget(order=PERSON)

    assert await anns(world, CANARY, KEPT) == []
    for session in (GROUP, "web:never-asked"):
        said = await world.bus.call("ZRANGE", world.bus.keys.overheard(session), 0, -1)
        assert {msgspec.json.decode(raw)["sender_id"] for raw in said} == {"bob"}
    assert await world.bus.call("HKEYS", world.bus.keys.preferences("pond")) == [b"web:bob"]
    assert await world.bus.call("HKEYS", world.bus.keys.reminders(GROUP)) == [b"bob"]
    log = await world.lab.log(GROUP)
    assert bytes(log[0].wire) == b'{"role":"user","content":"[forgotten]"}'
    assert log[0].sender == FORGOTTEN
    assert f"bob has a {CANARY}" in texts(log)
    assert list(await book.read([day], by="person")) == ["pond web:bob"]
    assert list(await book.read([day], by="session")) == [GROUP, BOB]
    assert await book.read([day], by="bot") == bots


async def test_what_is_bobs_is_the_same_after_all_of_it(world: Pond) -> None:
    await world.plant()

    def bobs(found: dict[str, object]) -> dict[str, object]:
        return {key: value for key, value in found.items() if "bob" in key}

    before = bobs(await dump(world.bus))
    files = [place for place in await world.places() if "%3abob" in place]

    for number, order in enumerate((SESSION, WHOLE, PERSON)):
        await world.forget(order=order, name=str(number))

    assert bobs(await dump(world.bus)) == before
    assert [place for place in await world.places() if "%3abob" in place] == files
    assert stands_in(before, CANARY)
    assert BOBS


async def test_what_a_linked_memory_keeps_for_the_day_of_parting_is_forgotten_too(world: Pond) -> None:
    await world.plant()
    keys = world.bus.keys
    await world.bus.call("HSET", keys.memory(BOBS), "joined", SCOPE)
    await world.bus.call("HSET", keys.memory(SCOPE), f"links:{BOBS}", "0")
    await world.bus.call("HSET", keys.memory(SCOPE), "links:pond:person:web:eve", "0")  # who has parted since
    assert await scopes_with(world.bus, SCOPE) == await scopes_with(world.bus, BOBS) == (SCOPE, BOBS)

    await world.forget()

    assert await world.places() == []
    assert KEPT in str(await world.bus.call("LRANGE", keys.versions(BOBS), 0, -1))
