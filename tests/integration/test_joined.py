"""Calls joined into pipelines: each gets its own answer, and outages, restarts and flushed scripts pass unnoticed."""

import hashlib
import inspect
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import msgspec
import pytest
from redis import exceptions as redis_errors
from redis._parsers.base import BaseParser
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from daemon.bus import Bus, Script, open_bus, reap, take, translated, wake
from daemon.bus.command_batch import CommandBatch
from daemon.config import RedisConfig, Secret
from daemon.errors import BusError, BusUnavailable
from daemon.server import Address
from tests.conftest import Lab, an_entry
from tests.limits import HANG_S
from tests.tables import each_row


async def test_a_thousand_calls_at_once_get_each_its_own_answer(bus: Bus) -> None:
    answers: dict[int, bytes] = {}

    async def one(number: int) -> None:
        answers[number] = await bus.call("ECHO", str(number))

    async with anyio.create_task_group() as tg:
        for number in range(1_000):
            tg.start_soon(one, number)

    assert answers == {number: str(number).encode() for number in range(1_000)}


async def test_a_refused_command_fails_its_caller_and_not_its_neighbours(bus: Bus) -> None:
    answers: list[object] = []

    async def one(*command: str) -> None:
        try:
            answers.append(await bus.call(*command))
        except BusError as error:
            answers.append(type(error))

    async with anyio.create_task_group() as tg:
        tg.start_soon(one, "ECHO", "before")
        tg.start_soon(one, "NOSUCHCOMMAND")
        tg.start_soon(one, "ECHO", "after")

    assert answers == [b"before", BusError, b"after"]


async def test_an_argument_that_cannot_be_sent_fails_its_caller_and_not_the_bus(bus: Bus) -> None:
    """A lone surrogate ended the sending task, and with it the whole process."""
    with pytest.raises(UnicodeEncodeError):
        await bus.call("ECHO", "\ud800")

    assert await bus.call("ECHO", "我") == "我".encode()


async def test_random_cancellation_mixes_no_answers_up(bus: Bus) -> None:
    async def one(number: int) -> None:
        with anyio.move_on_after(0.0001 * (number % 7)):
            assert await bus.call("ECHO", str(number)) == str(number).encode()

    async with anyio.create_task_group() as tg:
        for number in range(300):
            tg.start_soon(one, number)

    assert await bus.call("ECHO", "still in order") == b"still in order"


async def test_a_server_out_of_memory_is_waited_out_and_reads_go_on_meanwhile(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.bus._joined, "_patience_s", HANG_S)
    accepted = []

    async def publish() -> None:
        accepted.append(await lab.publish("m1"))

    await lab.bus.call("CONFIG", "SET", "maxmemory", "1")
    try:
        async with anyio.create_task_group() as tg:
            tg.start_soon(publish)
            with anyio.fail_after(HANG_S):
                while (failing := lab.bus._joined.failing) is None:
                    await anyio.lowlevel.checkpoint()
                assert await lab.bus.call("LLEN", "nothing") == 0
            assert not accepted
            assert "memory" in str(failing)
            await lab.bus.call("CONFIG", "SET", "maxmemory", "0")
    finally:
        await lab.bus.call("CONFIG", "SET", "maxmemory", "0")

    assert accepted[0].status == "accepted"


async def test_who_waits_longer_than_the_patience_is_told_that_redis_is_away() -> None:
    away = Redis(unix_socket_path="/nowhere/at/all", retry=Retry(NoBackoff(), 0))

    joined = CommandBatch(away, revive=anyio.lowlevel.checkpoint, patience_s=0.1)
    async with anyio.create_task_group() as tg:
        tg.start_soon(joined.run)
        with anyio.fail_after(HANG_S), pytest.raises(BusUnavailable, match="No such file"):
            await joined.call("PING")
        tg.cancel_scope.cancel()


async def test_a_closed_bus_says_so_at_once(server_dir: Path, prefix: str) -> None:
    async with open_bus(RedisConfig(prefix=prefix), server_dir) as bus:
        await bus.call("DEL", bus.keys.meta)

    with anyio.fail_after(HANG_S), pytest.raises(BusUnavailable):
        await bus.call("PING")


async def test_a_cancelled_holder_still_hands_its_session_over(lab: Lab, server_dir: Path, prefix: str) -> None:
    """The tasks that send were cancelled together with the work, and its lease had to run out."""
    await lab.publish("m1")
    with anyio.CancelScope() as scope:
        async with open_bus(RedisConfig(prefix=prefix), server_dir) as bus:
            other = Lab(bus, lab.queue)
            claim = await other.claim()
            try:
                scope.cancel()
                await anyio.sleep_forever()
            finally:
                with anyio.fail_after(HANG_S, shield=True):
                    await other.sessions.hand_over(claim)

    assert await lab.ready() == ["web:ann"]


async def test_a_bus_that_cannot_be_used_says_why_in_one_error(address: Address) -> None:
    url = Secret(f"unix://{address.socket}?password=wrong")

    with pytest.raises(BusError, match=r"redis\.url"):
        async with open_bus(RedisConfig(url=url), Path("/nowhere")):
            pass


async def walk(lab: Lab, disturb: Callable[[], Awaitable[None]]) -> None:
    for number in range(3):
        await disturb()
        await lab.publish(f"m{number}")
    await disturb()
    assert await take_one(lab) == "web:ann"
    await disturb()
    await wake(lab.bus, ["web:ann"])
    await disturb()
    claim = await lab.claim()
    journalled = [an_entry(0, text="a"), an_entry(0, text="b")]
    for step, entry in enumerate(journalled):
        await disturb()
        await lab.sessions.journal(claim, step=step, entries=[entry])
    await disturb()
    await lab.sessions.renew(claim)
    await disturb()
    following = await lab.commit(claim, journalled=journalled)
    assert following is not None
    await disturb()
    await lab.sessions.hand_over(following)
    await disturb()
    await reap(lab.bus, lab.queue)
    await disturb()
    again = await lab.claim()
    await disturb()
    assert await lab.commit(again, go_on=False) is None
    await disturb()
    assert await lab.commit(await lab.claim()) is None
    await disturb()

    log = await lab.log()
    assert [answer for entry in log for answer in entry.answers] == ["m0", "m1", "m2"]
    assert log[:2] == journalled
    assert len(log) == (await lab.state()).head == 7
    assert (await lab.state()).waiting == 0


async def take_one(lab: Lab) -> str:
    """A session from ``ready``, asking again while the server is away, as the consumer does."""
    for _ in range(20):
        try:
            taken = await take(lab.bus, at_most=1)
        except BusUnavailable:
            await lab.bus.call("PING")
        else:
            return taken[0]
    raise AssertionError("nothing was ready")


async def test_flushed_scripts_between_any_two_steps_are_not_noticed(lab: Lab) -> None:
    async def flush() -> None:
        await lab.bus.call("SCRIPT", "FLUSH")

    await walk(lab, flush)


async def test_many_calls_at_once_load_their_scripts_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """On their own connection: after a failover, those of the pool led to the old master, until the stack was full."""

    async def lead_elsewhere() -> None:
        pytest.fail("a connection of the pool")

    if lab.bus.cluster is None:
        monkeypatch.setattr(lab.bus.client.connection_pool, "get_connection", lead_elsewhere)
    await lab.bus.call("SCRIPT", "FLUSH")

    async with anyio.create_task_group() as tg:
        for number in range(20):
            tg.start_soon(lambda n: lab.publish("m1", session=f"web:{n}"), number)

    monkeypatch.undo()
    assert len(await lab.ready()) == 20


async def test_calls_whose_script_is_loaded_for_them_keep_their_order(bus: Bus) -> None:
    """As long as it takes: more than are answered in one round of the event loop."""
    text = b"return redis.call('RPUSH', KEYS[1], ARGV[1])"
    push = Script(name="push.lua", text=text, sha=hashlib.sha1(text).hexdigest().encode())
    key = bus.keys.waiting("web:ann")
    await bus.call("SCRIPT", "FLUSH")

    async with anyio.create_task_group() as tg:
        for number in range(100):
            tg.start_soon(bus.run, push, [key], [number])

    assert [int(each) for each in await bus.call("LRANGE", key, 0, -1)] == list(range(100))


async def test_a_server_killed_between_any_two_steps_loses_nothing_that_was_acknowledged(lab: Lab) -> None:
    pids = set()

    async def kill() -> None:
        info = await lab.bus.call("INFO", "server")
        pids.add(info["process_id"])
        os.kill(info["process_id"], signal.SIGKILL)

    # Leases that outlast the restarts.
    await walk(Lab(lab.bus, msgspec.structs.replace(lab.queue, lease_s=30.0)), kill)

    assert len(pids) > 10


EXCEPTIONS = [
    found
    for _, found in inspect.getmembers(redis_errors, inspect.isclass)
    if issubclass(found, redis_errors.RedisError) and found.__module__ == redis_errors.__name__
]


@each_row("exception", EXCEPTIONS)
async def test_every_exception_of_the_library_becomes_one_of_ours(exception: type[Exception]) -> None:
    error = exception.__new__(exception)

    assert isinstance(translated(error), BusError)


@each_row(
    "code", ["LOADING", "MISCONF", "OOM", "READONLY", "NOREPLICAS", "UNBLOCKED", "MASTERDOWN", "CLUSTERDOWN", "BUSY"]
)
async def test_a_server_that_takes_nothing_just_now_is_away(code: str) -> None:
    """The library cuts off the codes it knows: an out-of-memory reply was a refusal for good."""
    error = BaseParser.parse_error(f"{code} not now")

    assert isinstance(translated(error), BusUnavailable)
