"""Any order of steps by any holders of any locks, late copies and failovers among them, keeps what memories promise.

What is old moves to a real archive meanwhile, by somebody who may die anywhere in between.

The model is what a reader of the promises would expect; the system under test are the real scripts on a real server.
"""

import copy
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from daemon.archive import Archive
from daemon.bus import Bus, Part, Script, open_bus, pairs
from daemon.config import RedisConfig
from daemon.errors import FenceBehind, LockLost, Misplaced
from daemon.memory import HistoryEntry, Memories, Note, Opened, Version, joined
from daemon.memory.text_diff import edited
from tests.conftest import RecordingBus, all_keys, check_and_remove_keys, dump
from tests.cut_short import CutBus, Died
from tests.oneloop import OneLoop, one_loop
from tests.places import TEMPORARY

SCOPE = "pond:workspace"
SESSIONS = ("web:ann", "web:bob")
TIME = "2026-11-20T09:00:00.000Z"
BACK = st.sampled_from([0, 0, 0, 0, 1, 2, 3])  # whose lock is acted under: how many locks ago
KEPT = {"versions": 2, "history": 3, "notes": 1}
SHELVED = {"versions": 2, "history": 2, "notes": 1}  # little enough that something moves to the archive all the time
DIES_AT = st.sampled_from([0] * 10 + list(range(1, 41)))  # at which call whoever moves it dies; 0: he does not


@dataclass
class Side:
    fence: int = 0
    nonce: str = ""
    upto: int = 0
    mark: str = ""
    flushed: int = -1
    set_backs: int = 0
    applied: tuple[Any, ...] = ()
    marked: list[int] = field(default_factory=list)  # indexes of the entries that the last set-back marked


@dataclass
class Entry:
    session: str
    first: int
    upto: int
    lost: bool = False


@dataclass
class Model:
    versions: list[Version] = field(default_factory=list)
    version: int = 0
    rejected: int = 0
    history: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    undigested: list[int] = field(default_factory=list)
    sides: dict[str, Side] = field(default_factory=lambda: {session: Side() for session in SESSIONS})

    @property
    def text(self) -> str:
        return self.versions[self.version - 1].text if self.version else ""

    def put(self, kind: str, text: str, added: str = "") -> None:
        number = len(self.versions) + 1
        self.versions.append(Version(version=number, kind=kind, time=TIME, text=text, added=added))  # type: ignore[arg-type]
        if kind == "rejected":
            self.rejected = number
        else:
            self.version = number

    def appended_since(self, opened: Opened) -> tuple[str, ...] | None:
        before, after = self.versions[: opened.version], self.versions[opened.version :]
        if opened.version and (len(before) < opened.version or before[-1].text != opened.text):
            return None
        newer = [version for version in after if version.kind != "rejected"]
        return tuple(version.added for version in newer) if all(version.kind == "flush" for version in newer) else None


@dataclass
class Held:
    """What somebody got with a lock, and may act on long after he lost it."""

    session: str
    opened: Opened


class ShelvingBus(CutBus):
    """Whoever moves something: another may come before one of his calls, and one may be the last that he makes."""

    def __init__(self, bus: RecordingBus, *, dies_at: int, carried_out: bool, other: Callable[[], Awaitable[None]]):
        super().__init__(bus, at=dies_at, carried_out=carried_out)
        self.other = other
        self.other_at = 0
        self.carried: list[tuple[Script, Sequence[str], Sequence[Any]]] = []

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Part]) -> Any:
        async def call() -> Any:
            self.carried.append((script, keys, args))
            return await Bus.run(self, script, keys, args)

        return await self.passing(call)

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        hit = self._fails()
        if self.calls == self.other_at:
            await self.other()
        if not hit or self._carried_out:
            answer = await call()
        if hit:
            raise Died
        return answer


class MemoryMachine(RuleBasedStateMachine):
    """Consolidators of two sessions, people, a bad network and a server that fails over."""

    loop: OneLoop
    bus: RecordingBus  # both set by ``machine``

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="mp-", dir=TEMPORARY)
        self.memories = self.process(self.bus)
        self.model = Model()
        self.held: list[Held] = []
        self.count = 0
        self.late: list[tuple[Any, ...]] = []
        self.copy: tuple[Model, dict[str, bytes]] | None = None
        """What a replica has."""

    def teardown(self) -> None:
        self.folder.cleanup()

    def process(self, bus: RecordingBus | ShelvingBus) -> Memories:
        return Memories(bus, Archive(bus, Path(self.folder.name)))

    def do(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return self.loop.call(function, *args, **options)

    @initialize()
    def empty_database(self) -> None:
        self.do(check_and_remove_keys, self.bus)
        self.bus.scripts.clear()
        for session in SESSIONS:
            self.lock(session, "next")

    def new(self, word: str) -> str:
        self.count += 1
        return f"{word} {self.count}"

    def acting(self, back: int) -> tuple[Held, Side, bool]:
        """Somebody who had a lock, mostly the last one; what is known of his session; whether others came after him."""
        held = self.held[-1 - back % len(self.held)]
        side = self.model.sides[held.session]
        mine = (held.opened.fence, held.opened.nonce)
        return held, side, side.fence > mine[0] or (side.fence == mine[0] and side.nonce != mine[1])

    def done(self, held: Held, opened: Opened, *, status: str = "done") -> None:
        """A call was carried out: a copy of it may arrive late."""
        self.late.append(self.bus.scripts[-1])
        held.opened = opened
        side = self.model.sides[held.session]
        if status == "done":
            side.fence, side.nonce = opened.fence, opened.nonce
        self.agrees(opened)

    def agrees(self, opened: Opened) -> None:
        model, side = self.model, self.model.sides[opened.session]
        assert (opened.text, opened.version, opened.undigested) == (model.text, model.version, len(model.undigested))
        assert (opened.upto, opened.mark, opened.flushed) == (side.upto, side.mark, side.flushed)
        assert opened.set_backs == side.set_backs
        assert opened.rejected == (model.versions[model.rejected - 1].text if model.rejected else "")

    def appended_since(self, opened: Opened) -> tuple[str, ...] | None:
        """What the script can tell of it: it knows only the versions that Redis has."""
        return self.model.appended_since(opened) if max(1, opened.version) > self.base("versions") else None

    def base(self, kind: str) -> int:
        return int(self.do(self.bus.call, "HGET", self.bus.keys.memory(SCOPE), f"{kind}_base") or 0)

    def refused(self, call: Callable[[], Any], error: type[Exception]) -> None:
        before = self.do(dump, self.bus)
        with pytest.raises(error):
            call()
        assert self.do(dump, self.bus) == before

    # Consolidators

    @rule(session=st.sampled_from(SESSIONS), how=st.sampled_from(["next", "next", "again", "same", "lower"]))
    def lock(self, session: str, how: str) -> None:
        """Somebody gets the session's lock and opens the memory; a failover may have given him an old fence."""
        side = self.model.sides[session]
        fence = side.fence + {"next": 1, "again": 0, "same": 0, "lower": -1}[how]
        nonce = side.nonce if how == "again" else self.new("n").replace(" ", "")
        if fence < side.fence or (fence == side.fence and nonce != side.nonce):
            self.refused(lambda: self.do(self.memories.open, SCOPE, session, fence=fence, nonce=nonce), FenceBehind)
            return
        opened = self.do(self.memories.open, SCOPE, session, fence=fence, nonce=nonce)
        self.held = [*self.held[-4:], Held(session, opened)]
        self.done(self.held[-1], opened)

    @rule(
        back=BACK,
        size=st.integers(1, 5),
        what=st.sampled_from(["", "consolidation", "consolidation", "rejected", "same"]),
        raw=st.booleans(),
        shift=st.sampled_from([0, 0, 0, 0, -1, 1]),
    )
    def apply(self, back: int, size: int, what: str, raw: bool, shift: int) -> None:
        held, side, lost = self.acting(back)
        model, opened = self.model, held.opened
        first = max(0, opened.upto + shift)
        entry = HistoryEntry(
            time=TIME,
            session=held.session,
            first=first,
            upto=first + size,
            kind="raw" if raw else "summary",
            text=self.new('"session":"web:ann"'),
        )
        text = model.text if what == "same" else self.new("text")
        kind = {"": "", "rejected": "rejected"}.get(what, "consolidation")
        written = Version(kind=kind, time=TIME, text=text) if kind else None  # type: ignore[arg-type]
        versions = {"rejected" if kind == "rejected" else "update": written}
        mark, name = self.new("mark"), (opened.nonce, opened.set_backs, first, first + size)

        def call() -> Any:
            return self.do(self.memories.apply, opened, entry, mark=mark, **versions)

        if lost:
            self.refused(call, LockLost)
            return
        if side.applied != name and (side.set_backs != opened.set_backs or side.upto != first):
            self.refused(call, Misplaced)
            return
        applied = call()
        moved = (opened.version, opened.text) != (model.version, model.text)
        if side.applied != name and kind == "consolidation" and moved:
            assert (applied.status, applied.appended) == ("version", self.appended_since(opened))
            self.done(held, applied.opened, status="version")
            return
        assert applied.status == "done"
        if side.applied != name:
            side.upto, side.mark, side.applied = first + size, mark, name
            model.history.append(Entry(held.session, first, first + size))
            if raw:
                model.undigested.append(len(model.history) - 1)
            else:
                model.rejected = 0
            if kind == "rejected" or (kind and text != model.text):
                model.put(kind, text)
        self.done(held, applied.opened)

    @rule(back=BACK, ahead=st.sampled_from([0, 0, 1, -1]), kept=st.booleans(), noted=st.booleans())
    def append(self, back: int, ahead: int, kept: bool, noted: bool) -> None:
        held, side, lost = self.acting(back)
        opened, model, cycle = held.opened, self.model, max(0, held.opened.upto + ahead)
        added = self.new("added") if kept else ""
        update = Version(kind="flush", time=TIME, added=added) if kept else None
        noted_text = self.new("note")
        notes = [Note(time=TIME, date="2026-11-20", session=held.session, cycle=cycle, text=noted_text)][: int(noted)]

        def call() -> Any:
            return self.do(self.memories.append, opened, update, cycle=cycle, notes=notes)

        if lost or side.set_backs != opened.set_backs:
            self.refused(call, LockLost if lost else Misplaced)
            return
        applied = call()
        assert applied.status == ("done" if cycle > side.flushed else "over")
        if cycle > side.flushed:
            side.flushed = cycle
            model.notes += [note.text for note in notes]
            if kept:
                model.put("flush", joined(model.text, added), added)
        self.done(held, applied.opened, status=applied.status)

    @precondition(lambda self: self.model.undigested)
    @rule(back=BACK, what=st.sampled_from(["", "digest", "digest", "rejected"]), pick=st.integers(0, 9))
    def digest(self, back: int, what: str, pick: int) -> None:
        held, _, lost = self.acting(back)
        opened, model = held.opened, self.model
        index = model.undigested[pick % len(model.undigested)]
        update = Version(kind=what, time=TIME, text=self.new("text")) if what else None  # type: ignore[arg-type]

        def call() -> Any:
            return self.do(self.memories.digest, opened, index=index, update=update)

        if lost:
            self.refused(call, LockLost)
            return
        applied = call()
        if (opened.version, opened.text) != (model.version, model.text):
            assert (applied.status, applied.appended) == ("version", self.appended_since(opened))
        else:
            assert applied.status == "done"
            model.undigested.remove(index)
            if update:
                model.put(what, update.text)
        # It writes no fence: it is no step of this session's.
        self.done(held, applied.opened, status="version")

    @rule(back=BACK, by=st.integers(0, 8))
    def set_back(self, back: int, by: int) -> None:
        held, side, lost = self.acting(back)
        opened, model, head = held.opened, self.model, max(0, held.opened.upto - by)

        def call() -> Any:
            return self.do(self.memories.set_back, opened, head=head)

        again, base = side.set_backs == opened.set_backs + 1, 0
        if lost or (not again and (side.set_backs, side.upto) != (opened.set_backs, opened.upto)):
            self.refused(call, LockLost if lost else Misplaced)
            return
        result = call()
        if again:
            base = self.base("history")  # what it marked in the archive the first time it does not tell again
        if not again and side.upto > head:
            own = [(index, entry) for index, entry in enumerate(model.history) if entry.session == held.session]
            cut = [(index, entry) for index, entry in own if not entry.lost and entry.upto > head]
            side.marked = [index for index, _ in reversed(cut)]
            side.upto, side.mark, side.flushed = min([head, *(entry.first for _, entry in cut)]), "", -1
            side.set_backs += 1
            side.fence, side.nonce = opened.fence, opened.nonce
            for _, entry in cut:
                entry.lost = True
            model.undigested = [index for index in model.undigested if index not in side.marked]
            again = True
        marked = side.marked if again else []
        assert [(entry.first, entry.upto) for entry in result.lost] == [
            (model.history[index].first, model.history[index].upto) for index in marked if index >= base
        ]
        self.done(held, result.opened, status="over")

    @rule(back=BACK)
    def the_cursor_follows(self, back: int) -> None:
        held, side, lost = self.acting(back)
        mark, opened = "m", held.opened

        self.do(self.memories.followed, opened, upto=opened.upto, mark=mark)

        if not lost and (side.set_backs, side.upto) == (opened.set_backs, opened.upto) and side.mark:
            side.mark = mark
        self.late.append(self.bus.scripts[-1])

    # Whoever has time

    @rule(dies_at=DIES_AT, carried_out=st.booleans(), other_at=DIES_AT)
    def shelve(self, dies_at: int, carried_out: bool, other_at: int) -> None:
        """What is old moves to the archive; another process may do the same at the same time."""

        async def other() -> None:
            await self.process(self.bus).shelve(SCOPE)

        async def shelve() -> None:
            with suppress(Died):
                await self.process(bus).shelve(SCOPE)

        bus = ShelvingBus(self.bus, dies_at=dies_at, carried_out=carried_out, other=other)
        bus.other_at = other_at
        self.do(shelve)
        self.late += bus.carried
        if not dies_at:
            self.is_short()

    def is_short(self) -> None:
        """Redis keeps no more than it should, but for what it still needs."""
        keys, model = self.bus.keys, self.model
        needed = {
            "versions": [number - 1 for number in (model.version, model.rejected) if number],
            "history": model.undigested,
            "notes": [],
        }
        for kind, key in (("versions", keys.versions), ("history", keys.history), ("notes", keys.notes)):
            length, upto = self.do(self.bus.call, "LLEN", key(SCOPE)), self.base(kind) + SHELVED[kind]
            assert length < KEPT[kind] + SHELVED[kind] or any(index < upto for index in needed[kind]), kind

    # People

    @rule(back=st.integers(0, 3))
    def edit(self, back: int) -> None:
        model, of = self.model, max(0, self.model.version - back)
        text = self.new("by hand") + "\n"
        base = model.versions[of - 1].text if of else ""
        expected = edited(text, of=base, current=model.text)

        number = self.do(self.memories.edit, SCOPE, of=of, text=text, by="ann", time=TIME)

        model.put("edit", expected)
        model.rejected = 0
        assert number == model.version
        self.late.append(self.bus.scripts[-1])

    @precondition(lambda self: self.model.versions)
    @rule(pick=st.integers(0, 99))
    def restore(self, pick: int) -> None:
        model, number = self.model, 1 + pick % len(self.model.versions)
        text = model.versions[number - 1].text

        made = self.do(self.memories.restore, SCOPE, version=number, by="ann", time=TIME)

        if text != model.text:
            model.put("restore", text)
            model.rejected = 0
            self.late.append(self.bus.scripts[-1])
        assert made == model.version

    # The network, the server

    @precondition(lambda self: self.late)
    @rule(pick=st.sampled_from([0, 0, 1, 2, 5, 9, 20]))
    def a_copy_arrives_late(self, pick: int) -> None:
        """Of any call that was carried out before, with its very arguments: the last one is told the same."""
        call, before = self.late[-1 - pick % len(self.late)], self.do(dump, self.bus)

        status = (self.do(self.bus.arrive, *call) or [b""])[0]

        assert self.do(dump, self.bus) == before
        if call is self.late[-1] and call[0].name in WRITES:
            assert status in (b"open", b"done", b"over", b"version")

    @rule()
    def a_replica_follows(self) -> None:
        keys = self.do(all_keys, self.bus)
        found = {key: self.do(self.bus.call, "DUMP", key) for key in keys}
        self.copy = (copy.deepcopy(self.model), found)

    @precondition(lambda self: self.copy)
    @rule()
    def the_server_fails_over(self) -> None:
        """What came after the replica's copy is lost; nobody is told."""
        assert self.copy is not None
        model, found = self.copy
        for key in self.do(all_keys, self.bus):
            self.do(self.bus.call, "UNLINK", key)
        for key, value in found.items():
            self.do(self.bus.call, "RESTORE", key, 0, value)
        self.model = copy.deepcopy(model)
        self.late.clear()

    # What always holds

    @invariant()
    def all_is_as_promised(self) -> None:
        keys, model, found = self.bus.keys, self.model, self.do(self.look)
        fields = dict(pairs(found["memory"]))
        assert [(v.version, v.kind, v.text, v.added) for v in found["versions"]] == [
            (v.version, v.kind, v.text, v.added) for v in model.versions
        ]
        assert [v.version for v in found["versions"]] == list(range(1, len(model.versions) + 1))
        current = [v.text for v in found["versions"] if v.kind != "rejected"]
        assert fields.get(b"text", b"").decode() == (current or [""])[-1] == model.text, keys.memory(SCOPE)
        assert found["notes"] == model.notes
        assert [int(index) for index in found["undigested"]] == model.undigested
        assert [Entry(e.session, e.first, e.upto, e.lost) for e in found["history"]] == model.history
        for session, side in model.sides.items():
            assert int(fields.get(f"upto:{session}".encode(), 0)) == side.upto
            assert fields.get(f"fence:{session}".encode(), b"0 ").decode() == f"{side.fence} {side.nonce}"
            there = [(e.first, e.upto) for e in found["history"] if e.session == session and not e.lost]
            assert all(one[1] == other[0] for one, other in pairwise([(0, 0), *there, (side.upto, side.upto)]))

    async def look(self) -> dict[str, Any]:
        keys, found = self.bus.keys, dict[str, Any]()

        async def read(name: str, function: Callable[..., Any], *args: Any) -> None:
            found[name] = await function(*args)

        async with anyio.create_task_group() as tg:
            tg.start_soon(read, "memory", self.bus.call, "HGETALL", keys.memory(SCOPE))
            tg.start_soon(read, "undigested", self.bus.call, "LRANGE", keys.undigested(SCOPE), 0, -1)
            tg.start_soon(read, "history", self.memories.history, SCOPE)
            tg.start_soon(read, "notes", self.memories.notes, SCOPE)
            tg.start_soon(read, "versions", self.memories.versions, SCOPE)
        found["versions"] = list(reversed(found["versions"]))
        found["notes"] = [note.text for note in found["notes"]]
        return found


WRITES = ("open.lua", "apply.lua", "append.lua", "digest.lua", "set_back.lua", "write.lua")
"""Whose answers begin with a status."""

QUICK = settings(
    max_examples=20, stateful_step_count=40, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
THOROUGH = settings(QUICK, max_examples=1_000, stateful_step_count=80)


@contextmanager
def machine(server_dir: Path, prefix: str) -> Iterator[type[MemoryMachine]]:
    with one_loop() as loop, pytest.MonkeyPatch.context() as patch:
        patch.setattr("daemon.memory.scope_lists.KEPT", KEPT)
        patch.setattr("daemon.memory.scope_lists.SHELVED", SHELVED)
        opened = open_bus(RedisConfig(prefix=prefix), server_dir)
        with loop.entered(opened) as bus:
            yield type("Machine", (MemoryMachine,), {"loop": loop, "bus": RecordingBus(bus)})
            loop.call(check_and_remove_keys, bus)


def test_memories_keep_their_promises(server_dir: Path, prefix: str) -> None:
    with machine(server_dir, prefix) as found:
        run_state_machine_as_test(found, settings=QUICK)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(900)
def test_memories_keep_their_promises_however_long_it_goes_on(server_dir: Path, prefix: str) -> None:
    with machine(server_dir, prefix) as found:
        run_state_machine_as_test(found, settings=THOROUGH)
