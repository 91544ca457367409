"""Three nodes share 64 partitions: everything works as on one server, and goes on when a node fails or a slot moves."""

import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import msgspec
import pytest
from hypothesis.stateful import run_state_machine_as_test

import daemon.bus.cluster
import daemon.bus.pubsub
from daemon.bus import Bus, Keys, Listener, open_bus, reap, take
from daemon.bus.cluster import slot_of
from daemon.config import Config, QueueConfig, RedisConfig, Secret
from daemon.errors import BusError, BusUnavailable, ConfigError
from daemon.events import Reply
from daemon.model import Model
from daemon.process import Process
from daemon.testing import ManualClock, ScriptedModel
from tests.conftest import QUEUE, Lab, all_keys, check_and_remove_keys, everywhere, next_heard
from tests.fakes.sink import sink
from tests.integration.test_outbox import NAME as PUSH
from tests.integration.test_outbox import pushing, replica
from tests.integration.test_session_machine import QUEUE as LONG
from tests.integration.test_session_machine import QUICK, SESSIONS, SessionMachine
from tests.limits import HANG_S, until
from tests.oneloop import one_loop
from tests.servers import SLOTS, Node, cluster_of
from workers.agent.service import serve
from workers.consolidation.grew_reader import GrewReader

pytestmark = pytest.mark.servers

NAMES = [f"web:{number}" for number in range(100)]
PATIENT = msgspec.structs.replace(QUEUE, partition_max=1_000, lease_s=30.0, renew_s=10.0, wakeup_s=2.0)


@asynccontextmanager
async def bus_on(node: Node, prefix: str) -> AsyncIterator[Bus]:
    async with open_bus(RedisConfig(url=Secret(node.url), prefix=prefix), Path("/nowhere")) as bus:
        yield bus


@pytest.fixture
async def far(cluster: Sequence[Node], prefix: str) -> AsyncIterator[Lab]:
    """The tools of a test, on the cluster whatever server the other tests share."""
    async with bus_on(cluster[1], prefix) as bus:
        yield Lab(bus, PATIENT)
        await check_and_remove_keys(bus)


async def until_answered(lab: Lab, names: Sequence[str]) -> None:
    with anyio.fail_after(HANG_S):
        for name in names:
            # The server tells nobody that a list is empty.
            while (await lab.state(name)).waiting:  # noqa: ASYNC110 - see above
                await anyio.sleep(0.01)


@asynccontextmanager
async def a_process(bus: Bus, queue: QueueConfig, tmp_path: Path) -> AsyncIterator[Process]:
    async with anyio.create_task_group() as tg:
        listener = Listener(bus)
        tg.start_soon(listener.run)
        config = Config(queue=queue)
        yield Process(config=config, data_dir=tmp_path, bus=bus, listener=listener, clock=ManualClock())
        tg.cancel_scope.cancel()


@asynccontextmanager
async def a_worker(bus: Bus, queue: QueueConfig, tmp_path: Path) -> AsyncIterator[None]:
    async def connect(_config: object, *, language: str) -> Model:
        return ScriptedModel()

    async with a_process(bus, queue, tmp_path) as process, anyio.create_task_group() as tg:
        working = replace(process, connect_model=connect, stopping=anyio.Event())
        await tg.start(serve, working)
        yield
        working.stopping.set()


async def test_a_cluster_gets_64_partitions_at_first_use_and_spreads_them_over_its_nodes(far: Lab) -> None:
    for name in NAMES:
        await far.publish("m1", session=name)

    assert far.bus.keys.partitions == 64
    assert all(keys for keys in await everywhere(far.bus, "KEYS", f"{far.bus.keys.prefix}:*:session:*"))


async def test_a_cluster_keeps_its_number_of_partitions(cluster: Sequence[Node], far: Lab) -> None:
    config = RedisConfig(url=Secret(cluster[2].url), prefix=far.bus.keys.prefix, partitions=3)

    with pytest.raises(ConfigError, match="64 partitions"):
        async with open_bus(config, Path("/nowhere")):
            pass


async def test_two_workers_answer_a_hundred_sessions(cluster: Sequence[Node], far: Lab, prefix: str, tmp_path: Path):
    async with (
        bus_on(cluster[0], prefix) as other,
        a_worker(far.bus, PATIENT, tmp_path),
        a_worker(other, PATIENT, tmp_path),
    ):
        async with anyio.create_task_group() as tg:
            for name in NAMES:
                for number in range(3):
                    tg.start_soon(lambda n, m: far.publish(m, session=n), name, f"m{number}")
        await until_answered(far, NAMES)

    for name in NAMES:
        answers = [answer for entry in await far.log(name) for answer in entry.answers]
        assert sorted(answers) == ["m0", "m1", "m2"]


async def test_a_session_that_becomes_ready_is_told_at_once(far: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon.bus.cluster, "LOOK_S", 10 * HANG_S)  # nothing is found by looking everywhere
    assert await take(far.bus, at_most=10) == []

    for name in NAMES[:20]:
        taken: list[str] = []

        async def take_one(taken: list[str] = taken) -> None:
            while not taken:
                taken += await take(far.bus, at_most=10)

        with anyio.fail_after(HANG_S):
            async with anyio.create_task_group() as tg:
                tg.start_soon(take_one)
                await anyio.wait_all_tasks_blocked()
                await far.publish("m1", session=name)
        assert taken == [name]


async def test_no_partition_starves_while_others_never_run_dry(far: Lab) -> None:
    ready = [far.bus.keys.ready(partition) for partition in range(far.bus.keys.partitions)]
    for number, key in enumerate(ready[:10]):
        await far.bus.call("ZADD", key, *(part for at in range(100) for part in (at, f"web:{number}-{at}")))
    await far.bus.call("ZADD", ready[40], 1, "web:quiet")

    taken: list[str] = []
    for _ in range(100):
        taken += await take(far.bus, at_most=4)
        if "web:quiet" in taken:
            break

    assert "web:quiet" in taken
    for key in ready:
        await far.bus.call("DEL", key)


async def test_take_never_gives_more_than_was_asked_for(far: Lab) -> None:
    for name in NAMES:
        await far.publish("m1", session=name)

    taken = []
    while sessions := await take(far.bus, at_most=7):
        assert len(sessions) <= 7
        taken += sessions

    assert sorted(taken) == sorted(NAMES)


async def test_what_is_overdue_in_any_partition_is_woken(far: Lab) -> None:
    for name in NAMES:
        await far.publish("m1", session=name)
    while await take(far.bus, at_most=50):
        pass
    for name in NAMES:
        await far.expire(name)

    assert (await reap(far.bus, far.queue))[0] == len(NAMES)
    assert sorted(await far.ready()) == sorted(NAMES)


async def test_scripts_flushed_on_every_node_between_any_two_steps_are_not_noticed(far: Lab) -> None:
    for name in NAMES[:10]:
        await everywhere(far.bus, "SCRIPT", "FLUSH")
        await far.publish("m1", session=name)
        await everywhere(far.bus, "SCRIPT", "FLUSH")
        claim = await far.claim(name)
        await everywhere(far.bus, "SCRIPT", "FLUSH")
        await far.commit(claim, go_on=False)

        assert (await far.state(name)).waiting == 0


async def test_what_is_published_on_any_node_is_heard(far: Lab) -> None:
    assert far.bus.cluster is not None
    channel = f"{far.bus.keys.prefix}:heard"
    listener = Listener(far.bus)
    async with anyio.create_task_group() as tg:
        tg.start_soon(listener.run)
        async with listener.hear(channel) as reader:
            await far.subscribed(channel)
            for number, node in enumerate(far.bus.cluster.nodes):
                await node.execute_command("PUBLISH", channel, number)
                assert await next_heard(reader) == str(number).encode()
        tg.cancel_scope.cancel()


async def test_events_of_all_partitions_are_read_once_by_a_group(cluster: Sequence[Node], far: Lab, prefix: str):
    for partition in range(64):
        await far.bus.call("XADD", far.bus.keys.grew(partition), "*", "event", str(partition))

    found: list[int] = []
    async with bus_on(cluster[2], prefix) as other:
        readers = [GrewReader(far.bus, consumer="a"), GrewReader(other, consumer="b")]
        with anyio.fail_after(HANG_S):
            while len(found) < 64:
                for reader in readers:
                    for partition, event_id, raw in await reader.read():
                        assert raw == str(partition).encode()
                        found.append(partition)
                        await reader.remove(partition, event_id)

    assert sorted(found) == list(range(64))
    assert await far.bus.call("XLEN", far.bus.keys.grew(7)) == 0


async def test_replies_of_all_partitions_are_delivered_to_a_push_channel(far: Lab, tmp_path: Path) -> None:
    keys, chats = far.bus.keys, [f"{PUSH}:{number}" for number in range(30)]
    for chat in chats:
        reply = Reply(id=f"{chat}#0", session=chat, turn=0, text=f"to {chat}", correlation="c")
        await far.bus.call("XADD", keys.out(keys.partition(chat), PUSH), "*", "reply", msgspec.json.encode(reply))

    async with sink() as platform, a_process(far.bus, PATIENT, tmp_path) as process:
        async with replica(pushing(process, platform)):
            await platform.count(len(chats))

        assert all(platform.texts(chat) == [f"to {chat}"] for chat in chats)


class OnePlace(Keys):
    """Keys of 64 partitions, all sessions of the state machine in the first."""

    def partition(self, session: str) -> int:
        return 0 if session in SESSIONS else super().partition(session)


def test_the_state_machine_of_sessions_keeps_its_promises_on_a_cluster(cluster: Sequence[Node], prefix: str) -> None:
    with one_loop() as loop, loop.entered(bus_on(cluster[0], prefix)) as bus:
        bus.keys = OnePlace(prefix=prefix, partitions=bus.keys.partitions)
        found = type("Machine", (SessionMachine,), {"loop": loop, "lab": Lab(bus, LONG)})
        run_state_machine_as_test(found, settings=QUICK)
        loop.call(check_and_remove_keys, bus)


async def publish_patiently(lab: Lab, message_id: str, session: str) -> None:
    """As a channel does: an outage is no reason to give a message up."""
    while True:
        try:
            await lab.publish(message_id, session=session)
        except BusUnavailable:
            await anyio.sleep(0.1)
        else:
            return


async def test_a_dead_node_is_replaced_and_every_message_is_answered_once(prefix: str, tmp_path: Path) -> None:
    with cluster_of(3, replicas=1) as nodes:
        async with bus_on(nodes[0], prefix) as bus:
            lab = Lab(bus, PATIENT)
            async with a_worker(bus, PATIENT, tmp_path):
                await lab.publish("m0", session=NAMES[0])
                nodes[0].kill()
                async with anyio.create_task_group() as tg:
                    for name in NAMES:
                        tg.start_soon(publish_patiently, lab, "m1", name)
                await until_answered(lab, NAMES)
            for name in NAMES[1:]:
                assert [answer for entry in await lab.log(name) for answer in entry.answers] == ["m1"]
            assert bus.failing is None


async def test_a_node_that_is_away_holds_up_no_other_and_its_calls_end(prefix: str) -> None:
    with cluster_of(3) as nodes:
        for node in nodes:
            node.call("CONFIG", "SET", "cluster-require-full-coverage", "no")
        async with bus_on(nodes[0], prefix) as bus:
            lab = Lab(bus, PATIENT)
            # New sessions are noted in an index that lies on one node.
            for name in NAMES:
                await lab.publish("m0", session=name)
            nodes[2].kill()
            reached, away = 0, 0

            async def publish(name: str) -> None:
                nonlocal reached, away
                try:
                    await lab.publish("m1", session=name)
                except BusUnavailable:
                    away += 1
                else:
                    reached += 1

            with anyio.fail_after(HANG_S):
                async with anyio.create_task_group() as tg:
                    for name in NAMES:
                        tg.start_soon(publish, name)
            assert reached > 30 and away > 10
            assert bus.failing is not None

            nodes[2].start()
            for name in NAMES:
                await publish_patiently(lab, "m2", name)
            assert (await reap(bus, PATIENT))[1] is not None


async def test_a_reader_leaves_a_node_that_says_nothing_any_more(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon.bus.pubsub, "POLL_S", 0.3)
    channel = f"{prefix}:heard"

    def subscribed(nodes: Sequence[Node]) -> list[Node]:
        return [node for node in nodes if node.call("PUBSUB", "NUMSUB", channel)[1]]

    with cluster_of(3) as nodes:
        async with bus_on(nodes[0], prefix) as bus, a_process(bus, PATIENT, Path("/nowhere")) as process:
            async with process.listener.hear(channel) as reader:
                await Lab(bus, PATIENT).subscribed(channel)
                [silent] = subscribed(nodes)
                others = [node for node in nodes if node is not silent]
                os.kill(silent.pid, signal.SIGSTOP)
                await until(lambda: subscribed(others))
                others[0].call("PUBLISH", channel, "heard")

                assert await next_heard(reader) == b"heard"
            os.kill(silent.pid, signal.SIGCONT)


async def test_a_slot_on_its_way_to_another_node_is_followed(prefix: str) -> None:
    with cluster_of(3) as nodes:
        async with bus_on(nodes[0], prefix) as bus:
            lab = Lab(bus, PATIENT)
            await lab.publish("m0", session="web:ann")
            slot = slot_of(("GET", bus.keys.session("web:ann")))
            assert slot is not None
            here = nodes[slot * 3 // SLOTS]
            there = nodes[(nodes.index(here) + 1) % 3]
            names = [here.call("CLUSTER", "MYID").decode(), there.call("CLUSTER", "MYID").decode()]
            there.call("CLUSTER", "SETSLOT", str(slot), "IMPORTING", names[0])
            here.call("CLUSTER", "SETSLOT", str(slot), "MIGRATING", names[1])

            keys = here.call("CLUSTER", "GETKEYSINSLOT", str(slot), "100")
            async with anyio.create_task_group() as tg:
                move(here, there, keys[:2])
                # Half of the keys are here, half are there: one by one they are found, a script has to wait.
                assert (await lab.state()).waiting == 1
                assert (await lab.fields())["scope"] == "pond:workspace"
                tg.start_soon(publish_patiently, lab, "m1", "web:ann")
                await anyio.wait_all_tasks_blocked()
                move(here, there, keys[2:])
                for node in (there, here, *nodes):
                    node.call("CLUSTER", "SETSLOT", str(slot), "NODE", names[1])
            assert (await lab.state()).waiting == 2
            assert await all_keys(bus)


def move(here: Node, there: Node, keys: Sequence[bytes]) -> None:
    here.call("MIGRATE", "127.0.0.1", str(there.port), "", "0", "5000", "KEYS", *(key.decode() for key in keys))


@pytest.mark.parametrize(
    ("command", "key"),
    [
        (("GET", "mp:{7}:log:a"), b"7"),
        (("EVALSHA", b"sha", 2, "mp:{7}:in", "mp:{7}:due"), b"7"),
        (("XREADGROUP", "GROUP", "g", "c", "COUNT", 1, b"STREAMS", "mp:{7}:grew", ">"), b"7"),
        (("XREAD", "BLOCK", 10, "STREAMS", "mp:{7}:out:a", "0"), b"7"),
        (("XGROUP", "CREATE", "mp:{7}:grew", "g", "0"), b"7"),
        (("PUBLISH", "mp:nudges", "text"), b"mp:nudges"),
    ],
)
def test_a_command_goes_to_the_slot_of_its_first_key(command: tuple[str | bytes | int, ...], key: bytes) -> None:
    assert slot_of(command) == slot_of(("GET", key))


def test_a_command_without_a_key_may_go_anywhere() -> None:
    assert [slot_of((name,)) for name in ("PING", "TIME", "INFO", "NOSUCHCOMMAND")] == [None] * 4


async def test_a_cluster_of_which_no_node_answers_is_away(prefix: str) -> None:
    with cluster_of(3) as nodes:
        async with bus_on(nodes[0], prefix) as bus:
            await bus.call("PING")
            for node in nodes:
                node.kill()

            with anyio.fail_after(HANG_S), pytest.raises(BusError):
                await bus.call("LLEN", "nothing")
            with anyio.fail_after(HANG_S), pytest.raises(BusUnavailable):
                while True:
                    await take(bus, at_most=1)
