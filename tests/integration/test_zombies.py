"""Scripts of lease holders: a call that hangs until a successor is at work changes nothing any more."""

import datetime as dt
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from channels.discord.gateway_session import GatewaySession, GatewaySessions
from channels.leader_election import Lease, LeaseTerms
from channels.live_display.draft_message import DraftMessage
from channels.live_display.shown_messages import Begun, DisplayLeader, ShownMessages
from channels.outbox.delivery_state import DeliveryState, NextStep, Place, Step
from daemon.archive import Archive
from daemon.bus import Bus, Script, show_live
from daemon.bus.migrations import MIGRATE, SCHEMA
from daemon.clock import stamp
from daemon.config import QueueConfig
from daemon.errors import FenceBehind, JobLost, LeaseLost, LockLost, MillpondError
from daemon.events import Live, Notice, Reply
from daemon.forget import ForgetOrder
from daemon.job_handlers import job_runner
from daemon.jobs import Jobs
from daemon.memory import HistoryEntry, Memories, Version
from daemon.memory.memory_merge import MemoryMerge
from daemon.memory.scope_lists import ScopeLists
from daemon.process import Process
from daemon.reminders import ReminderRequest, Reminders, planned
from daemon.reminders import Tenure as Tenancy
from daemon.session import ConsolidationLocks, ImmediateCommands, Sessions, TurnMessage, TurnMessages
from daemon.testing import FailingBus, ManualClock
from tests.apart import Copy, lock_shifted
from tests.conftest import Lab, an_entry, commit_of, dump, shift
from tests.forgetlab import SCOPE as FORGETFUL
from tests.forgetlab import pond
from tests.integration.test_forgetting_cut_short import Pond, a_little, left_by_the_dead
from tests.integration.test_links import begun
from tests.limits import HANG_S
from tests.peoplelab import ANN, BOB, CAT, PeopleLab
from tests.remindlab import place_of

ROOT = Path(__file__).parents[2]
SESSION, SCOPE, TIME = "web:ann", "pond:workspace", "2026-11-20T09:00:00.000Z"

NOBODYS = {
    "channels/intake": "answer_bot overhear react unhear", "channels": "pace",
    "daemon/access": "change offer pause redeem resume tell", "daemon/bus": "mend publish reap replay touch wake",
    "daemon/data": "key mend mend_key mend_scope put scope session", "daemon/forget": "anew",
    "daemon/jobs": "create due", "daemon/memory": "home pin read take_over write",
    "daemon/model": "failed failing probe",
    "daemon/operators": "approve decide redeem visit", "daemon/people": "answer begin offer redeem",
    "daemon/rates": "save",
    "daemon/recall/index": "look",
    "daemon/reminders": "allow change fire overdue",
    "daemon/session": "amend fill log sweep tell withdraw", "daemon/transcripts": "keep restore slice",
    "daemon/usage": "bucket note reserve warn",
}  # fmt: skip
"""Scripts that nobody needs a lease for: they only read, or name what they change, or add to what is there."""


class Zombie(FailingBus):
    """The connection of a process that hangs at its ``nth`` call of a script, until another one has its lease."""

    def __init__(self, bus: Bus, file: str, *, nth: int = 1, dies: bool = False) -> None:
        """``dies``: the process does nothing more when the call has arrived."""
        super().__init__(bus, at=0)
        self._text, self._left, self._dies = (ROOT / file).read_bytes(), nth, dies
        self.hangs, self.freed, self.arrived = anyio.Event(), anyio.Event(), anyio.Event()
        self.changed: set[str] | None = None
        """Keys that the call has changed; None: it has not arrived."""

    def is_it(self, script: Script) -> bool:
        """Whether it is the script, whatever parts of others stand before it."""
        return script.text.endswith(self._text)

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """See ``Bus.run``."""
        self._left -= self.is_it(script)
        if self._left or self.hangs.is_set():
            return await super().run(script, keys, args)
        self.hangs.set()
        with anyio.CancelScope(shield=True):  # a command on its way arrives, whatever becomes of its sender
            await self.freed.wait()
            try:
                found = await super().run(script, keys, args)
            finally:
                self.arrived.set()
        if self._dies:
            await anyio.sleep_forever()
        return found

    async def arrives(self) -> set[str]:
        """Let the call arrive; what it has changed."""
        before = await dump(self)
        self.freed.set()
        await self.arrived.wait()
        after = await dump(self)
        self.changed = {key for key in before | after if before.get(key) != after.get(key)}
        return self.changed


class Successor(FailingBus):
    """The connection of the next process, within whose call of the same script the zombie's arrives."""

    def __init__(self, zombie: Zombie, *, late: bool) -> None:
        """``late``: it arrives after its own, else before."""
        super().__init__(zombie, at=0)
        self._zombie, self._late = zombie, late

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """See ``Bus.run``."""
        meets = self._zombie.is_it(script) and not self._zombie.freed.is_set()
        if meets and not self._late:
            await self._zombie.arrives()
        found = await super().run(script, keys, args)
        if meets and self._late:
            await self._zombie.arrives()
        return found


class Tenure:
    def __init__(self, lab: Lab, folder: Path) -> None:
        self.lab, self.bus, self.keys, self.folder, self._taken = lab, lab.bus, lab.bus.keys, folder, 0

    def lease_s(self) -> float:
        """Longer each time: whose deadline it is can be seen."""
        self._taken += 1
        return 600.0 + self._taken

    @property
    def queue(self) -> QueueConfig:
        return msgspec.structs.replace(self.lab.queue, lease_s=self.lease_s())

    async def prepare(self) -> None:
        await self.lab.publish("m1")

    async def take(self, bus: Bus) -> Any:
        """Its new holder, through this connection; None: somebody else is."""
        raise NotImplementedError

    async def run_out(self) -> None:
        """Let it lie in the past."""


class OfTurn(Tenure):
    async def take(self, bus: Bus) -> Any:
        sessions = Sessions(bus, self.queue, worker="worker")
        claim = await sessions.claim(SESSION)
        sayings = TurnMessages(bus, sessions, self.lab.queue)
        return claim and SimpleNamespace(bus=bus, sessions=sessions, sayings=sayings, claim=claim, lab=self.lab)

    async def run_out(self) -> None:
        await shift(self.bus, SESSION, -3_600_000)


class OfAside(Tenure):
    """No lease: whoever answers a command first has answered it."""

    async def prepare(self) -> None:
        await self.lab.publish("m1", command="status")

    async def take(self, bus: Bus) -> Any:
        asides = ImmediateCommands(bus, self.lab.queue)
        return SimpleNamespace(asides=asides, aside=(await asides.waiting(0))[0])


class OfLock(Tenure):
    """The consolidation lock of a session, and under it the memory that it is a session of."""

    async def prepare(self) -> None:
        for message in ("m1", "m2"):
            await self.lab.publish(message)
            await self.lab.commit(await self.lab.claim(), go_on=False)
        first = await self.take(self.bus)
        await first.memories.apply(first.opened, entry_of(0, 2, "raw"), mark="longer than the next")
        await settle(first, 2)
        await first.locks.give_back(first.lock, again_in_s=None)

    async def take(self, bus: Bus) -> Any:
        locks, memories = ConsolidationLocks(bus, self.queue, worker="worker"), Memories(bus)
        lock = await locks.take(SESSION)
        if lock is None:
            return None
        opened = await memories.open(SCOPE, SESSION, fence=lock.fence, nonce=lock.nonce)
        return SimpleNamespace(bus=bus, locks=locks, lock=lock, memories=memories, opened=opened)

    async def run_out(self) -> None:
        await lock_shifted(self.bus, SESSION, -3_600_000)


class OfArchive(Tenure):
    """Nobody's lease: whoever consolidates archives, and what is archived is so whoever did it."""

    async def prepare(self) -> None:
        for message in ("m1", "m2"):
            await self.lab.publish(message)
            await self.lab.commit(await self.lab.claim(), go_on=False)
        await self.bus.call("HSET", self.keys.session(SESSION), "cursor", 4, "start", 4)
        await (await self.take(self.bus)).archive.write(SESSION, 0, (await raws_of(self.bus))[:2])

    async def take(self, bus: Bus) -> Any:
        clock = ManualClock()
        clock.advance(self.lease_s())
        return SimpleNamespace(bus=bus, archive=Archive(bus, self.folder, clock=clock), before=stamp(clock.now()))


class OfLeader(Tenure):
    async def prepare(self) -> None:
        reply = Reply(id=f"{SESSION}#0", session=SESSION, turn=0, text="hi", correlation="c")
        await self.bus.call("XADD", self.keys.out(0, "web"), "*", "reply", msgspec.json.encode(reply))

    async def take(self, bus: Bus) -> Any:
        key = self.keys.leader(0, "web")
        lease = Lease(bus=bus, terms=LeaseTerms(key=key, lease_s=self.lease_s(), renew_s=0.0, worker="worker"))
        assert await lease.ask() == 0.0
        [(stream_id, fields)] = await bus.call("XRANGE", self.keys.out(0, "web"), "-", "+")
        place = Place(stream_id=stream_id, reply=msgspec.json.decode(fields[b"reply"], type=Reply), part=0, last=True)
        ledger = DeliveryState(bus, partition=0, channel="web", nonce=lease.nonce, attempts_max=5)
        return SimpleNamespace(bus=bus, key=key, lease=lease, place=place, ledger=ledger)

    async def run_out(self) -> None:
        await self.bus.call("HSET", self.keys.leader(0, "web"), "deadline", 1)


class OfPoller(Tenure):
    async def prepare(self) -> None:
        """Nobody has led yet."""

    async def take(self, bus: Bus) -> Any:
        terms = LeaseTerms(key=self.keys.poller("web"), lease_s=self.lease_s(), renew_s=0.0, worker="worker")
        lease = Lease(bus=bus, terms=terms)
        assert await lease.ask() == 0.0
        sessions = GatewaySessions(bus, "web", nonce=lease.nonce)
        sessions.begin(GatewaySession(id=lease.nonce, url="wss://gateway", sequence=1))
        return SimpleNamespace(sessions=sessions)

    async def run_out(self) -> None:
        await self.bus.call("HSET", self.keys.poller("web"), "deadline", 1)


class OfJob(Tenure):
    def jobs(self, bus: Bus) -> Jobs:
        return Jobs(bus, lease_s=self.lease_s(), worker="worker", clock=ManualClock())

    async def prepare(self) -> None:
        await self.jobs(self.bus).create("count", {}, job_id="a", secret={"needle": "x"})

    async def take(self, bus: Bus) -> Any:
        jobs = self.jobs(bus)
        held = await jobs.take("a")
        return held and SimpleNamespace(jobs=jobs, held=held)

    async def run_out(self) -> None:
        await self.bus.call("ZINCRBY", self.keys.jobs, -3_600_000, "a")


class OfMark(Tenure):
    """A job has marked a memory, and then cannot go on."""

    async def take(self, bus: Bus) -> Any:
        joining = MemoryMerge(bus, ScopeLists(bus, None), job="a")
        await joining.mark(SCOPE, "receiving")
        return SimpleNamespace(bus=bus, joining=joining)


class OfSchema(Tenure):
    async def take(self, bus: Bus) -> Any:
        held = SimpleNamespace(bus=bus, nonce=secrets.token_hex(8))
        assert await ask_for_the_next(held) == b"mine"
        return held

    async def run_out(self) -> None:
        await self.bus.call("HSET", self.keys.meta, "migrating_until", 1)


def entry_of(first: int, upto: int, kind: Any = "summary") -> HistoryEntry:
    return HistoryEntry(time=TIME, session=SESSION, first=first, upto=upto, kind=kind, text=f"{first} to {upto}")


def version_of(kind: Any, **more: str) -> Version:
    return Version(kind=kind, time=TIME, **more)


async def raws_of(bus: Bus) -> list[bytes]:
    found: list[bytes] = await bus.call("LRANGE", bus.keys.log(SESSION), 0, -1)
    return found


async def settle(held: Any, upto: int) -> None:
    last = (await raws_of(held.bus))[upto - 1]
    await held.locks.settle(held.lock, upto=upto, last=last, tokens=6, continuity=None, flushed=True)


async def is_held(bus: Bus, key: str) -> bool:
    return bool(await bus.call("HEXISTS", key, "nonce"))


async def status_of(call: Awaitable[Any]) -> str:
    return str((await call).status)


async def upto_of(call: Awaitable[Any]) -> int:
    return int((await call).opened.upto)


async def unlock(held: Any) -> bool:
    await held.locks.give_back(held.lock, again_in_s=None)
    return await is_held(held.bus, held.bus.keys.lock(SESSION))


async def follow(held: Any) -> bytes:
    await held.memories.followed(held.opened, upto=2, mark="short")
    found: bytes = await held.bus.call("HGET", held.bus.keys.memory(SCOPE), f"mark:{SESSION}")
    return found


async def say(held: Any) -> str:
    notice = Notice(kind="message", text="hi", time=TIME)
    saying = TurnMessage(call="1-0", session=SESSION, scope=SCOPE, notice=notice)
    found: str = await held.sayings.say(held.claim, saying)
    return found


async def remind(held: Any) -> str:
    reminder = planned(
        ReminderRequest(text="tea", when="20m", zone="UTC"),
        place_of(SESSION),
        reminder_id="abc",
        now=dt.datetime.now(dt.UTC),
    )
    tenure = Tenancy(session=SESSION, nonce=held.claim.nonce, turn=held.claim.begun.head)
    reminders = Reminders(held.bus, held.lab.queue)
    found: str = await reminders.create(reminder, asked_as="call", at_most=10, tenure=tenure)
    return found


async def show(held: Any) -> int:
    live = Live(session=SESSION, turn=0, fence=held.claim.fence, sequence=0, offset=0, text="I")
    await show_live(held.bus, live, live, nonce=held.claim.nonce, config=held.lab.queue)
    found: int = await held.bus.call("EXISTS", held.bus.keys.live(SESSION))
    return found


async def mark(held: Any) -> Any:
    async with held.ledger.kept():
        return await outcome_of(held.ledger.sending(Step(place=held.place, attempt=1, mark=held.lease.nonce)))


async def bury(held: Any) -> int:
    await held.ledger.bury(held.place.stream_id, held.place.reply, reason="x", attempts=1)
    found: int = await held.bus.call("XLEN", held.bus.keys.dead(0))
    return found


async def preview(held: Any) -> Begun:
    async with anyio.create_task_group() as sends:
        lead = DisplayLeader(partition=0, lease=held.lease, sends=sends, holds=lambda _: False)
        draft = DraftMessage(session=SESSION, turn=0, heard_at=0.0, every_s=1.0, number=1)
        return await ShownMessages(held.bus, "web", looks=False).begin(lead, draft, held.lease.nonce)


async def resign(held: Any) -> bool:
    await held.lease.resign(channel="c", said="")
    return await is_held(held.bus, held.key)


async def archive(held: Any) -> int:
    return int((await held.archive.write(SESSION, 2, (await raws_of(held.bus))[2:4])).upto)


async def expire(held: Any) -> int:
    await held.archive.trim(SESSION, 4)
    return int(await held.archive.expire(SESSION, before=held.before))


async def unmark(held: Any) -> str:
    await held.joining.unmark(SCOPE, "receiving")
    return (await MemoryMerge(held.bus, ScopeLists(held.bus, None), job="b").mark(SCOPE, "receiving")).status


async def rewrite(held: Any) -> int:
    """Put something else in the place of what is archived."""
    [segment] = await held.archive.segments(SESSION)
    (new,) = await held.archive.rewrite({segment: [b"{}", b"{}"]})
    return int(new.upto)


async def answer(held: Any) -> bool:
    notice = Notice(kind="aside", text="fine", time=TIME)
    found: bool = await held.asides.answer(held.aside, notice, None, out_channel="web")
    return found


async def ask_for_the_next(held: Any, *, is_reached: bool = False) -> bytes:
    following = SCHEMA + 1
    args = [held.nonce, 60_000, following, *((following, 1) if is_reached else ("", 0))]
    status, _ = await held.bus.run(MIGRATE, [held.bus.keys.meta], args)
    return bytes(status)


async def outcome_of(call: Awaitable[Any]) -> Any:
    """What a call gives, or the class of the error that it raises."""
    try:
        return await call
    except MillpondError as error:
        return type(error)


@dataclass(frozen=True, kw_only=True)
class Row:
    tenure: type[Tenure]
    step: Callable[[Any], Awaitable[Any]]
    refused: Any  # what the call gives the zombie, or the error that it raises
    obeyed: Any = None  # what the same call gives its successor
    then: Callable[[Any], Awaitable[Any]] | None = None
    """What the successor does instead, when the same call would have no end."""
    nth: int = 1
    late: bool = False
    """The script knows what it changes and not who changes it: the zombie's call comes after the successor's."""


ROWS = {
    "daemon/session/lua/claim.lua": Row(
        tenure=OfTurn, step=lambda held: held.sessions.renew(held.claim), refused=None, obeyed=""
    ),
    "daemon/session/lua/renew.lua": Row(
        tenure=OfTurn, step=lambda held: held.sessions.renew(held.claim), refused=LeaseLost, obeyed=""
    ),
    "daemon/session/lua/journal.lua": Row(
        tenure=OfTurn,
        step=lambda held: held.sessions.journal(held.claim, step=0, entries=[an_entry(0)]),
        refused=LeaseLost,
    ),
    "daemon/session/lua/commit.lua": Row(
        tenure=OfTurn,
        step=lambda held: held.sessions.commit(held.claim, commit_of(held.claim), step=0),
        refused=LeaseLost,
    ),
    "daemon/session/lua/release.lua": Row(
        tenure=OfTurn, step=lambda held: held.sessions.park(held.claim, delay_s=9.0), refused=False, obeyed=True
    ),
    "daemon/reminders/lua/create.lua": Row(tenure=OfTurn, step=remind, refused="stale", obeyed="created"),
    "daemon/session/lua/say.lua": Row(tenure=OfTurn, step=say, refused=LeaseLost, obeyed="said"),
    "daemon/bus/lua/live.lua": Row(tenure=OfTurn, step=show, refused=0, obeyed=1),
    "daemon/session/lua/aside.lua": Row(tenure=OfAside, step=answer, refused=False, obeyed=True, late=True),
    "daemon/session/lua/lock.lua": Row(tenure=OfLock, step=lambda held: held.locks.renew(held.lock), refused=None),
    "daemon/session/lua/relock.lua": Row(
        tenure=OfLock, step=lambda held: held.locks.renew(held.lock), refused=LockLost
    ),
    "daemon/session/lua/note.lua": Row(
        tenure=OfLock, step=lambda held: held.locks.note(held.lock, "failures", 1), refused=LockLost
    ),
    "daemon/session/lua/settle.lua": Row(tenure=OfLock, step=lambda held: settle(held, 4), refused=LockLost),
    "daemon/session/lua/unlock.lua": Row(tenure=OfLock, step=unlock, refused=True, obeyed=False),
    "daemon/memory/lua/open.lua": Row(tenure=OfLock, step=lambda held: settle(held, 4), refused=FenceBehind),
    "daemon/memory/lua/apply.lua": Row(
        tenure=OfLock,
        step=lambda held: status_of(held.memories.apply(held.opened, entry_of(2, 4), mark="m")),
        refused=LockLost,
        obeyed="done",
    ),
    "daemon/memory/lua/append.lua": Row(
        tenure=OfLock,
        step=lambda held: status_of(held.memories.append(held.opened, version_of("flush", added="x"), cycle=2)),
        refused=LockLost,
        obeyed="done",
    ),
    "daemon/memory/lua/digest.lua": Row(
        tenure=OfLock,
        step=lambda held: status_of(held.memories.digest(held.opened, index=0, update=version_of("digest", text="x"))),
        refused=LockLost,
        obeyed="done",
    ),
    "daemon/memory/lua/set_back.lua": Row(
        tenure=OfLock,
        step=lambda held: upto_of(held.memories.set_back(held.opened, head=1)),
        refused=LockLost,
        obeyed=0,
    ),
    "daemon/memory/lua/followed.lua": Row(tenure=OfLock, step=follow, refused=b"longer than the next", obeyed=b"short"),
    "daemon/archive/lua/list.lua": Row(tenure=OfArchive, step=archive, refused=4, obeyed=4, late=True),
    "daemon/archive/lua/trim.lua": Row(
        tenure=OfArchive, step=lambda held: held.archive.trim(SESSION, 2), refused=2, obeyed=2, late=True
    ),
    "daemon/archive/lua/swap.lua": Row(tenure=OfArchive, step=rewrite, refused=2, obeyed=2, late=True),
    "daemon/archive/lua/expire.lua": Row(tenure=OfArchive, step=expire, refused=0, obeyed=2, late=True),
    "channels/lua/lead.lua": Row(
        tenure=OfLeader,
        step=lambda held: held.lease.keep(),
        refused=None,
        then=lambda held: held.lease.ask(),
        obeyed=0.0,
        nth=2,
    ),
    "channels/lua/resign.lua": Row(tenure=OfLeader, step=resign, refused=True, obeyed=False),
    "channels/discord/lua/save_session.lua": Row(
        tenure=OfPoller, step=lambda held: held.sessions.save(), refused=False, obeyed=True
    ),
    "channels/outbox/lua/marks.lua": Row(tenure=OfLeader, step=mark, refused=LeaseLost, obeyed=NextStep.SEND),
    "channels/outbox/lua/dead.lua": Row(tenure=OfLeader, step=bury, refused=LeaseLost, obeyed=1),
    "channels/live_display/lua/show.lua": Row(tenure=OfLeader, step=preview, refused=Begun(), obeyed=Begun(send=True)),
    "daemon/jobs/lua/take.lua": Row(tenure=OfJob, step=lambda held: held.jobs.hush(held.held), refused=None),
    "daemon/jobs/lua/save.lua": Row(
        tenure=OfJob, step=lambda held: held.jobs.save(held.held, {"at": 1}, step=1), refused=JobLost
    ),
    "daemon/jobs/lua/put_off.lua": Row(
        tenure=OfJob, step=lambda held: held.jobs.put_off(held.held, delay_s=9.0), refused=JobLost
    ),
    "daemon/jobs/lua/finish.lua": Row(tenure=OfJob, step=lambda held: held.jobs.finish(held.held, {}), refused=JobLost),
    "daemon/jobs/lua/hush.lua": Row(tenure=OfJob, step=lambda held: held.jobs.hush(held.held), refused=JobLost),
    "daemon/memory/lua/join_unmark.lua": Row(
        tenure=OfMark,
        step=lambda held: held.joining.unmark(SCOPE, "receiving"),
        then=unmark,
        refused=None,
        obeyed="marked",
        late=True,
    ),
    "daemon/bus/lua/migrate.lua": Row(
        tenure=OfSchema,
        step=lambda held: ask_for_the_next(held, is_reached=True),
        refused=b"wait",
        obeyed=b"done",
        nth=2,
    ),
}
"""Each script that a lease holder runs by itself; ``FLOWS`` has those that only a whole job runs."""


@pytest.mark.parametrize(
    ("file", "loss"),
    [(file, loss) for file, row in ROWS.items() for loss in (["expired"] if row.late else ["expired", "failover"])],
)
async def test_a_call_that_arrives_in_a_successors_time_changes_nothing(lab: Lab, tmp_path: Path, file: str, loss: str):
    """Its lease ran out, or a failover has lost that there ever was one: then both hold it by the same numbers."""
    row = ROWS[file]
    tenure, zombie, outcomes = row.tenure(lab, tmp_path), Zombie(lab.bus, file, nth=row.nth), list[Any]()

    async def hang() -> None:
        holder = await outcome_of(tenure.take(zombie))
        outcomes.append(await outcome_of(row.step(holder)) if isinstance(holder, SimpleNamespace) else holder)

    await tenure.prepare()
    as_before = await Copy.of(lab.bus)
    with anyio.fail_after(HANG_S):
        async with anyio.create_task_group() as tg:
            tg.start_soon(hang)
            await zombie.hangs.wait()
            await (tenure.run_out() if loss == "expired" else as_before.takes_over(lab.bus))
            successor = await tenure.take(lab.bus)
            if not row.late:
                assert await zombie.arrives() == set()
            obeyed = await (row.then or row.step)(successor)
            if row.late:
                assert await zombie.arrives() == set()
    assert obeyed == row.obeyed
    assert outcomes == [row.refused]


@dataclass
class Flow:
    """A job that a process dies at, and what its successor makes of it."""

    run: Callable[[Bus], Awaitable[Any]]
    run_out: Callable[[], Awaitable[None]]
    ends: Callable[[], Awaitable[None]]  # goes on with it through the bus that ``run`` was given last


async def joins(lab: Lab, process: Process, folder: Path) -> Flow:
    return await moves(PeopleLab(process, lab), parts=False)


async def parts(lab: Lab, process: Process, folder: Path) -> Flow:
    return await moves(PeopleLab(process, lab), parts=True)


async def moves(people: PeopleLab, *, parts: bool) -> Flow:
    await begun(people, parts=parts)
    job = await people.ask_to_part(BOB) if parts else await people.ask(ANN, BOB)

    async def ends() -> None:
        await people.done(job)
        for scope in (ANN, BOB, CAT):
            assert not {"joining", "receiving", "leaving"} & set(await people.fields(scope))
            for found in (
                await people.texts(scope),
                await people.notes(scope),
                (await people.text(scope)).split("\n\n"),
            ):
                assert len(set(found)) == len(found)
        assert await people.memories.home(BOB) == (BOB if parts else ANN)

    return Flow(lambda bus: job_runner(people.through(bus)).run_one(job), people.expire, ends)


def forgets(**order: Any) -> Callable[[Lab, Process, Path], Awaitable[Flow]]:
    async def begin(lab: Lab, process: Process, folder: Path) -> Flow:
        world = Pond(pond(process, folder), lab)
        await a_little(world)
        job = await world.order(order=ForgetOrder(scopes=(FORGETFUL,), **order))

        async def ends() -> None:
            assert (await world.done(job)).status == "done"
            assert [
                place for place in await world.places() if order.get("whole") != "session" or SESSION in place
            ] == []

        return Flow(
            lambda bus: job_runner(replace(world.process, bus=bus)).run_one(job),
            lambda: left_by_the_dead(world, job),
            ends,
        )

    return begin


forgets_text, forgets_session = (
    forgets(name=FORGETFUL, chat=SESSION),
    forgets(whole="session", name=SESSION, session=SESSION),
)

FLOWS = {
    "daemon/memory/lua/join_mark.lua": joins, "daemon/memory/lua/join_take.lua": joins,
    "daemon/memory/lua/join_text.lua": joins,
    "daemon/memory/lua/join_sessions.lua": joins, "daemon/memory/lua/join_switch.lua": joins,
    "daemon/memory/lua/join_point.lua": joins, "daemon/memory/lua/join_end.lua": joins,
    "daemon/memory/lua/part_give.lua": parts,
    "daemon/memory/lua/part_switch.lua": parts, "daemon/forget/lua/current.lua": forgets_text,
    "daemon/forget/lua/replace.lua": forgets_text, "daemon/forget/lua/strike.lua": forgets_text,
    "daemon/forget/lua/swap.lua": forgets_text, "daemon/jobs/lua/tell.lua": forgets_text,
    "daemon/forget/lua/skip.lua": forgets_session, "daemon/forget/lua/leave.lua": forgets_session,
}  # fmt: skip
"""Scripts that only a whole job runs."""

LOCKED = ("daemon/forget/lua/skip.lua", "daemon/forget/lua/leave.lua")
"""Of these, those that are refused to whoever has lost the session's lock."""


@pytest.mark.parametrize("file", FLOWS)
async def test_a_call_of_a_job_that_arrives_in_a_successors_time_changes_nothing(
    lab: Lab, process: Process, tmp_path: Path, file: str
) -> None:
    flow = await FLOWS[file](lab, process, tmp_path)
    zombie = Zombie(process.bus, file, dies=True)
    successor = Successor(zombie, late=file not in LOCKED)
    with anyio.fail_after(HANG_S), capture_logs():
        async with anyio.create_task_group() as tg:
            tg.start_soon(flow.run, zombie)
            await zombie.hangs.wait()
            await flow.run_out()
            await flow.run(successor)
            assert zombie.changed == set()
            tg.cancel_scope.cancel()
        await flow.ends()


def test_every_script_is_a_lease_holders_with_a_zombie_of_its_own_or_nobodys() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for room in ("channels", "daemon", "workers")
        for path in (ROOT / room).rglob("*.lua")
        if not path.name.endswith(".part.lua")
    }
    nobodys = [f"{folder}/lua/{name}.lua" for folder, names in NOBODYS.items() for name in names.split()]

    assert sorted([*ROWS, *FLOWS, *nobodys]) == sorted(found)
