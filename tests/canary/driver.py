"""The run: two persons and a group speak, their model tries to see what is not theirs, processes die, all is looked at.

The model is a server beside the run. What it asks of tools is planned by the run for each message; what it sums up
tells everything that it was shown, so that whatever reaches one prompt of a scope is seen in many.
"""

import os
import random
import signal
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path

import anyio
import httpx2
from redis.asyncio import Redis
from redis.exceptions import RedisError

from daemon.config import load
from daemon.errors import BusUnavailable
from daemon.operators import local_token
from daemon.process import Process
from daemon.run import open_process
from daemon.server import EmbeddedServer
from tests.api_token import header_of
from tests.canary.actors import Actor, World
from tests.canary.canaries import pieces_in, words_in_bytes
from tests.canary.findings import Findings
from tests.canary.hostile import Hostile, unplant
from tests.canary.knowledge import Knowledge
from tests.canary.looks import Looks
from tests.canary.minds import Minds
from tests.canary.people import CLUB, IDENTITIES, SCOPE_OF, SCOPES, workspace
from tests.canary.plan import Counts, Plan
from tests.canary.scan import contents, files_below, keys_of
from tests.canary.setting import configured, free_ports
from tests.canary.stranger import Stranger
from tests.canary.terminal import Terminal
from tests.canary.voice import Voice
from tests.chaos.ends import Drain, End
from tests.chaos.fleet import Fleet, fleet
from tests.fakes.openai_server import fake_openai
from tests.fakes.sink import sink
from tests.limits import HANG_S

DRIVER = "driver-0"
MEMBERS = ("web-0", "agent-0", "agent-1", "consolidation-0", "consolidation-1", "channels-0")
WORKER = "tests.canary.sabotage"
IDLE_S = 600.0
LOOK_S = 0.2
FILES_EVERY_S = 1.5
SERVER_KILLS = 0.2  # of all kills
PLAIN_AGAIN = 20  # how often a server that has just started is asked to write plainly


@dataclass(kw_only=True)
class Run:
    plan: Plan
    folder: Path
    process: Process
    fleet: Fleet
    server: EmbeddedServer
    world: World
    dice: random.Random
    counts: Counts
    drain: Drain
    deaths: set[int] = field(default_factory=set[int])

    async def storm(self) -> None:
        most = self.plan.operations
        self.deaths = set(self.dice.sample(range(most), min(most, self.plan.deaths)))
        persons = [list(each) for _, each in groupby(IDENTITIES, key=lambda identity: identity.person)]
        async with anyio.create_task_group() as tg:
            for identities in persons:
                tg.start_soon(self._live, Actor(self.world, identities))
        self.world.minds.is_calm = True
        await self.world.voice.quiet(list(SCOPE_OF))
        await self.drain.until_quiet(self._left, disturbed=partial(self.fleet.is_disturbed, self.process.bus))
        if self.drain.stopped:
            self.world.findings.add("stopped", self.drain.stopped)

    async def _live(self, actor: Actor) -> None:
        while self.counts.operations < self.plan.operations:
            number = self.counts.operations
            self.counts.operations += 1
            if number in self.deaths:
                await self._kill()
            await actor.act()

    async def _left(self) -> dict[str, int]:
        keys, bus = self.process.bus.keys, self.process.bus
        try:
            return {
                "messages": int(await bus.call("XLEN", keys.inbox(0))),
                "replies": int(await bus.call("XLEN", keys.out(0, CLUB))),
                "dead letters": int(await bus.call("XLEN", keys.dead(0))),
                "jobs": int(await bus.call("ZCARD", keys.jobs)),
            }
        except BusUnavailable:
            return {"servers away": -1}

    async def _kill(self) -> None:
        if self.dice.random() < SERVER_KILLS:
            address = await self.server.ensure()
            os.kill(address.pid, signal.SIGKILL)
            await self.server.ensure()
            await plainly(self.server)
            self.counts.server_kills += 1
        else:
            self.fleet.any(self.dice, among=MEMBERS).replace()
            self.counts.kills += 1

    async def look_at_files(self) -> None:
        """Again and again, until cancelled."""
        while True:
            await self.world.looks.files()
            await anyio.sleep(FILES_EVERY_S)

    # When all is over.

    async def look_back(self) -> None:
        """Look at everything once more, while processes run that can be asked."""
        world = self.world
        await world.looks.files()
        await world.looks.sessions(world.voice.client, world.voice.url(""))
        for session in SCOPE_OF:
            shown = await world.looks.chat(world.voice.client, world.voice.url(session), session)
            for word in world.said_in.get(session, ()):
                if (
                    word not in shown
                    and not self.drain.undecided
                    and not world.knowledge.was_forgotten(SCOPE_OF[session], word)
                ):
                    world.findings.add("lost", f"{session}: {word}")
        for scope in SCOPES[:2]:
            await world.terminal.look(scope)

    async def scan(self, redis: Redis) -> None:
        world, gone, data = self.world, self.world.knowledge.gone(), self.folder / "data"
        self.counts.forgotten = len(gone)
        unplant(workspace(data))
        async for key, content in keys_of(redis):
            for word in sorted(pieces_in(content, gone)):
                world.findings.add("in_keys", f"{key}: {word}")
        for path in files_below(data):
            self.counts.segments += path.parts[len(data.parts)] == "transcripts"
            for word in sorted(pieces_in(contents(path), gone)):
                world.findings.add("on_disk", f"{path.relative_to(data)}: {word}")
        for path in self.folder.glob("*.log"):
            for word in sorted(words_in_bytes(path.read_bytes())):
                world.findings.add("logged", f"{path.name}: {word}")


async def plainly(server: EmbeddedServer) -> None:
    """Have the server write what can be found: it would pack texts otherwise."""
    for _ in range(PLAIN_AGAIN):
        address = await server.ensure()
        try:
            async with Redis(unix_socket_path=str(address.socket), password=address.password.reveal()) as redis:
                await redis.config_set("rdbcompression", "no")
                return
        except (RedisError, OSError):
            await anyio.sleep(LOOK_S)


async def run(plan: Plan, folder: Path) -> tuple[Findings, Counts, End]:
    """Run the plan in a folder of its own. Raises Inconclusive: the processes took too long to start."""
    dice, findings, counts = random.Random(plan.seed), Findings(), Counts()
    data, knowledge = folder / "data", Knowledge(SCOPES)
    server = EmbeddedServer(data, idle_s=IDLE_S)
    address = await server.ensure()
    local_token(data)
    await plainly(server)
    password, ports = address.password.reveal(), free_ports()
    looks, minds = Looks(data, knowledge, findings, counts), Minds(knowledge, findings, random.Random(plan.seed))
    async with (
        sink() as platform,
        fake_openai(minds) as minds.server,
        Redis(unix_socket_path=str(address.socket), password=password) as straight,
        httpx2.AsyncClient(trust_env=False, headers=header_of(data)) as client,
        httpx2.AsyncClient(trust_env=False) as strange,
        anyio.create_task_group() as tg,
    ):
        platform.on_delivery = looks.on_delivery()
        configs = configured(
            folder,
            # Not its port: while the server is down, somebody who knocks there may be given it for his own end.
            f"unix://:{password}@{address.socket}",
            platform=platform.url,
            model=minds.server.base_url.removesuffix("/v1"),
            ports=ports,
            names=(DRIVER, *MEMBERS),
        )
        own = configs.pop(DRIVER)
        urls = {channel: f"http://127.0.0.1:{port}" for channel, port in ports.items()}
        async with open_process(load(own, environ={}).config, data) as process:
            voice = Voice(process, client, urls, platform, findings)
            stranger = Stranger(strange, urls, dice, findings, counts)
            with fleet(folder, configs, sabotage=plan.sabotage, module=WORKER) as running:
                world = World(
                    data=data,
                    dice=dice,
                    voice=voice,
                    minds=minds,
                    looks=looks,
                    terminal=Terminal(own, data, knowledge, findings, counts),
                    hostile=Hostile(dice, data, stranger.address),
                    stranger=stranger,
                    knowledge=knowledge,
                    findings=findings,
                    counts=counts,
                    diary=folder / "diary",
                )
                one = Run(
                    plan=plan,
                    folder=folder,
                    process=process,
                    fleet=running,
                    server=server,
                    world=world,
                    dice=dice,
                    counts=counts,
                    drain=plan.drain,
                )
                await running.started(within_s=plan.patience * HANG_S)
                tg.start_soon(one.look_at_files)
                for session in SCOPE_OF:
                    tg.start_soon(looks.watch, client, voice.url(session), session)
                await one.storm()
                await one.look_back()
            await one.scan(straight)
        tg.cancel_scope.cancel()
    _count(counts, minds)
    return findings, counts, findings.end(one.drain.undecided)


def _count(counts: Counts, minds: Minds) -> None:
    counts.turns, counts.summaries, counts.flushes = minds.turns, minds.summaries, minds.flushes
    counts.results, counts.refused, counts.seen = minds.results, minds.refused, minds.seen
    counts.fetched = minds.fetched
