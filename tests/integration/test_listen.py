"""Hearing what is published: everything while connected, and a None whenever something may have been missed."""

import os
import signal

import anyio
import anyio.lowlevel
import pytest
from structlog.testing import capture_logs

import daemon.bus.pubsub
from daemon.bus import Bus, Listener, Subscription
from daemon.bus.pubsub import BUFFER
from daemon.process import Process
from tests.conftest import Lab, next_heard
from tests.limits import HANG_S


async def test_a_reader_first_hears_that_it_may_have_missed_something(process: Process) -> None:
    async with process.listener.hear("t:a") as reader:
        with anyio.fail_after(HANG_S):
            assert await reader.next() is None


async def test_all_readers_of_a_channel_hear_everything_in_order_and_nothing_else(lab: Lab, process: Process) -> None:
    async with process.listener.hear("t:a") as one, process.listener.hear("t:a") as two, process.listener.hear("t:b"):
        await lab.subscribed("t:a")
        await lab.subscribed("t:b")
        for number in range(10):
            await lab.bus.call("PUBLISH", "t:b", "elsewhere")
            await lab.bus.call("PUBLISH", "t:a", number)

        for reader in (one, two):
            assert [await next_heard(reader) for _ in range(10)] == [str(number).encode() for number in range(10)]


async def test_one_reader_leaving_does_not_silence_the_other(lab: Lab, process: Process) -> None:
    async with process.listener.hear("t:a") as staying:
        await lab.subscribed("t:a")
        async with process.listener.hear("t:a"):
            pass
        await lab.bus.call("PUBLISH", "t:a", "still here")

        assert await next_heard(staying) == b"still here"


async def test_readers_that_come_and_go_leave_a_channel_that_can_be_heard_again(lab: Lab, process: Process) -> None:
    for number in range(20):
        async with process.listener.hear("t:a") as reader:
            await lab.subscribed("t:a")
            await lab.bus.call("PUBLISH", "t:a", number)
            assert await next_heard(reader) == str(number).encode()


@pytest.mark.parametrize("steps", range(12))
async def test_a_reader_who_comes_while_the_listener_connects_hears_all_after(lab: Lab, bus: Bus, steps: int) -> None:
    """A channel asked for while the first subscription was on its way was never subscribed."""
    listener = Listener(bus)
    async with anyio.create_task_group() as tg:
        tg.start_soon(listener.run)
        for _ in range(steps):
            await anyio.lowlevel.checkpoint()

        async with listener.hear(f"t:{steps}") as reader:
            await lab.subscribed(f"t:{steps}")
            await lab.bus.call("PUBLISH", f"t:{steps}", "heard")
            assert await next_heard(reader) == b"heard"
        tg.cancel_scope.cancel()


async def test_after_the_server_was_killed_readers_hear_a_none_and_then_go_on(lab: Lab, process: Process) -> None:
    async with process.listener.hear("t:a") as reader:
        await lab.subscribed("t:a")
        await lab.bus.call("PUBLISH", "t:a", "before")
        assert await next_heard(reader) == b"before"

        os.kill((await lab.bus.call("INFO", "server"))["process_id"], signal.SIGKILL)
        await lab.bus.call("PING")  # which brings it back

        with anyio.fail_after(HANG_S):
            assert await reader.next() is None
        await lab.subscribed("t:a")
        await lab.bus.call("PUBLISH", "t:a", "after")
        assert await next_heard(reader) == b"after"


async def test_a_stopped_server_is_noticed_and_heard_again(lab: Lab, process: Process, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(daemon.bus.pubsub, "POLL_S", 0.2)
    monkeypatch.setattr(daemon.bus.pubsub, "ANSWER_TIMEOUT_S", 0.2)
    monkeypatch.setattr("daemon.server.launch.REPLY_TIMEOUT_S", 0.2)
    server = (await lab.bus.call("INFO", "server"))["process_id"]
    async with process.listener.hear("t:a") as reader:
        await lab.subscribed("t:a")
        with anyio.fail_after(HANG_S):
            while await reader.next() is not None:
                """What it hears at first."""
        try:
            os.kill(server, signal.SIGSTOP)
            with capture_logs() as logs, anyio.fail_after(HANG_S):
                # For want of an answer to a ping, and then of one to a new connection; the log alone tells.
                while [line["event"] for line in logs].count("listener.lost") < 2:  # noqa: ASYNC110 - see there
                    await anyio.sleep(0.01)
        finally:
            os.kill(server, signal.SIGCONT)

        with anyio.fail_after(HANG_S):
            assert await reader.next() is None
        await lab.subscribed("t:a")
        await lab.bus.call("PUBLISH", "t:a", "after")
        assert await next_heard(reader) == b"after"


async def test_a_reader_that_falls_behind_loses_what_it_had_and_is_told() -> None:
    reader = Subscription()
    for number in range(BUFFER + 2):
        reader.put(str(number).encode())

    heard = [await reader.next() for _ in range(len(reader._heard))]

    assert None in heard and len(heard) <= BUFFER
    assert heard[-1] == str(BUFFER + 1).encode()
