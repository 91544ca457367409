"""The run: a crowd talks on all channels at a steady rate while things go wrong; then everything is looked at."""

import os
import random
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import httpx2
from redis.asyncio import Redis

from daemon import tokens
from daemon.config import load
from daemon.errors import BusUnavailable
from daemon.operators import local_token
from daemon.process import Process
from daemon.run import open_process
from daemon.server import EmbeddedServer
from daemon.session import SessionReader
from tests.api_token import header_of
from tests.chaos.cursors import Cursors
from tests.chaos.ends import Drain, Inconclusive
from tests.chaos.fleet import Fleet, fleet
from tests.fakes.faults import Cut, Slow
from tests.fakes.faults import every as each_so_many
from tests.fakes.openai_server import fake_openai
from tests.fakes.sink import Sink, every, sink
from tests.fakes.slack import FakeSlack, fake_slack
from tests.fakes.slack import Refuse as SlackRefuses
from tests.fakes.telegram import FakeTelegram, fake_telegram
from tests.fakes.telegram import Refuse as TelegramRefuses
from tests.limits import HANG_S
from tests.ports import free_port
from tests.processes import environment_of
from tests.soak.chats import Crowd, Site, crowd
from tests.soak.disk import Disk
from tests.soak.gauges import Gauges
from tests.soak.harm import Harm
from tests.soak.mind import HEARD, Mind
from tests.soak.plan import Counts, Plan, troubles
from tests.soak.readers import Reader, unseen
from tests.soak.setting import LAKE, MODEL_NAME, PUSH, REPEAT_S, SITE, WORK, Around, configured
from tests.soak.terminal import Terminal, terminal

DRIVER, TYPING = "driver-0", "terminal-0"
MEMBERS = (
    *("agent-0", "agent-1", "channels-0", "channels-1", "web-0", "web-1"),
    *("consolidation-0", "consolidation-1"),
)
ELDERS = frozenset({"agent-0", "channels-0", "web-0", "consolidation-0"})  # those that grow old
READERS = 6
FAULT_EVERY = 60  # each so-many-th request to a platform goes wrong in some way
HELD_BACK_S = 20.0
"""When so much waits as comes in this time, no more is said: a machine that is too slow is told by its rate alone."""

BAD_EVERY_S = 2.0
FORGET_EVERY_S = 5.0
KNOWN = 1_000  # envelopes of Slack's that it still knows when they are acknowledged once more
LOOK_S = 0.2
IDLE_S = 600.0
CHECK_LIMIT_S = 300.0
PUSHES = (PUSH, LAKE, WORK)


@dataclass(kw_only=True)
class Run:
    plan: Plan
    folder: Path
    process: Process
    harm: Harm
    mind: Mind
    crowd: Crowd
    site: Site
    platform: Sink
    telegram: FakeTelegram
    slack: FakeSlack
    typed: Terminal
    gauges: Gauges
    cursors: Cursors
    readers: list[Reader]
    counts: Counts
    problems: list[str]  # answers of the API that are none
    began: float = 0.0
    loaded_s: float = 0.0  # how long messages flowed
    backlog: int = 0  # messages that wait for an answer now
    left_then: int = 0  # messages that nobody had answered when that was over
    drain: Drain
    drained_s: float = 0.0
    check: str = ""  # what ``data check`` found

    async def storm(self) -> None:
        """Let everything happen, then wait until the rest is answered, and consolidated."""
        await self._awake()
        self.began = self.harm.began = anyio.current_time()
        async with anyio.create_task_group() as tg:
            tg.start_soon(self.harm.befall, troubles(self.plan))
            async with anyio.create_task_group() as talk:
                async with anyio.create_task_group() as beside:
                    beside.start_soon(self._watch_backlog)
                    await self._talk(talk)
                    beside.cancel_scope.cancel()
                self.loaded_s = anyio.current_time() - self.began
                self.left_then = self._elsewhere() + max(0, await self._length(self.process.bus.keys.inbox(0)))
        self.mind.mood = ""
        drain = anyio.current_time()
        await self.typed.end()
        await self._drained()
        self.drained_s = anyio.current_time() - drain

    async def _awake(self) -> None:
        """Wait until somebody who types is answered: a command that finds no server ends, and it is to live on."""
        await self.crowd.speak(self.crowd.chats[0], 1)
        with anyio.move_on_after(limit_s := self.plan.patience * HANG_S):
            while HEARD not in self.typed.shown:  # noqa: ASYNC110 - it is only shown
                await anyio.sleep(LOOK_S)
            return
        raise Inconclusive(f"the first message was not answered within {limit_s:g} s, so nothing was tried")

    async def _talk(self, talk: anyio.abc.TaskGroup) -> None:
        number, bad = 0, 0
        while (now := anyio.current_time() - self.began) < self.plan.seconds:
            if now >= bad * BAD_EVERY_S:
                talk.start_soon(self.site.badly, bad)
                bad += 1
            # Who is late says several things at once; what nobody could answer for a while is not said at all.
            if self.backlog > HELD_BACK_S * self.plan.rate:
                number = max(number, int(now * self.plan.rate))
            while number < now * self.plan.rate:
                chat, count = self.crowd.next() or (None, 1)
                number += count
                if chat:
                    talk.start_soon(self.crowd.speak, chat, count)
            await anyio.sleep(1 / self.plan.rate)

    async def _watch_backlog(self) -> None:
        while True:
            self.backlog = self._elsewhere() + max(0, await self._length(self.process.bus.keys.inbox(0)))
            await anyio.sleep(1.0)

    async def _drained(self) -> None:
        """Wait until all is quiet.

        A terminal hands on what lies in its pipe as fast as it is answered: the queue stays full, and more is shown.
        """
        await self.drain.until_quiet(
            self._left,
            done=lambda: len(self.typed.shown) + self.cursors.total + sum(reader.last for reader in self.readers),
            disturbed=partial(self.harm.fleet.is_disturbed, self.process.bus),
        )

    def _elsewhere(self) -> int:
        """Messages that somebody has said and that Millpond has not yet."""
        return (
            self.crowd.rest + len(self.platform.updates) + len(self.telegram.bot.updates) + len(self.slack.app.waiting)
        )

    async def _left(self) -> dict[str, int]:
        keys = self.process.bus.keys
        found = {
            "said and not taken": self._elsewhere(),
            "typed and not answered": int(self.typed.code is None),
            "not answered": await self._length(keys.inbox(0)),
            "not consolidated": await self._length(keys.unsettled(0), "ZCARD"),
            "with a deadline": await self._length(keys.due(0), "ZCARD"),
            "jobs": await self._length(keys.jobs, "ZCARD"),
            "dead letters": await self._length(keys.dead(0)),
            "readers behind": await self._behind(),
        }
        return found | {f"not sent by {name}": await self._length(keys.out(0, name)) for name in PUSHES}

    async def _behind(self) -> int:
        """Readers who were not shown all that there is."""
        reader = SessionReader(self.process.bus)
        try:
            heads = [(await reader.state(each.chat.session)).head for each in self.readers]
        except BusUnavailable:
            return -1
        return len(unseen(self.readers, heads))

    async def _length(self, key: str, command: str = "XLEN") -> int:
        try:
            return int(await self.process.bus.call(command, key))
        except BusUnavailable:
            return -1

    async def look_at_data(self, config: Path) -> None:
        """Have Millpond itself look whether its data is whole. Raises Inconclusive: that took too long."""
        words = ["--config", str(config), "data", "check", "--deep"]
        done = None
        with anyio.move_on_after(limit_s := self.plan.patience * CHECK_LIMIT_S):
            done = await anyio.run_process(
                [sys.executable, "-m", "millpond", *words],
                env=environment_of(self.folder / "data", {}),
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done is None:
            raise Inconclusive(f"the check of the data took more than {limit_s:g} s")
        self.check = "" if done.returncode == 0 else f"exit code {done.returncode}\n{done.stdout.decode()}"

    async def end(self) -> None:
        self.harm.over = True
        async with anyio.create_task_group() as tg:
            for member in self.harm.fleet.members.values():
                tg.start_soon(self.harm.stop, member)


async def _forget(platform: Sink, telegram: FakeTelegram, slack: FakeSlack) -> None:
    """Have the fakes keep no more than their chats, until cancelled: what everybody asked would fill gigabytes."""
    while True:
        await anyio.sleep(FORGET_EVERY_S)
        for done in (telegram.calls, slack.calls, telegram.bot.confirmed, platform.posts, platform.attempts):
            done.clear()
        platform.talk.clear()
        platform.acts.clear()
        del slack.app.done[:-KNOWN]


def _let_fail(telegram: FakeTelegram, slack: FakeSlack) -> None:
    worst = (Cut(), TelegramRefuses(429, retry_after=1), TelegramRefuses(500), Cut(acted=False), Slow(0.2))
    telegram.faults.when("send*", each_so_many(FAULT_EVERY, worst))
    bad = (Cut(), SlackRefuses(), SlackRefuses("internal_error", acted=True), Cut(acted=False), Slow(0.2))
    slack.faults.when("chat.*", each_so_many(FAULT_EVERY, bad))


@asynccontextmanager
async def soaking(plan: Plan, folder: Path, disk: Disk | None, counts: Counts) -> AsyncGenerator[Run]:
    """Everything that a run is made of, for the length of the block; its processes have started."""
    dice, data = random.Random(plan.seed), folder / "data"
    server = EmbeddedServer(data, idle_s=IDLE_S)
    address = await server.ensure()
    homes: dict[str, str] = {}
    mind = Mind(await tokens.load(MODEL_NAME), homes, random.Random(plan.seed))
    ports = {name: free_port() for name in MEMBERS if name.startswith("web")}
    problems: list[str] = []
    async with AsyncExitStack() as stack:
        platform = await stack.enter_async_context(sink(every(FAULT_EVERY)))
        telegram = await stack.enter_async_context(fake_telegram())
        slack = await stack.enter_async_context(fake_slack(floods=False, repeat_s=REPEAT_S))
        _let_fail(telegram, slack)
        mind.server = await stack.enter_async_context(fake_openai(mind))
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
        local_token(data)
        client = await stack.enter_async_context(
            httpx2.AsyncClient(trust_env=False, limits=limits, headers=header_of(data))
        )
        redis = await stack.enter_async_context(
            Redis(unix_socket_path=str(address.socket), password=address.password.reveal())
        )
        around = Around(
            model=mind.server.base_url,
            sink=platform.url,
            telegram=telegram.base_url,
            telegram_token=telegram.bot.token,
            slack=slack.base_url,
            slack_token=slack.bot.token,
            slack_app=slack.app.token,
        )
        configs = configured(folder, around, (DRIVER, TYPING, *MEMBERS), ports)
        process = await stack.enter_async_context(open_process(load(configs[DRIVER], environ={}).config, data))
        running: Fleet = stack.enter_context(
            fleet(folder, {name: configs[name] for name in MEMBERS}, sabotage=plan.sabotage, module=module(plan))
        )
        await running.started(within_s=plan.patience * HANG_S)
        typed = await stack.enter_async_context(terminal(folder, configs[TYPING], "s000"))
        site = Site(client, [f"http://127.0.0.1:{ports[name]}" for name in sorted(ports)], problems)
        people = crowd(plan.chats, dice, site=site, platform=platform, telegram=telegram, slack=slack, typed=typed.say)
        homes.update({chat.name: chat.home for chat in people.chats})
        readers = [
            Reader(site, chat, dice) for chat in dice.sample([c for c in people.chats if c.channel == SITE], READERS)
        ]
        tg = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tg.cancel_scope.cancel)
        harm = Harm(
            fleet=running,
            server=server,
            disk=disk,
            mind=mind,
            dice=random.Random(plan.seed),
            counts=counts,
            elders=ELDERS,
        )
        gauges = Gauges(
            lambda: {**{name: each.pid for name, each in running.members.items()}, TYPING: typed.child.pid},
            data,
            lambda: redis,
        )
        cursors = Cursors(
            redis, [process.bus.keys.session(chat.session) for chat in people.chats if chat.session], every_s=1.0
        )
        for task in (gauges.watch, harm.watch, cursors.watch, *(reader.read for reader in readers)):
            tg.start_soon(task)
        tg.start_soon(_forget, platform, telegram, slack)
        yield Run(
            plan=plan,
            folder=folder,
            process=process,
            harm=harm,
            mind=mind,
            crowd=people,
            site=site,
            platform=platform,
            telegram=telegram,
            slack=slack,
            typed=typed,
            gauges=gauges,
            cursors=cursors,
            readers=readers,
            counts=counts,
            problems=problems,
            drain=plan.drain,
        )


def module(plan: Plan) -> str:
    """What is run: Millpond, or Millpond with something switched off or planted."""
    return "tests.soak.sabotage" if plan.sabotage else "millpond"


def cores() -> int:
    return len(os.sched_getaffinity(0))
