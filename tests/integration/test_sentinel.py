"""Sentinels name the master: it is found, a failover is followed under load, and replicas confirm what was accepted."""

import datetime as dt
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import anyio
import msgspec
import pytest
from anyio import to_thread
from structlog.testing import capture_logs

from daemon.bus import open_bus
from daemon.bus.sentinel import MasterPool
from daemon.cli.doctor.database_checks import examine
from daemon.cli.redis_cli import target_of
from daemon.clock import stamp
from daemon.config import RedisConfig, Secret
from daemon.errors import BusError, BusUnavailable, ConfigError, TooFewReplicas
from daemon.reminders import ReminderRequest, Reminders, id_of, planned
from tests.conftest import Lab
from tests.fakes.tls import self_signed, tls_before
from tests.integration.test_cluster import PATIENT, a_worker, publish_patiently, until_answered
from tests.limits import HANG_S, until
from tests.ports import free_port
from tests.remindlab import place_of
from tests.servers import Watched, wait_until, watched_servers

pytestmark = [pytest.mark.anyio, pytest.mark.servers]

NAMES = [f"web:{number}" for number in range(8)]
MESSAGES = [f"m{number}" for number in range(12)]
QUEUE = msgspec.structs.replace(PATIENT, waiting_max=100)
KILLED_AFTER = 20
"""Accepted messages."""


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    """Servers whose master no test changes."""
    with watched_servers() as watched:
        yield watched


@pytest.mark.parametrize(("min_replicas", "killed"), [(0, True), (1, True), (1, False)])
async def test_a_failover_under_load_is_followed_and_nothing_is_answered_twice(
    prefix: str, tmp_path: Path, min_replicas: int, killed: bool
) -> None:
    """Every message that the new master has is answered once; with ``min_replicas`` it has all that were accepted.

    A master that is stopped keeps its connections open, and comes back as if nothing had happened.
    """
    accepted: list[tuple[str, str]] = []

    async def talk(lab: Lab, name: str) -> None:
        for message in MESSAGES:
            await publish_patiently(lab, message, name)
            accepted.append((name, message))

    async def fail_over(watched: Watched) -> None:
        while len(accepted) < KILLED_AFTER:  # noqa: ASYNC110 - a list tells nobody
            await anyio.sleep(0.001)
        first, second = watched.servers
        first.kill() if killed else os.kill(first.pid, signal.SIGSTOP)
        # Before that, sentinels may take the old one for the master again.
        await to_thread.run_sync(wait_until, lambda: watched.follow(second))
        first.start() if killed else os.kill(first.pid, signal.SIGCONT)
        # The sentinels do so too, in their own time.
        await to_thread.run_sync(wait_until, lambda: first.follows(second))

    with watched_servers() as watched, capture_logs() as logs:
        config = RedisConfig(url=Secret(watched.url), prefix=prefix, min_replicas=min_replicas)
        async with open_bus(config, Path("/nowhere")) as bus:
            lab = Lab(bus, QUEUE)
            async with a_worker(bus, QUEUE, tmp_path):
                async with anyio.create_task_group() as tg:
                    tg.start_soon(fail_over, watched)
                    for name in NAMES:
                        tg.start_soon(talk, lab, name)
                await until_answered(lab, NAMES)
            answers = [(name, answer) for name in NAMES for entry in await lab.log(name) for answer in entry.answers]

    told = [(log["event"], log["address"]) for log in logs if log["event"].startswith("redis.")]
    assert told == [
        ("redis.master", f"127.0.0.1:{watched.servers[0].port}"),
        ("redis.failover", f"127.0.0.1:{watched.servers[1].port}"),
    ]
    assert len(accepted) == len(NAMES) * len(MESSAGES)
    assert len(answers) == len(set(answers))
    assert set(answers) == set(accepted) if min_replicas else set(answers) <= set(accepted)
    lost = {(log["session"], log["message_id"]) for log in logs if log["event"] == "message.lost"}
    assert lost == set(accepted) - set(answers)


async def test_reminders_fire_once_before_and_after_a_failover(prefix: str, tmp_path: Path) -> None:
    """With a replica that has all of them; some fire before, some meanwhile, and some after."""
    with watched_servers() as watched:
        config = RedisConfig(url=Secret(watched.url), prefix=prefix, min_replicas=1)
        async with open_bus(config, Path("/nowhere")) as bus:
            lab, reminders, wanted = Lab(bus, QUEUE), Reminders(bus, QUEUE), set[str]()
            for name in NAMES:
                await lab.publish("hello", session=name)
                base = await reminders.now()
                for number in range(10):
                    due, wish = (
                        base + dt.timedelta(seconds=0.3 * number),
                        ReminderRequest(text="tea", when="1h", zone="UTC"),
                    )
                    reminder = planned(wish, place_of(name), reminder_id=id_of(name, str(number)), now=base)
                    reminder = msgspec.structs.replace(reminder, due=stamp(due), local=stamp(due)[:-1])
                    assert await reminders.create(reminder, asked_as=reminder.id, at_most=10) == "created"
                    wanted.add(reminder.inbound(base).id)
            first, second = watched.servers
            async with a_worker(bus, QUEUE, tmp_path), a_worker(bus, QUEUE, tmp_path / "other"):
                await until(lambda: _fired(lab, at_least=1))
                first.kill()
                await to_thread.run_sync(wait_until, lambda: watched.follow(second))
                first.start()
                await to_thread.run_sync(wait_until, lambda: first.follows(second))
                await until(lambda: _fired(lab, at_least=len(wanted)))
                await until_answered(lab, NAMES)
            answers = [answer for name in NAMES for entry in await lab.log(name) for answer in entry.answers]

    assert sorted(answer for answer in answers if answer != "hello") == sorted(wanted)


async def _fired(lab: Lab, *, at_least: int) -> bool:
    try:
        return await lab.bus.call("ZCARD", lab.bus.keys.upcoming(0)) <= 10 * len(NAMES) - at_least
    except BusError:
        return False


async def test_an_address_that_names_no_master_says_so_in_a_sentence(watched: Watched, prefix: str) -> None:
    server, sentinel = watched.servers[0].port, watched.sentinels[0].port
    tls = f"sentinels://127.0.0.1:{sentinel}/pond"
    wrong = (
        (tls, BusUnavailable, "reported a reachable Redis master named 'pond'"),
        (f"redis://127.0.0.1:{sentinel}", ConfigError, "redis.url points to a Redis Sentinel"),
        (f"sentinel://127.0.0.1:{server}/pond", BusUnavailable, "is not a Redis Sentinel"),
        (f"sentinel://127.0.0.1:{sentinel}/heron", BusUnavailable, "reported a reachable Redis master named 'heron'"),
        (f"redis://127.0.0.1:{watched.servers[1].port}", BusUnavailable, "is a read-only replica"),
    )
    for url, kind, sentence in wrong:
        with anyio.fail_after(HANG_S), pytest.raises(kind, match=sentence):
            async with open_bus(RedisConfig(url=Secret(url), prefix=prefix), Path("/nowhere"), patience_s=0):
                pass


def test_redis_cli_goes_to_the_master(watched: Watched) -> None:
    # The first of them is not there.
    url = watched.url.replace("sentinel://", "sentinel://:secret@127.0.0.1:1,") + "?db=3"

    found = target_of(url)

    assert (found.host, found.port, found.password, found.database) == (
        *("127.0.0.1", watched.servers[0].port, "secret", 3),
    )


async def test_a_message_that_too_few_replicas_have_is_refused_until_they_have_it(
    watched: Watched, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.bus.replication.ACKNOWLEDGE_S", 0.1)
    config = RedisConfig(url=Secret(watched.url), prefix=prefix, min_replicas=1)
    async with open_bus(config, Path("/nowhere")) as bus:
        lab = Lab(bus, PATIENT)
        accepted = await lab.publish("m0")
        os.kill(watched.servers[1].pid, signal.SIGSTOP)
        try:
            with pytest.raises(TooFewReplicas, match="only 0 replicas confirmed"):
                await lab.publish("m1")
            claim = await lab.claim()
            with pytest.raises(TooFewReplicas):
                await lab.commit(claim, go_on=False)
        finally:
            os.kill(watched.servers[1].pid, signal.SIGCONT)
        again: list[str] = []
        with anyio.fail_after(HANG_S):
            while not again:
                try:
                    again.append((await lab.publish("m1")).status)
                    assert await lab.commit(claim, go_on=False) is None
                except BusError:
                    again.clear()

        assert (await lab.state()).waiting == 1

    assert (accepted.status, again) == ("accepted", ["accepted"])


async def test_connections_to_a_server_that_is_the_master_no_longer_are_left(watched: Watched, prefix: str) -> None:
    """A master that came back answered on old connections for ten seconds; what it accepted was lost."""
    async with open_bus(RedisConfig(url=Secret(watched.url), prefix=prefix), Path("/nowhere")) as bus:
        before = await bus.call("CLIENT", "ID")
        bus.client.connection_pool.master_address = ("127.0.0.1", 1)
        after = await bus.call("CLIENT", "ID")

    assert before != after


async def test_another_master_is_noticed_by_whoever_asks_for_nothing(
    watched: Watched, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.bus.sentinel.LOOK_S", 0.01)
    async with open_bus(RedisConfig(url=Secret(watched.url), prefix=prefix), Path("/nowhere")) as bus:
        right = bus.master
        bus.client.connection_pool.master_address = ("127.0.0.1", 1)
        with anyio.fail_after(HANG_S):
            while bus.master != right:  # noqa: ASYNC110 - an attribute tells nobody
                await anyio.sleep(0.001)


async def test_a_replica_that_a_sentinel_calls_the_master_is_not_used(
    watched: Watched, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For some seconds after a failover, sentinels name an old master that has come back."""

    async def name_a_replica(_pool: object) -> tuple[str, int]:
        return "127.0.0.1", watched.servers[1].port

    monkeypatch.setattr(MasterPool, "get_master_address", name_a_replica)
    with pytest.raises(BusUnavailable, match="is not the current Redis master"):
        async with open_bus(RedisConfig(url=Secret(watched.url), prefix=prefix), Path("/nowhere"), patience_s=0):
            pass


async def test_sentinels_and_servers_are_reached_over_tls(prefix: str, tmp_path: Path) -> None:
    certificate, server_port, port = self_signed(tmp_path), free_port(), free_port()
    with (
        watched_servers(servers=1, sentinels=1, known_as=server_port) as watched,
        tls_before(certificate, server_port, watched.servers[0].port),
        tls_before(certificate, port, watched.sentinels[0].port),
    ):
        await to_thread.run_sync(wait_until, watched.settled)
        url = f"sentinels://127.0.0.1:{port}/pond?ssl_ca_certs={certificate}"
        async with open_bus(RedisConfig(url=Secret(url), prefix=prefix), Path("/nowhere")) as bus:
            assert bus.master == ("127.0.0.1", server_port)
            assert await bus.call("ECHO", "over TLS") == b"over TLS"
        untrusted = RedisConfig(url=Secret(url.partition("?")[0]), prefix=prefix)
        with pytest.raises(BusUnavailable, match="reported a reachable Redis master"):
            async with open_bus(untrusted, Path("/nowhere"), patience_s=0):
                pass


async def test_messages_that_a_new_master_lacks_are_named(watched: Watched, prefix: str) -> None:
    config = RedisConfig(url=Secret(watched.url), prefix=prefix)
    with capture_logs() as logs:
        async with open_bus(config, Path("/nowhere")) as bus:
            assert bus.failovers is not None
            lab = Lab(bus, QUEUE)
            for message in ("m0", "m1", "m2"):
                await lab.publish(message)
            await bus.call("DEL", bus.keys.seen("web:ann", "m1"))
            bus.failovers.changed()
            with anyio.fail_after(HANG_S):
                while "message.lost" not in [log["event"] for log in logs]:  # noqa: ASYNC110 - a log tells nobody
                    await anyio.sleep(0.001)
            found = [each.text for each in await examine(bus, embedded=False) if each.check == "lost messages"]
            await bus.call("DEL", bus.keys.lost)

    [text] = found
    assert text.startswith("accepted messages that were lost when Redis switched to another master: 1.")
    assert "Affected sessions: web:ann." in text
    lost = [(log["session"], log["message_id"]) for log in logs if log["event"] == "message.lost"]
    assert lost == [("web:ann", "m1")]
