"""What another program remembered, taken over into a memory on a real server: once, and beside everything else."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from daemon.archive import Archive
from daemon.bus import Bus, Script
from daemon.errors import MemoryMoving, VersionMoved
from daemon.memory import ForeignMemory, HistoryEntry, ImportResult, Memories, Version
from daemon.memory.memory_import import TAKE_OVER
from tests.conftest import FailingBus, RecordingBus, dump

SCOPE = "pond:person:telegram:4711"
TIME = "2026-11-20T09:00:00.000Z"
FOUND = ForeignMemory(
    memory="- likes herons",
    history=("[2026-01-02 10:00] met", "[2026-01-03 11:00] boats"),
    notes=(("2026-03-01", "walked"), ("2026-03-01", "sailed")),
)
ALL = ImportResult(version=1, memory=True, history=2, notes=2)


async def take(memories: Memories, found: ForeignMemory = FOUND) -> ImportResult:
    return await memories.take_over(SCOPE, found, by="ann", time=TIME, reason="from there")


async def told(memories: Memories) -> tuple[str, list[str], list[tuple[str, str]]]:
    notes = [(note.date, note.text) for note in await memories.notes(SCOPE)]
    return (await memories.current(SCOPE)).text, [entry.text for entry in await memories.history(SCOPE)], notes


async def test_everything_goes_in_once_and_says_where_it_is_from(recorded: RecordingBus) -> None:
    memories = Memories(recorded)

    assert await take(memories) == ALL
    before = await dump(recorded)
    assert await take(memories) == ImportResult(version=1, memory=False, history=0, notes=0)

    assert await dump(recorded) == before
    assert await told(memories) == ("- likes herons", list(FOUND.history), list(FOUND.notes))
    (version,) = await memories.versions(SCOPE)
    assert (version.kind, version.by, version.reason, version.time) == ("import", "ann", "from there", TIME)


async def test_it_is_put_below_what_there_is_and_only_what_is_new(bus: Bus) -> None:
    memories = Memories(bus)
    await memories.edit(SCOPE, of=0, text="# Ann\n", by="ann", time=TIME)
    await take(memories, ForeignMemory(history=FOUND.history[:1], notes=FOUND.notes[1:]))

    assert await take(memories) == ImportResult(version=2, memory=True, history=1, notes=1)
    assert (await told(memories))[0] == "# Ann\n\n- likes herons"
    grown = ForeignMemory(memory="- likes herons\n- sails", history=(*FOUND.history, "[2026-04-01 10:00] more"))
    assert await take(memories, grown) == ImportResult(version=3, memory=True, history=1, notes=0)


async def test_a_memory_that_was_edited_since_is_not_given_the_same_again(bus: Bus) -> None:
    memories = Memories(bus)
    await take(memories)
    await memories.edit(SCOPE, of=1, text="- hates herons", by="ann", time=TIME)

    assert not (await take(memories)).memory
    assert (await told(memories))[0] == "- hates herons"


async def test_a_late_copy_changes_nothing(bus: Bus) -> None:
    recorded = RecordingBus(bus)
    memories = Memories(recorded)
    await take(memories)
    await memories.edit(SCOPE, of=1, text="mine", by="ann", time=TIME)
    before = await dump(recorded)

    await recorded.repeat(TAKE_OVER.name)

    assert await dump(recorded) == before


class MeddlingBus(RecordingBus):
    """Somebody else changes the memory just before the take-over is written, so many times."""

    times = 1

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        if script is TAKE_OVER and self.times:
            self.times -= 1
            others = Memories(RecordingBus(self))
            text = f"- {self.times}"
            await others.edit(SCOPE, of=(await others.current(SCOPE)).version, text=text, by="bob", time=TIME)
        return await super().run(script, keys, args)


async def test_what_others_write_meanwhile_is_kept(bus: Bus) -> None:
    memories = Memories(MeddlingBus(bus))

    assert await take(memories) == ImportResult(version=2, memory=True, history=2, notes=2)
    assert await told(memories) == ("- 0\n\n- likes herons", list(FOUND.history), list(FOUND.notes))


async def test_it_gives_up_when_others_never_rest(bus: Bus) -> None:
    meddling = MeddlingBus(bus)
    meddling.times = 100

    with pytest.raises(VersionMoved):
        await take(Memories(meddling))


@pytest.mark.parametrize("kind", ["history", "notes"])
async def test_an_entry_or_a_note_that_came_meanwhile_is_noticed(bus: Bus, kind: str) -> None:
    """Without it, the same entry would be taken over by two at once."""

    class Meanwhile(RecordingBus):
        other = True

        async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
            if script is TAKE_OVER and self.other:
                self.other = False
                same = ForeignMemory(**{kind: getattr(FOUND, kind)})
                await take(Memories(RecordingBus(self)), same)
            return await super().run(script, keys, args)

    memories = Memories(Meanwhile(bus))
    await take(memories)

    assert await told(memories) == ("- likes herons", list(FOUND.history), list(FOUND.notes))


async def test_a_memory_that_is_being_joined_is_left_alone_and_a_joined_one_takes_it_home(bus: Bus) -> None:
    await bus.call("HSET", bus.keys.memory(SCOPE), "joining", "job")
    with pytest.raises(MemoryMoving):
        await take(Memories(bus))
    assert await told(Memories(bus)) == ("", [], [])

    await bus.call("HDEL", bus.keys.memory(SCOPE), "joining")
    await bus.call("HSET", bus.keys.memory(SCOPE), "joined", "pond:person:web:ann")
    await take(Memories(bus))

    assert (await Memories(bus).current("pond:person:web:ann")).text == "- likes herons"


async def test_what_is_in_the_archive_is_known_too(bus: Bus, tmp_path: Path) -> None:
    memories = Memories(bus, Archive(bus, tmp_path))
    many = tuple(f"[2026-01-02 10:00] {number}" for number in range(300))
    await take(memories, ForeignMemory(history=many))
    await memories.shelve(SCOPE)
    assert int(await bus.call("LLEN", bus.keys.history(SCOPE))) < len(many)

    assert (await take(memories, ForeignMemory(history=(*many, "[2026-02-02 10:00] new")))).history == 1
    assert len(await memories.history(SCOPE)) == 301


@pytest.mark.parametrize("carried_out", [False, True])
async def test_a_redis_that_is_away_at_any_step_is_made_good_by_doing_it_again(bus: Bus, carried_out: bool) -> None:
    counting = FailingBus(bus, at=0)
    await take(Memories(counting), ForeignMemory())
    for at in range(1, counting.calls + 8):
        failing = FailingBus(bus, at=at, carried_out=carried_out)
        try:
            await take(Memories(failing))
        except Exception:  # noqa: BLE001 - whatever it is, the next one goes well
            await take(Memories(bus))
        assert await told(Memories(bus)) == ("- likes herons", list(FOUND.history), list(FOUND.notes))
        for key in ("memory", "versions", "history", "notes"):
            await bus.call("DEL", getattr(bus.keys, key)(SCOPE))


async def test_a_session_s_own_entries_are_told_apart_from_what_was_taken_over(bus: Bus) -> None:
    memories = Memories(bus)
    await take(memories)
    at = await memories.open(SCOPE, "telegram:4711", fence=1, nonce="n")
    entry = HistoryEntry(
        time=TIME, session="telegram:4711", first=0, upto=4, kind="summary", text="[2026-11-20 09:00] x"
    )
    applied = await memories.apply(at, entry, mark="m", update=Version(kind="consolidation", time=TIME, text="- new"))

    back = await memories.set_back(applied.opened, head=0)

    assert [lost.text for lost in back.lost] == ["[2026-11-20 09:00] x"]
    assert [entry.lost for entry in await memories.history(SCOPE)] == [False, False, True]
