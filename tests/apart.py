"""A session on one server and its memory on another, each of which can be set back by itself; and what must hold.

Every message has a name of its own in its text, and the model sums up by naming what it was shown: so entries tell
which messages they stand for, whatever was lost, set back or written twice.
"""

import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.lowlevel import checkpoint

from daemon.archive import Archive
from daemon.bus import Bus, Script
from daemon.config import Config
from daemon.events import LogEntry
from daemon.memory import HistoryEntry, Memories, MemoryFiles
from daemon.model import Answer, Chunk, Model, Request
from daemon.process import Process
from daemon.server import EmbeddedServer
from daemon.server.server_files import ServerFiles
from daemon.session import Change, Commit, SessionState
from daemon.testing import ManualClock
from tests.conftest import Lab, all_keys, shut_down
from tests.memorylab import SCOPE, MemoryLab, saves, small_window
from tests.places import TEMPORARY
from workers.consolidation import Consolidator, Kits, stores_of
from workers.consolidation.consolidation_request import SharedStores
from workers.consolidation.range_consolidation import DIGEST_MOST_S

SESSION = "web:ann"
TURN_TOKENS = 600
"""Of each turn, as the log says: four of them are more than what a window of 4,096 begins to consolidate at."""
FIXED_TOKENS = 300
SETTLE_TOKENS = 1_500  # of the history: less than where a worker begins, as a commit would ask for it
FAILURES_MOST = 3
AGES_MS = 1_000_000_000  # longer than any deadline, however often a clock was set back
LOOKS_MOST = 12  # so many consolidations settle any session here
_named = re.compile(r"\bmsg\d+\b").findall


def names_in(text: str) -> list[str]:
    return _named(text)


@contextmanager
def another_server() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as folder:
        data = Path(folder) / "data"
        address = anyio.run(EmbeddedServer(data, idle_s=600.0).ensure)
        yield data
        shut_down(address, ServerFiles(data.resolve()))


class NoThreads:
    """In place of the threads of an archive, for tests that read its files thousands of times from a memory disk."""

    def __init__(self, most: int) -> None:
        """``most`` is what the real ones are given."""

    async def run(self, work: Callable[[], Any]) -> Any:
        await checkpoint()
        return work()


class Teller:
    """A model that sums up by naming what it was shown, and writes something down in each flush."""

    name = "teller"

    def __init__(self) -> None:
        self.summaries = self.flushes = 0
        self.answer: Callable[[], Awaitable[Answer | None]] = at_once
        """Called before each answer: may wait, raise, or give another one."""

    async def stream(self, request: Request) -> AsyncGenerator[Chunk]:
        """What ``answer`` gives, else what the request asks for."""
        answer = await self.answer()
        yield answer or (self._told(request) if request.force_tool == "save_memory" else self._kept())

    def _told(self, request: Request) -> Answer:
        self.summaries += 1
        shown = msgspec.json.decode(request.messages[-1])["content"].rpartition("## Conversation to Process")[2]
        entry = f"[2026-11-20 09:00] They said {' '.join(names_in(shown))}."
        return saves(entry, memory=f"fact {self.summaries}")

    def _kept(self) -> Answer:
        self.flushes += 1
        return Answer(text=f"# MEMORY.md\nkept {self.flushes}\n# 2026-11-20.md\nnoted {self.flushes}", model=self.name)

    async def aclose(self) -> None:
        """Nothing to close."""


async def at_once() -> None:
    """Wait no longer than a provider does at least: a cancellation comes there."""
    await checkpoint()


@dataclass
class Copy:
    """All keys of a bus, as a replica has them that lags behind."""

    found: dict[bytes, tuple[bytes, int]]  # each key's value, and how long it lives (ms)

    @classmethod
    async def of(cls, bus: Bus) -> "Copy":
        keys = await all_keys(bus)
        values = await bus.each([("DUMP", key) for key in keys])
        lives = await bus.each([("PTTL", key) for key in keys])
        return cls({key: (value, max(0, ttl)) for key, value, ttl in zip(keys, values, lives, strict=True)})

    async def takes_over(self, bus: Bus) -> None:
        # One by one: on a cluster they lie in several slots.
        commands: list[tuple[Any, ...]] = [("UNLINK", key) for key in await all_keys(bus) if key not in self.found]
        commands += [("RESTORE", key, ttl, value, "REPLACE") for key, (value, ttl) in self.found.items()]
        for answer in await bus.each(commands):
            assert not isinstance(answer, BaseException), answer


async def kept(*buses: Bus, folder: Path | None = None) -> Callable[[], Awaitable[None]]:
    """Brings back keys and files as they are now: one beginning for many cases."""
    copies, files = [(bus, await Copy.of(bus)) for bus in buses], _files_in(folder)

    async def bring_back() -> None:
        await asyncio.gather(*[copy.takes_over(bus) for bus, copy in copies])
        there = _files_in(folder)
        for path in there.keys() - files.keys():
            path.unlink()
        for path, content in files.items():
            if there.get(path) != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    return bring_back


def _files_in(folder: Path | None) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} if folder else {}


async def _nothing_found(_scope: str, _words: str) -> list[str]:
    """In place of a search, which has tests of its own and would make an index for each consolidation."""
    return []


class Apart(MemoryLab):
    """A session on the server of ``lab``, the memory of its scope on another."""

    def __init__(self, process: Process, lab: Lab, far: Bus, model: Teller) -> None:
        super().__init__(process, lab, model, session=SESSION)
        self.far = far
        self.model = model
        self.kits = Kits(self.process)
        self.stores = self._stores(self.process.bus, far)
        self.consolidator = Consolidator(self.stores, self.kits)
        self.memories = self._memories(far)
        self._names = 0

    def through(
        self, near: Bus, far: Bus, *, kits: Kits | None = None, files: MemoryFiles | None = None
    ) -> Consolidator:
        stores = self._stores(near, far)
        return Consolidator(msgspec.structs.replace(stores, files=files) if files else stores, kits or self.kits)

    def kits_of(self, model: Teller) -> Kits:
        async def connect(_config: object, *, language: str) -> Model:
            return model

        return Kits(replace(self.process, connect_model=connect))

    def _stores(self, near: Bus, far: Bus) -> SharedStores:
        memories = self._memories(far)
        files = MemoryFiles(memories, workspace_of=self.process.workspace, clock=self.process.clock)
        stores = stores_of(replace(self.process, bus=near))
        return msgspec.structs.replace(stores, memories=memories, files=files, recalls=_nothing_found)

    def _memories(self, far: Bus) -> Memories:
        """As one process has them, with the archive of their own server."""
        return Memories(far, Archive(far, self.process.data_dir / "far", clock=self.process.clock))

    # What happens to a session

    async def grow(self, turns: int = 1, *, over: bool = False, tokens: int = TURN_TOKENS) -> None:
        """People say something and are answered, so many times; with ``over`` they begin anew with ``/new``."""
        for _ in range(turns):
            self._names += 2
            await self.lab.publish(f"p{self._names}", session=self.session)
            await self.lab.expire(self.session)
            claim = await self.lab.claim(self.session)
            entries = [] if over else self.said(claim.begun.head, tokens)
            commit = Commit(
                change=Change(start_over=over), entries=tuple(entries), tokens=sum(entry.tokens for entry in entries),
                answered=tuple(entry.stream_id for entry in claim.begun.waiting), fixed_tokens=FIXED_TOKENS,
                settle_tokens=SETTLE_TOKENS,
            )  # fmt: skip
            await self.lab.sessions.commit(claim, commit, step=0, go_on=False)

    def said(self, turn: int, tokens: int) -> list[LogEntry]:
        """A question and its answer, of names that no others ever have."""
        found: list[LogEntry] = []
        for role, name in (("user", f"msg{self._names}"), ("assistant", f"msg{self._names + 1}")):
            wire = msgspec.Raw(msgspec.json.encode({"role": role, "content": f"{name} said"}))
            time = f"2026-11-20T{9 + self._names // 3600:02}:{self._names // 60 % 60:02}:{self._names % 60:02}.000Z"
            who = {"id": name, "sender": "ann"} if role == "user" else {"answers": (f"p{self._names}",)}
            found.append(LogEntry(time=time, turn=turn, tokens=tokens // 2, wire=wire, **who))  # type: ignore[arg-type]
        return found

    async def expire(self) -> None:
        """Whoever has the session's lock has had it for too long, and it is time to look at the session."""
        await lock_shifted(self.lab.bus, self.session, -AGES_MS)

    async def settled_once(self) -> None:
        """A session and its memory that are no longer new: a part of it is consolidated and archived."""
        await self.grow(4)
        await self.settle()
        assert await self.position() > 0

    async def kept(self) -> Callable[[], Awaitable[None]]:
        """See ``kept``; of both servers and their archives."""
        return await kept(self.lab.bus, self.far, folder=self.process.data_dir)

    # What must hold

    async def settle(self) -> None:
        """Let other workers do what there is to do, and see that nothing is left."""
        await self.expire()
        for _ in range(LOOKS_MOST):
            if isinstance(self.process.clock, ManualClock):
                self.process.clock.advance(DIGEST_MOST_S)  # the next attempt at a raw entry is due
            report = await self.consolidator.consolidate(self.session)
            assert report.outcome in ("settled", "nothing"), report
            if report.outcome == "nothing" and not await self.unsettled(self.lab.bus):
                break
        else:
            raise AssertionError("it is consolidated again and again")
        _, is_free, left, failures = await asyncio.gather(
            self.whole(), self.free(), self.unsettled(self.lab.bus), self.failures()
        )
        assert is_free
        assert left == {}
        assert failures <= FAILURES_MOST

    async def free(self) -> bool:
        return await self.lab.bus.call("HGET", self.lab.bus.keys.of(self.session).lock, "nonce") is None

    async def failures(self) -> int:
        """Attempts in a row that brought nothing, as the session counts them."""
        return int((await self.lab.fields(self.session)).get("failures", "0"))

    async def whole(self) -> tuple[SessionState, list[LogEntry], list[HistoryEntry]]:
        """Nothing is in progress: every message is in exactly one place, and all sums are right."""
        (state, log, history), _ = await asyncio.gather(super().whole(), self.memory_is_a_version())
        for entry in history:
            told = Counter(names_in(entry.text))
            assert told == names_of(log[entry.first : entry.upto]), (entry, names_of(log[entry.first : entry.upto]))
        assert state.tokens_start == sum(entry.tokens for entry in log[state.start :])
        assert state.cursor <= state.start <= state.head == len(log)
        return state, log, history

    async def memory_is_a_version(self) -> None:
        """MEMORY.md reads like its newest version that was not rejected."""
        for limit in (2, 1_000):  # the older ones lie in the archive
            found = await self.memories.versions(SCOPE, limit=limit)
            if versions := [version for version in found if version.kind != "rejected"]:
                break
        current = await Memories(self.far).current(SCOPE)
        newest = (versions[0].text, versions[0].version) if versions else ("", 0)
        assert (current.text, current.version) == newest

    async def flushed(self) -> Counter[int]:
        versions = await self.memories.versions(SCOPE, limit=100_000)
        return Counter(version.first for version in versions if version.kind == "flush")

    async def entries_now(self) -> list[HistoryEntry]:
        """Of this session, those that are not lost, by position."""
        return sorted(await self.history(), key=lambda entry: entry.first)

    async def position(self) -> int:
        found = await self.far.call("HGET", self.far.keys.memory(SCOPE), f"upto:{self.session}")
        return int(found or 0)

    async def memory_tiles(self) -> list[HistoryEntry]:
        """What stands in the memory, which follows one upon the other, from the first message to its position."""
        upto, entries = await asyncio.gather(self.position(), self.entries_now())
        spans = [(0, 0), *((entry.first, entry.upto) for entry in entries), (upto, upto)]
        assert all(one[1] == other[0] for one, other in pairwise(spans)), spans
        return entries


def names_of(entries: Sequence[LogEntry]) -> Counter[str]:
    return Counter(name for entry in entries for name in names_in(bytes(entry.wire).decode()))


OF_THE_SESSION = {"note.lua": 0, "relock.lua": 1, "settle.lua": 1, "unlock.lua": 1}
"""Scripts that only the holder of a session's lock may call, and where his nonce stands among the arguments."""
OF_THE_MEMORY = ("open.lua", "apply.lua", "append.lua", "digest.lua", "set_back.lua", "followed.lua")
"""Scripts that carry session, fence and nonce, and write nothing when the memory has seen a later lock."""


async def watched(bus: Bus, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
    """Run a script; one of somebody who has the session's lock no more must not change anything."""
    if script.name in OF_THE_SESSION:
        of_session = bus.keys.of(SESSION)
        lost = await bus.call("HGET", of_session.lock, "nonce") != args[OF_THE_SESSION[script.name]].encode()
        looks = [("HGETALL", of_session.session), ("HGETALL", of_session.lock)]
    elif script.name in OF_THE_MEMORY:
        lost = _is_behind(await bus.call("HGET", bus.keys.memory(SCOPE), f"fence:{SESSION}"), *args[1:3])
        looks = [("HGETALL", bus.keys.memory(SCOPE)), ("LLEN", bus.keys.history(SCOPE))]
    else:
        lost, looks = False, []
    before = await bus.each(looks) if lost else []
    answer = await bus.run(script, keys, args)
    assert not lost or await bus.each(looks) == before, f"{script.name} of somebody who lost the lock"
    return answer


def _is_behind(seen: bytes | None, fence: int, nonce: str) -> bool:
    highest, _, holder = (seen or b"0 ").decode().partition(" ")
    return int(highest) > fence or (int(highest) == fence and holder != nonce)


async def lock_shifted(bus: Bus, session: str, by_ms: int) -> None:
    """Move every deadline of a session's lock, and when it is to be looked at."""
    keys = bus.keys.of(session)
    if await bus.call("HEXISTS", keys.lock, "lease"):
        await bus.call("HINCRBY", keys.lock, "lease", by_ms)
    await bus.call("ZADD", keys.unsettled, "XX", "INCR", by_ms, session)


def alone(config: Config, **consolidation: Any) -> Config:
    """A configuration whose locks are never renewed here: time is moved by hand."""
    queue = msgspec.structs.replace(config.queue, lease_s=600.0, renew_s=500.0, wakeup_s=600.0, backoff_max_s=600.0)
    return msgspec.structs.replace(small_window(config, **consolidation), queue=queue)
