"""The run: producers publish, the dice kill and pause, the proxy loses and delays; then all is counted.

The bot's model is a server beside the run, and its tool notes outside of Redis what it does: four of ten messages
ask for it, up to three times, at once or one after the other. All messages carry ballast: the bot's window is small,
and every conversation is consolidated several times.
"""

import os
import random
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
from redis.asyncio import Redis

from channels.inbound import accept, make_inbound
from channels.leader_election import LEAD
from channels.outbox.delivery_state import MARKS
from daemon import tokens
from daemon.config import load
from daemon.errors import BusUnavailable, SessionFull
from daemon.events import Inbound
from daemon.memory.memories import APPEND, APPLY, DIGEST, OPEN, SET_BACK
from daemon.process import Process
from daemon.run import open_process
from daemon.server import EmbeddedServer
from daemon.session.consolidation_locks import LOCK, NOTE, SETTLE
from daemon.session.sessions import CLAIM, COMMIT, JOURNAL
from tests.chaos.cursors import Cursors
from tests.chaos.ends import Drain, End, end_of
from tests.chaos.fleet import Fleet, fleet
from tests.chaos.keeper import Keeper
from tests.chaos.marks import mark
from tests.chaos.models import Models
from tests.chaos.plan import Counts, Plan
from tests.chaos.proxy import Faults, Proxy
from tests.chaos.recording import Sources, counted, recorded
from tests.chaos.setting import LEASE_S, MODEL_NAME, PULL, PUSH, configured
from tests.chaos.tally import Tally, tally
from tests.chaos.waits import SERVER, Halt
from tests.chaos.witness import Witness
from tests.fakes.openai_server import fake_openai
from tests.fakes.sink import Sink, every, sink
from tests.limits import HANG_S

TURNS = ("agent-0", "agent-1", "agent-2", "channels-0", "channels-1")
DRIVER = "driver-0"
CONSOLIDATORS = ("consolidation-0", "consolidation-1")

SCRIPTS = (CLAIM, COMMIT, JOURNAL, LEAD, MARKS, LOCK, NOTE, SETTLE, OPEN, APPLY, APPEND, DIGEST, SET_BACK)
"""What the witness looks at."""

SINK_FAULT_EVERY = 15  # each so-many-th request to the platform goes wrong in some way
AGAIN_CHANCE = 0.1  # A platform delivers the same update twice
BURST_CHANCE = 0.6  # the next message of a session follows at once
BALLAST_WORDS = (30, 160)  # what a message carries besides
SESSIONS_A_PERSON = 5  # half of them on each channel, in one memory
LOOK_S = 0.2
IDLE_S = 600.0
CALL_WAIT_S = 3.0  # how long is waited for somebody to ask the model, before he is killed or paused at any other moment
FOUND_AGAIN_S = 1.0  # how long it takes processes to find a server that is there again
PAUSE_S = (1.3 * LEASE_S, 2.0 * LEASE_S)


@dataclass(kw_only=True)
class Run:
    plan: Plan
    process: Process
    fleet: Fleet
    server: EmbeddedServer
    proxy: Proxy
    keeper: Keeper
    dice: random.Random
    cursors: Cursors
    platform: Sink
    drain: Drain
    counts: Counts = field(default_factory=Counts)
    accepted: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    halts: list[Halt] = field(default_factory=list[Halt])

    async def storm(self) -> None:
        """Publish everything while processes die, then wait until the rest is answered, and consolidated."""
        async with anyio.create_task_group() as tg:
            tg.start_soon(self._let_fall)
            for session in self.accepted:
                tg.start_soon(self._produce, session)
        self.proxy.faults.drop = self.proxy.faults.late = 0.0
        self.keeper.calm = True
        await self.drain.until_quiet(
            self._left,
            done=lambda: self.cursors.total + len(self.platform.delivered),
            disturbed=partial(self.fleet.is_disturbed, self.process.bus),
        )
        self.counts.left = sum(self.drain.left.values())
        self.counts.dropped, self.counts.late = self.proxy.dropped, self.proxy.late

    async def _left(self) -> dict[str, int]:
        keys = self.process.bus.keys
        return {
            "late copies of commands": self.proxy.pending,
            "messages not answered": await self._length(keys.inbox(0)),
            "replies not sent": await self._length(keys.out(0, PUSH)),
            "sessions not consolidated": await self._length(keys.unsettled(0), "ZCARD"),
        }

    async def _length(self, key: str, command: str = "XLEN") -> int:
        try:
            return int(await self.process.bus.call(command, key))
        except BusUnavailable:
            return -1

    # What is published.

    async def _produce(self, session: str) -> None:
        channel, _, chat = session.partition(":")
        ids = self.accepted[session]
        count = self.plan.messages // self.plan.sessions
        pause_s = self.plan.seconds / count / (1 - BURST_CHANCE)
        for number in range(count):
            inbound = make_inbound(
                self.process,
                channel=channel,
                chat=chat,
                text=self._text(chat, number),
                sender_id=f"p{int(chat[1:]) // SESSIONS_A_PERSON}",
                message_id=f"m{number:04}",
            )
            await self._publish(inbound)
            ids.append(inbound.id)
            if self.dice.random() > BURST_CHANCE:
                await anyio.sleep(pause_s * self.dice.uniform(0.0, 2.0))

    def _text(self, chat: str, number: int) -> str:
        short = ["hello", "what time is it?", f"count to {self.dice.randint(1, 4)}", "我叫小明"]
        long = ["count to 20", "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"]
        rounds = ["1", "1", "2", "3", "1 2", "2 1", "1 1 1"]
        text = self.dice.choice([*short, *short, *long, *(f"note {each} for m{number:04}" for each in rounds)])
        # The mark stands first: what has no room is shown without its middle.
        return f"{mark(chat, number)} {text} ({'why ' * self.dice.randint(*BALLAST_WORDS)})"

    async def _publish(self, inbound: Inbound) -> None:
        """Until it is accepted; and sometimes once more, as a platform does that missed our answer."""
        while True:
            try:
                await accept(self.process, inbound)
                if self.dice.random() > AGAIN_CHANCE:
                    return
            except (BusUnavailable, SessionFull):
                await anyio.sleep(LOOK_S)

    # What goes wrong.

    async def _let_fall(self) -> None:
        plan = self.plan
        falls: list[Callable[[], Awaitable[None]]] = [
            *[self._kill] * plan.kills,
            *[self._kill_server] * plan.server_kills,
            *[self._pause] * plan.pauses,
            *[self._kill_consolidator] * plan.memory_kills,
            *[self._pause_consolidator] * plan.memory_pauses,
        ]
        self.dice.shuffle(falls)
        async with anyio.create_task_group() as tg:
            for fall in falls:
                await anyio.sleep(plan.seconds / len(falls) * self.dice.uniform(0.5, 1.5))
                tg.start_soon(fall)

    async def _kill(self) -> None:
        self.fleet.any(self.dice, among=TURNS).replace()
        self.counts.kills += 1

    async def _pause(self) -> None:
        paused = await self._paused(TURNS)
        self.counts.pauses += paused

    async def _kill_consolidator(self) -> None:
        self.fleet.any(self.dice, among=await self._asking()).replace()
        self.counts.memory_kills += 1

    async def _pause_consolidator(self) -> None:
        paused = await self._paused(await self._asking())
        self.counts.memory_pauses += paused

    async def _asking(self) -> tuple[str, ...]:
        """Who waits for the model just now; all who might, when nobody does for a while."""
        with anyio.move_on_after(CALL_WAIT_S):
            while True:
                if asking := tuple(name for name in CONSOLIDATORS if name in self.keeper.waiting()):
                    return asking
                await anyio.sleep(LOOK_S / 10)
        return CONSOLIDATORS

    async def _paused(self, among: tuple[str, ...]) -> bool:
        member, began = self.fleet.any(self.dice, among=among), time.time()
        pid = member.pause()
        await anyio.sleep(self.dice.uniform(*PAUSE_S))
        self.halts.append(Halt(name=member.name, began=began, ended=time.time()))
        return member.go_on(pid)

    async def _kill_server(self) -> None:
        address, began = await self.server.ensure(), time.time()
        os.kill(address.pid, signal.SIGKILL)
        await anyio.sleep(self.dice.uniform(0.0, 0.5))
        await self.server.ensure()
        self.halts.append(Halt(name=SERVER, began=began, ended=time.time() + FOUND_AGAIN_S))
        self.counts.server_kills += 1


def sessions_of(plan: Plan) -> dict[str, list[str]]:
    return {f"{(PUSH, PULL)[number % 2]}:s{number:02}": [] for number in range(plan.sessions)}


async def run(plan: Plan, folder: Path) -> tuple[Tally, Counts, End]:
    """Run the plan in a folder of its own. Raises Inconclusive: the processes took too long to start."""
    dice = random.Random(plan.seed)
    server = EmbeddedServer(folder / "data", idle_s=IDLE_S)
    address = await server.ensure()
    password, sessions = address.password.reveal(), sessions_of(plan)
    witness = Witness({script.sha: script.name for script in SCRIPTS})
    faults = Faults(drop=plan.drop, late=plan.late, late_max_s=plan.late_max_s)
    proxy = Proxy(address.port, password, dice=dice, faults=faults, observer=witness)
    keeper = Keeper(random.Random(plan.seed), doomed=[f"s{number:02}" for number in range(plan.doomed)])
    models = Models(await tokens.load(MODEL_NAME), keeper)
    async with (
        sink(every(SINK_FAULT_EVERY)) as platform,
        fake_openai(models) as models.server,
        Redis(port=address.port, password=password) as straight,
        anyio.create_task_group() as tg,
    ):
        url = f"redis://:{password}@127.0.0.1:{await tg.start(proxy.serve)}"
        names, model = (DRIVER, *TURNS, *CONSOLIDATORS), models.server.base_url.removesuffix("/v1")
        configs = configured(folder, url, platform=platform.url, model=model, names=names)
        async with open_process(load(configs.pop(DRIVER), environ={}).config, folder / "data") as process:
            cursors = Cursors(straight, [process.bus.keys.session(session) for session in sessions])
            tg.start_soon(cursors.watch)
            with fleet(folder, configs, sabotage=plan.sabotage) as running:
                keeper.kill = lambda name: running.members[name].replace()
                one = Run(
                    plan=plan,
                    process=process,
                    fleet=running,
                    server=server,
                    proxy=proxy,
                    keeper=keeper,
                    dice=dice,
                    cursors=cursors,
                    platform=platform,
                    drain=plan.drain,
                    accepted=sessions,
                )
                await running.started(within_s=plan.patience * HANG_S)
                await one.storm()
            sources = Sources(
                folder=folder,
                process=process,
                platform=platform,
                witness=witness,
                models=models,
                cursors=cursors,
                halts=one.halts,
                drain=one.drain,
            )
            record = await recorded(one.accepted, sources)
        tg.cancel_scope.cancel()
    counted(record, sources, one.counts)
    found = tally(record)
    return found, one.counts, end_of(vars(found), one.drain.undecided)
