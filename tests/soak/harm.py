"""Doing what goes wrong in a soak, as it was planned."""

import itertools
import os
import random
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from daemon.errors import ServerNotReady
from daemon.server import EmbeddedServer
from tests.chaos.fleet import Fleet, Member
from tests.chaos.waits import SERVER, Halt
from tests.limits import HANG_S
from tests.soak.disk import Disk
from tests.soak.mind import MOODS, Mind
from tests.soak.plan import DISK, KILL, MODEL, PAUSE, ROLL, Counts, Trouble
from tests.soak.plan import SERVER as SERVER_DIES
from tests.soak.setting import GRACE_S, LEASE_S

PAUSE_S = (1.2 * LEASE_S, 2.0 * LEASE_S)
MOOD_S = (3.0, 7.0)
FULL_S = 4.0
NOTICED_S = 20.0  # until a full disk has ended the server: it writes down whatever is said
STOP_SLACK_S = 15.0  # beyond the grace time, for a machine that is busy; in peace it takes a tenth of a second
FOUND_AGAIN_S = 2.0  # how long it takes processes to find a server that is there again; they try every second
LOOK_S = 0.2
UNAVAILABLE = 69  # exit code of a process that could not start: no server, and no room for one (sysexits.h)


@dataclass(kw_only=True)
class Harm:
    """Does it, and notes what should not have come of it."""

    fleet: Fleet
    server: EmbeddedServer
    disk: Disk | None
    mind: Mind
    dice: random.Random
    counts: Counts
    elders: frozenset[str]
    halts: list[Halt] = field(default_factory=list[Halt])
    ungraceful: list[str] = field(default_factory=list[str])  # processes that did not stop as they should
    tardy: list[str] = field(default_factory=list[str])  # processes that stopped late
    fallen: list[str] = field(default_factory=list[str])  # processes that ended by themselves
    diary: list[str] = field(default_factory=list[str])  # what was done when, for who looks for the cause of something
    began: float = 0.0  # anyio's clock, when the run did
    over: bool = False  # nobody is started again
    _at_work: set[str] = field(default_factory=set[str])  # processes that are being stopped

    def __post_init__(self) -> None:
        self._moods = itertools.cycle(self.dice.sample(MOODS, len(MOODS)))

    async def befall(self, planned: Sequence[Trouble]) -> None:
        """Do all of it, each at its time; what takes long goes on beside the next."""
        async with anyio.create_task_group() as tg:
            for trouble in planned:
                await anyio.sleep_until(self.began + trouble.at_s)
                self._note(trouble.kind)
                await self._do(trouble, tg)

    async def _do(self, trouble: Trouble, tg: TaskGroup) -> None:
        deeds: Mapping[str, Callable[[Trouble], Awaitable[None]]] = {
            KILL: self._kill,
            SERVER_DIES: self._kill_server,
            DISK: self._fill,
        }
        beside: Mapping[str, Callable[[Trouble], Awaitable[None]]] = {
            PAUSE: self._pause,
            MODEL: self._spoil,
            ROLL: self._roll,
        }
        if trouble.kind in beside:
            tg.start_soon(beside[trouble.kind], trouble)
        else:
            await deeds[trouble.kind](trouble)

    def _note(self, what: str) -> None:
        self.diary.append(f"{anyio.current_time() - self.began:7.1f} s  {what}")

    def _one(self, trouble: Trouble, *, spared: bool = True) -> Member:
        spare = self._at_work | (self.elders if spared and not trouble.elders else set())
        names = [name for name in self.fleet.members if name not in spare]
        member = self.fleet.any(self.dice, among=names)
        self._note(f"  {member.name}")
        return member

    async def _kill(self, trouble: Trouble) -> None:
        self._one(trouble).replace()
        self.counts.kills += 1

    async def _pause(self, trouble: Trouble) -> None:
        member, began = self._one(trouble, spared=False), time.time()
        if member.paused:
            return
        pid = member.pause()
        await anyio.sleep(self.dice.uniform(*PAUSE_S))
        self.halts.append(Halt(name=member.name, began=began, ended=time.time()))
        self.counts.pauses += member.go_on(pid)

    async def _spoil(self, _trouble: Trouble) -> None:
        mood = self.mind.mood = next(self._moods)
        self._note(f"  {mood}")
        self.counts.models[mood] = self.counts.models.get(mood, 0) + 1
        await anyio.sleep(self.dice.uniform(*MOOD_S))
        self.mind.mood = ""

    async def _kill_server(self, _trouble: Trouble) -> None:
        address, began = await self.server.ensure(), time.time()
        os.kill(address.pid, signal.SIGKILL)
        self.counts.server_kills += 1
        await anyio.sleep(self.dice.uniform(0.0, 1.0))
        await self._server_back(began)

    async def _server_back(self, began: float) -> None:
        with anyio.move_on_after(HANG_S):
            while True:
                try:
                    await self.server.ensure()
                    break
                except ServerNotReady:
                    await anyio.sleep(LOOK_S)
        self.halts.append(Halt(name=SERVER, began=began, ended=time.time() + FOUND_AGAIN_S))

    async def _fill(self, _trouble: Trouble) -> None:
        if self.disk is None:
            return
        address, began = await self.server.ensure(), time.time()
        try:
            await to_thread.run_sync(self.disk.fill)
        except subprocess.CalledProcessError:
            self._note("  it grew while it was made small")
            return
        self.counts.disks += 1
        with anyio.move_on_after(NOTICED_S) as noticing:
            while _lives(address.pid):  # noqa: ASYNC110 - it says nothing
                await anyio.sleep(LOOK_S)
        if noticing.cancelled_caught:
            self._note("  nobody has noticed")
        await anyio.sleep(FULL_S)
        await to_thread.run_sync(self.disk.empty)
        await self._server_back(began)

    async def _roll(self, trouble: Trouble) -> None:
        for name, member in self.fleet.members.items():
            if name in self.elders and not trouble.elders:
                continue
            with anyio.move_on_after(PAUSE_S[1] + LEASE_S):
                while member.paused:  # noqa: ASYNC110 - who does not go on cannot end
                    await anyio.sleep(LOOK_S)
            began = time.time()
            await self.stop(member)
            member.start()
            with anyio.move_on_after(HANG_S):
                while not member.has_started:  # noqa: ASYNC110 - its log says it
                    await anyio.sleep(LOOK_S)
            self.halts.append(Halt(name=name, began=began, ended=time.time()))
        self.counts.rolls += 1

    async def stop(self, member: Member) -> None:
        ready, began = member.has_started, anyio.current_time()
        self._at_work.add(member.name)
        try:
            code = await to_thread.run_sync(member.stop)
        except subprocess.TimeoutExpired:
            self.ungraceful.append(f"{member.name} did not end at all")
            member.kill()
            return
        finally:
            self._at_work.discard(member.name)
        self.counts.stops += 1
        took_s = anyio.current_time() - began
        # One that has hardly begun ends as the signal has it.
        if code != 0 and (ready or code != -signal.SIGTERM):
            self.ungraceful.append(f"{member.name} ended with {code} when it was told to")
        if took_s > GRACE_S + STOP_SLACK_S:
            self.tardy.append(f"{member.name} took {took_s:.1f} s to end")

    async def watch(self) -> None:
        """Start again who ends by himself, until cancelled; nobody should."""
        while True:
            for name, member in self.fleet.members.items():
                code = member.ended
                if code is not None and name not in self._at_work and not self.over:
                    # Who finds no server when he starts ends, and is started again by what looks after processes.
                    if code == UNAVAILABLE and not member.has_started:
                        self.counts.vain_starts += 1
                    else:
                        self.fallen.append(f"{name} ended by itself with {code}")
                    member.start()
            await anyio.sleep(LOOK_S)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
