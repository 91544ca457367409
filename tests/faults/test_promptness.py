"""Nothing waits longer than it must: for a stop, a worker that ends, one that dies, a wake-up that got lost."""

import datetime as dt
import os
import signal
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio import to_thread

from daemon.bus import Listener, open_bus, wake
from daemon.config import BotConfig, Config, ModelConfig, QueueConfig, RedisConfig
from daemon.heartbeat import workers
from daemon.model.openai_model import OpenAIModel
from daemon.process import Process
from daemon.session import SUSPECT_DEATHS
from daemon.testing import Gate, ScriptedModel
from tests import forked
from tests.conftest import HASTY, Lab
from tests.fakes.openai_server import Call, Events, Failure, FakeOpenAI, Hang, Reply, Say, delta, fake_openai
from tests.fakes.said import said
from tests.integration.test_turns import Bot, replace_agent
from tests.limits import HANG_S, until
from tests.processes import STOP_LIMIT_S, environment_of, shut_down
from workers.tools import Registry, Tool, ToolContext

QUEUE = HASTY


NEVER_S = 10_000.0  # within a test such a time does not run out: what it would bring about has to come in another way


@pytest.fixture
async def hanging(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """A tool of the name ``hang`` that stands at this gate."""

    async def hang(_arguments: Mapping[str, Any], _context: ToolContext) -> str:
        await gate.pass_through()
        return "never"

    gate = Gate()
    monkeypatch.setattr("workers.agent.bot_runtime.BUILTIN", Registry([Tool(name="hang", description="", run=hang)]))
    return gate


@asynccontextmanager
async def talking(process: Process, *script: Reply, renew_s: float = NEVER_S) -> AsyncIterator[FakeOpenAI]:
    """A worker whose model is a server that follows the script; it does not hear of a stop by a renewal."""
    queue = msgspec.structs.replace(process.config.queue, lease_s=2 * NEVER_S, renew_s=renew_s, backoff_max_s=NEVER_S)
    config: Config = msgspec.structs.replace(process.config, queue=queue, bots={"pond": BotConfig(tools=("hang",))})
    async with fake_openai(script) as server:
        model = OpenAIModel(ModelConfig(base_url=server.base_url, name="fake"))
        async with Bot(replace(process, config=config), model).working():
            yield server


async def stop(lab: Lab) -> None:
    with anyio.fail_after(HANG_S):
        await lab.publish("s", command="stop")
        await until(lambda: stopped(lab))
    assert [entry.answers for entry in await lab.log() if entry.answers] == [("a", "s")]


async def stopped(lab: Lab) -> bool:
    log = await lab.log()
    return bool(log) and log[-1].stopped


async def test_a_stop_ends_an_answer_that_is_being_streamed(process: Process, lab: Lab, hanging: Gate) -> None:
    async def seen() -> bool:
        return bool(await lab.bus.call("EXISTS", lab.bus.keys.live("web:ann")))

    async with talking(process, Say("one two three " * 1_000, delay_s=0.4)) as server:
        await lab.publish("a")
        await until(seen)
        await stop(lab)
        await limited(server.client_left.wait())


async def limited(work: Awaitable[Any]) -> None:
    with anyio.fail_after(HANG_S):
        await work


async def test_a_stop_ends_a_tool_that_hangs(process: Process, lab: Lab, hanging: Gate) -> None:
    async with talking(process, Say(calls=[Call("hang")])):
        await lab.publish("a")
        await hanging.reached()
        await stop(lab)


async def test_a_stop_ends_a_call_to_a_model_that_sends_nothing(process: Process, lab: Lab, hanging: Gate) -> None:
    async with talking(process, Hang()) as server:
        await lab.publish("a")
        await server.asked.wait()
        await stop(lab)
        await limited(server.client_left.wait())


async def test_a_stop_ends_a_back_off(process: Process, lab: Lab, hanging: Gate) -> None:
    async def parked() -> bool:
        return (await lab.state()).retry_at_ms > await lab.server_ms() + 30_000

    async with talking(process, Failure(429, headers={"Retry-After": str(int(NEVER_S))})) as server:
        await lab.publish("a")
        await until(parked)
        await stop(lab)
        assert len(server.requests) == 1


async def test_a_stop_that_no_worker_heard_comes_with_the_next_renewal(process: Process, lab: Lab, hanging: Gate):
    deaf = replace(process, listener=Listener(process.bus))
    async with talking(deaf, Hang(), renew_s=0.1) as server:
        await lab.publish("a")
        await server.asked.wait()
        await stop(lab)


async def answered(lab: Lab, session: str = "web:ann") -> list[str]:
    return [message_id for entry in await lab.log(session) for message_id in entry.answers]


@asynccontextmanager
async def waiting(process: Process, lab: Lab) -> AsyncIterator[None]:
    """A message waits for the only slot; at the end of the block the slot becomes free."""
    gate = Gate()
    async with Bot(replace_agent(process, slots=1), ScriptedModel([gate, "free"])).working():
        await lab.publish("busy", session="web:busy")
        await gate.reached()
        await lab.publish("a")
        yield
        gate.open()
        with anyio.fail_after(HANG_S):
            await until(lambda: nobody_waits(lab))


async def nobody_waits(lab: Lab) -> bool:
    return not await lab.bus.call("XLEN", lab.bus.keys.inbox(0))


@pytest.mark.parametrize("deleted", ["ready", "due"])
async def test_a_wakeup_deleted_while_its_message_waits_delays_it_by_no_more_than_a_wakeup(
    process: Process, lab: Lab, deleted: str
) -> None:
    async with waiting(process, lab):
        assert await lab.bus.call("DEL", getattr(lab.bus.keys, deleted)(0)) == 1

    assert await answered(lab) == ["a"]


async def test_wakeups_deleted_together_with_their_deadlines_come_back_with_the_sessions_next_message(
    process: Process, lab: Lab
) -> None:
    async with waiting(process, lab):
        assert await lab.bus.call("DEL", lab.bus.keys.ready(0), lab.bus.keys.due(0)) == 2
        await lab.publish("b")

    assert await answered(lab) == ["a", "b"]


async def test_deadlines_deleted_while_a_turn_is_in_progress_are_back_after_a_renewal(process: Process, lab: Lab):
    async def due() -> bool:
        return await lab.due() is not None

    gate = Gate()
    async with Bot(process, ScriptedModel([gate, "one"], "two")).working():
        await lab.publish("a")
        await gate.reached()
        await lab.publish("b")
        assert await lab.bus.call("DEL", lab.bus.keys.due(0)) == 1
        with anyio.fail_after(HANG_S):
            await until(due)
        gate.open()
        with anyio.fail_after(HANG_S):
            await until(lambda: nobody_waits(lab))

    assert await answered(lab) == ["a", "b"]


class Worker:
    """One ``millpond run --role agent``, with its log."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._log = folder / f"worker-{time.monotonic_ns()}.log"
        with self._log.open("wb") as output, Path(os.devnull).open("r+b") as nothing:
            streams = (nothing.fileno(), nothing.fileno(), output.fileno())
            words = ("run", "--role", "agent")
            self.process = forked.Process(words, environment_of(folder / "data", environment), *streams)

    async def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return await to_thread.run_sync(self.process.wait, STOP_LIMIT_S)

    @property
    def is_stopping(self) -> bool:
        return b'"process.stopping"' in self._log.read_bytes()

    def logged(self, event: str) -> dict[str, float]:
        """When it logged ``event``, by session; seconds since 1970."""
        lines = [msgspec.json.decode(line) for line in self._log.read_bytes().splitlines() if line.startswith(b"{")]
        return {
            line["session"]: dt.datetime.fromisoformat(line["timestamp"]).timestamp()
            for line in lines
            if line["event"] == event
        }


@dataclass
class Place:
    """A data directory with its server, a model, and the processes that work there."""

    folder: Path
    environment: dict[str, str]
    lab: Lab
    workers: list[Worker] = field(default_factory=list)

    async def start(self, count: int = 1) -> None:
        self.workers += [Worker(self.folder, self.environment) for _ in range(count)]
        with anyio.fail_after(HANG_S):
            while not {worker.process.pid for worker in self.alive} <= await self._beating():  # noqa: ASYNC110
                await anyio.sleep(0.02)

    @property
    def alive(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.process.poll() is None]

    async def _beating(self) -> set[int]:
        return {pid_of(name.split()[0]) for name, _ in await workers(self.lab.bus)}

    async def held(self, sessions: Sequence[str]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = defaultdict(list)
        for session in sessions:
            if worker := (await self.lab.state(session)).worker:
                found[pid_of(worker)].append(session)
        return found

    async def until_answered(self, expected: Mapping[str, Sequence[str]]) -> None:
        """Wait for every session's messages, and see that each is answered once and in order, and nothing is left."""
        await until(lambda: nobody_waits(self.lab))
        assert {session: await answered(self.lab, session) for session in expected} == expected
        assert await self.lab.ready() == []
        assert await self.lab.bus.call("ZCARD", self.lab.bus.keys.due(0)) == 0


def pid_of(worker: str) -> int:
    return int(worker.rsplit("-", 2)[1])


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    shut_down(tmp_path / "data")


@asynccontextmanager
async def place(folder: Path, server: FakeOpenAI, queue: QueueConfig, **environment: str) -> AsyncIterator[Place]:
    """A place without workers; those that were started are killed at the end."""
    settings = {
        "MILLPOND_BOTS__POND__MODEL__BASE_URL": server.base_url,
        "MILLPOND_BOTS__POND__MODEL__NAME": "fake",
        **{f"MILLPOND_QUEUE__{name.upper()}": str(getattr(queue, name)) for name in queue.__struct_fields__},
        **environment,
    }
    async with open_bus(RedisConfig(), folder / "data") as bus:
        found = Place(folder, settings, Lab(bus, queue))
        try:
            yield found
        finally:
            for worker in found.alive:
                worker.process.kill()
                worker.process.wait(STOP_LIMIT_S)


class Asked:
    """A model that notes how often it was asked for which message; its first answers come when they are let go."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        """By message id."""
        self.let_go = False

    def __call__(self, body: dict[str, Any]) -> Reply:
        message_id = last_user(body)
        self.times[message_id] += 1
        return Events(self) if message_id.endswith("-1") and self.times[message_id] == 1 else Say("ok")  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        yield delta(content="slow ")
        while not self.let_go:
            yield 0.05
        yield from (delta(content="answer"), delta(finish="stop"))


def last_user(body: dict[str, Any]) -> str:
    texts = [said(message["content"]) for message in body["messages"] if message["role"] == "user"]
    return str(texts[-1].removeprefix("text of "))


SESSIONS = [f"web:s{number:02}" for number in range(24)]


async def let_go_once_stopping(asked: Asked, worker: Worker) -> None:
    """Let the answers go when a worker knows that it is to end."""
    await until(lambda: worker.is_stopping)
    asked.let_go = True


LONG = QueueConfig(lease_s=2 * NEVER_S, renew_s=NEVER_S, wakeup_s=NEVER_S)
"""Nothing is begun again since a lease or a wake-up has run out."""


async def loaded(place: Place, asked: Asked) -> tuple[Worker, list[str], dict[str, list[str]]]:
    """Two workers amid slow turns; the one that holds more, what it holds, and all messages, two a session."""
    await place.start(2)
    ids = {session: [f"{session}-1", f"{session}-2"] for session in SESSIONS}
    for session in SESSIONS:
        await place.lab.publish(f"{session}-1", session=session)
    await until(lambda: len(asked.times) >= len(SESSIONS))
    for session in SESSIONS:
        await place.lab.publish(f"{session}-2", session=session)
    held = await place.held(SESSIONS)
    assert sorted(session for sessions in held.values() for session in sessions) == SESSIONS
    pid, sessions = max(held.items(), key=lambda item: len(item[1]))
    return next(worker for worker in place.workers if worker.process.pid == pid), sessions, ids


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_worker_that_is_to_end_hands_its_turns_over_after_the_grace_time_to_others_that_begin_at_once(
    folder: Path,
) -> None:
    asked = Asked()
    async with fake_openai(asked) as server, place(folder, server, LONG, MILLPOND_RUN__GRACE_S="0.3") as here:
        ending, held, ids = await loaded(here, asked)

        assert await ending.end(signal.SIGTERM) == 0
        asked.let_go = True
        await here.until_answered(ids)

        handed_over = ending.logged("turn.handed_over")
        assert sorted(handed_over) == sorted(held)
        assert [asked.times[f"{session}-1"] for session in held] == [2] * len(held)
        assert all(times == 1 for message_id, times in asked.times.items() if message_id[:-2] not in held)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_worker_that_is_to_end_finishes_its_turns_within_the_grace_time_and_others_go_on_at_once(folder: Path):
    asked = Asked()
    async with fake_openai(asked) as server, place(folder, server, LONG, MILLPOND_RUN__GRACE_S=str(HANG_S)) as here:
        ending, held, ids = await loaded(here, asked)

        async with anyio.create_task_group() as tg:
            tg.start_soon(let_go_once_stopping, asked, ending)
            assert await ending.end(signal.SIGTERM) == 0
        await here.until_answered(ids)

        done = ending.logged("turn.done")
        assert (sorted(done), ending.logged("turn.handed_over")) == (sorted(held), {})
        assert all(times == 1 for times in asked.times.values())


SHORT = QueueConfig(lease_s=2 * HANG_S, renew_s=0.3, wakeup_s=0.5)
"""Leases that no busy machine loses: those of the dead run out by hand."""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("deleted", ["nothing", "ready and due"])
async def test_the_turns_of_a_killed_worker_are_begun_by_others_when_their_leases_have_run_out(
    folder: Path, deleted: str
) -> None:
    asked = Asked()
    async with fake_openai(asked) as server, place(folder, server, SHORT) as here:
        dying, held, ids = await loaded(here, asked)
        if deleted != "nothing":
            # Once each lease was renewed, nothing is missing any more.
            await here.lab.bus.call("DEL", here.lab.bus.keys.ready(0), here.lab.bus.keys.due(0))
            await anyio.sleep(SHORT.renew_s + 0.2)

        await dying.end(signal.SIGKILL)
        for session in held:
            await here.lab.expire(session)
        asked.let_go = True
        await here.until_answered(ids)

        assert [asked.times[f"{session}-1"] for session in held] == [2] * len(held)
        assert all(times == 1 for message_id, times in asked.times.items() if message_id[:-2] not in held)


class Poison:
    """A model that answers at once, unless it is asked about poison: then the process that asked is to be killed."""

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.beside = 0
        """How many others are to be asked about before the process is killed."""
        self.calm = anyio.Lock()
        """Nobody is killed meanwhile."""
        self.touched = 0
        self.event = anyio.Event()

    def __call__(self, body: dict[str, Any]) -> Reply:
        message_id = last_user(body)
        if message_id != "poison":
            self.asked.add(message_id)
            return Say("ok")
        self.touched += 1
        self.event.set()
        return Hang()


EVIL = "web:evil"
ATTEMPTS = 2


async def kill_and_replace(here: Place, poison: Poison, *beside: str) -> None:
    """What the message does to its workers, and a supervisor does for them.

    ``beside``: other sessions that they may hold.
    """
    while True:
        await poison.event.wait()
        poison.event = anyio.Event()
        upto = len(poison.asked) + poison.beside
        while len(poison.asked) < upto:  # noqa: ASYNC110 - other processes ask
            await anyio.sleep(0.01)
        [pid] = await here.held([EVIL])
        held = (await here.held([EVIL, *beside]))[pid]
        [victim] = [worker for worker in here.alive if worker.process.pid == pid]
        async with poison.calm:
            await victim.end(signal.SIGKILL)
        await here.start()
        for session in held:
            await here.lab.expire(session)


async def end_pauses(lab: Lab, *sessions: str) -> None:
    """Have sessions whose workers died tried again at once, for ever."""
    while True:
        for session in sessions:
            if await lab.bus.call("HDEL", lab.bus.keys.session(session), "retry_at"):
                await wake(lab.bus, [session])
        await anyio.sleep(0.01)


async def is_dead(lab: Lab) -> bool:
    return bool(await lab.bus.call("XLEN", lab.bus.keys.dead(0)))


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_message_that_kills_its_worker_each_time_becomes_a_dead_letter_and_holds_up_nobody_else(folder: Path):
    poison, quiet = Poison(), list[str]()
    poison.beside = 3
    queue = msgspec.structs.replace(SHORT, attempts_max=ATTEMPTS)
    async with fake_openai(poison) as server, place(folder, server, queue) as here, anyio.create_task_group() as tg:
        await here.start(2)
        tg.start_soon(kill_and_replace, here, poison)
        tg.start_soon(end_pauses, here.lab, EVIL)
        await here.lab.publish("poison", session=EVIL)
        await here.lab.publish("next", session=EVIL)
        with anyio.fail_after(HANG_S):
            while not await is_dead(here.lab):
                quiet.append(f"quiet-{len(quiet)}")
                session = f"web:{quiet[-1]}"
                async with poison.calm:
                    await here.lab.publish(quiet[-1], session=session)
                    while not await answered(here.lab, session):  # noqa: ASYNC110 - as above
                        await anyio.sleep(0.01)
        await here.until_answered({f"web:{message_id}": [message_id] for message_id in quiet})
        tg.cancel_scope.cancel()

        assert poison.touched == SUSPECT_DEATHS + ATTEMPTS
        log = await here.lab.log(EVIL)
        assert [(entry.dead, entry.answers) for entry in log if entry.dead or entry.answers] == [
            (("poison",), ()),
            ((), ("next",)),
        ]
        [(_, letter)] = await here.lab.bus.call("XRANGE", here.lab.bus.keys.dead(0), "-", "+")
        assert (letter[b"id"], letter[b"reason"]) == (b"poison", b"attempts")
