"""What tests of linked people do over and over: talk, have it remembered, link, part, look at what became of it."""

import itertools
import shutil
from dataclasses import replace
from typing import Any

import msgspec

from daemon.bus import Bus, publish
from daemon.clock import stamp
from daemon.job_handlers import job_runner
from daemon.jobs import JobRecord, Jobs
from daemon.memory import HistoryEntry, Memories, Note, Opened, Version
from daemon.people import LinkIndex, LinkRequests
from daemon.process import Process
from daemon.session import ConsolidationLocks
from tests.conftest import Lab, an_inbound, check_and_remove_keys

ANN, BOB, CAT = (f"pond:person:web:{name}" for name in ("ann", "bob", "cat"))
WITHIN_S = 60.0
LEASE_S = 30.0


def session_of(scope: str) -> str:
    return ":".join(scope.split(":")[2:])


class PeopleLab:
    def __init__(self, process: Process, lab: Lab) -> None:
        # A lock lasts as long as a test: ``expire`` is what ends it.
        queue = msgspec.structs.replace(process.config.queue, lease_s=LEASE_S)
        self.process = replace(process, config=msgspec.structs.replace(process.config, queue=queue))
        self.lab, self.bus = lab, process.bus
        self.memories = Memories(process.bus)
        self.locks = ConsolidationLocks(process.bus, queue, worker="elsewhere")
        self.people = LinkIndex(process.bus)
        self._numbers = itertools.count()

    async def begin_anew(self) -> None:
        await check_and_remove_keys(self.bus)
        shutil.rmtree(self.process.data_dir / "bots", ignore_errors=True)

    async def talk(self, scope: str) -> None:
        session = session_of(scope)
        inbound = msgspec.structs.replace(
            an_inbound(f"m{next(self._numbers)}", session=session), sender_id=session.split(":")[1]
        )
        await publish(self.bus, inbound, scope=scope, config=self.process.config.queue)
        claim = await self.lab.claim(session)
        await self.lab.commit(claim, go_on=False)

    async def remember(self, scope: str, text: str, *, raw: bool = False) -> Opened:
        """Consolidate what a person said since the last time: a line of MEMORY.md, a history entry, a note."""
        await self.talk(scope)
        session = session_of(scope)
        lock = await self.locks.take(session)
        assert lock is not None
        opened = await self.memories.open(scope, session, fence=lock.fence, nonce=lock.nonce)
        time = stamp(self.process.clock.now())
        entry = HistoryEntry(
            time=time, session=session, first=opened.upto, upto=lock.head, kind="raw" if raw else "summary",
            text=f"[2026-11-20 09:00] {text}",
        )  # fmt: skip
        memory = "\n".join(filter(None, (opened.text.rstrip(), f"- {text}"))) + "\n"
        update = None if raw else Version(kind="consolidation", time=time, session=session, text=memory)
        applied = await self.memories.apply(opened, entry, mark=f'{{"last":"{lock.head}"}}', update=update)
        assert applied.status == "done"
        note = Note(time=time, date="2026-11-20", session=session, cycle=lock.head, text=f"note: {text}")
        await self.memories.append(applied.opened, None, cycle=lock.head, notes=[note])
        await self.locks.give_back(lock, again_in_s=None)
        return opened

    # Jobs

    def through(self, bus: Bus) -> Process:
        return replace(self.process, bus=bus, name=f"process-{next(self._numbers)}")

    async def ask(self, into: str, member: str) -> str:
        return await LinkRequests(self.process).link(into, member, by="test")

    async def ask_to_part(self, member: str) -> str:
        job = await LinkRequests(self.process).unlink(member, by="test")
        assert job is not None
        return job

    async def link(self, into: str, member: str) -> JobRecord:
        return await self.done(await self.ask(into, member))

    async def part(self, member: str) -> JobRecord:
        return await self.done(await self.ask_to_part(member))

    async def done(self, job_id: str) -> JobRecord:
        record = await job_runner(self.process).until_ended(job_id, within_s=WITHIN_S)
        assert record.status == "done", record
        return record

    async def expire(self) -> None:
        keys = self.bus.keys
        for job_id in await self.bus.call("ZRANGE", keys.jobs, 0, -1):
            await self.bus.call("ZADD", keys.jobs, "XX", "INCR", -3_600_000, job_id)
        for scope in (ANN, BOB, CAT):
            lock = keys.lock(session_of(scope))
            if await self.bus.call("HEXISTS", lock, "lease"):
                await self.bus.call("HINCRBY", lock, "lease", -3_600_000)

    @property
    def jobs(self) -> Jobs:
        return Jobs(self.bus, lease_s=1.0, worker="looks", clock=self.process.clock)

    # What there is

    async def texts(self, scope: str) -> list[str]:
        return [entry.text.partition("] ")[2] for entry in await self.memories.history(scope)]

    async def notes(self, scope: str) -> list[str]:
        return [note.text for note in await self.memories.notes(scope)]

    async def text(self, scope: str) -> str:
        return (await self.memories.current(scope)).text

    async def own_text(self, scope: str) -> str:
        return (await self.memories.read(scope))[0].text

    async def owed(self, scope: str) -> list[str]:
        return [entry.text.partition("] ")[2] for _, entry in await self.memories.undigested(scope, limit=100)]

    async def fields(self, scope: str) -> dict[str, str]:
        found: dict[bytes, bytes] = await self.bus.call("HGETALL", self.bus.keys.memory(scope))
        return {name.decode(): value.decode() for name, value in found.items()}

    async def view(self) -> dict[str, Any]:
        """All of it, but for what differs from one time to the next."""
        view: dict[str, Any] = {}
        for scope in (ANN, BOB, CAT):
            fields = await self.fields(scope)
            kept = {
                name: value
                for name, value in fields.items()
                if name in ("joined", "joining", "receiving", "leaving") or name.startswith("upto:")
            }
            view[scope] = (
                await self.texts(scope), await self.notes(scope), await self.own_text(scope), await self.owed(scope),
                kept | {"links": sorted(name for name in fields if name.startswith("links:"))},
                (await self.people.family(scope)),
            )  # fmt: skip
        return view
