"""The consumer of ``session-grew``."""

from dataclasses import replace

import anyio
import pytest
from anyio.lowlevel import checkpoint

from daemon.errors import BusError
from daemon.process import Process
from tests.conftest import Lab
from tests.limits import HANG_S
from workers.consolidation.grew_reader import GROUP, Event, GrewReader
from workers.consolidation.service import serve


async def gone(lab: Lab) -> None:
    stream = lab.bus.keys.grew(0)
    with anyio.fail_after(HANG_S):
        while await lab.bus.call("XLEN", stream):  # noqa: ASYNC110 - it happens on the server
            await anyio.sleep(0.01)
    assert (await lab.bus.call("XPENDING", stream, GROUP))["pending"] == 0


async def consume(process: Process, lab: Lab) -> None:
    process = replace(process, stopping=anyio.Event())
    async with anyio.create_task_group() as tg:
        await tg.start(lambda *, task_status: serve(process, task_status=task_status))
        await gone(lab)
        process.stopping.set()


async def test_events_from_before_the_first_reader_are_read_and_removed(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    await lab.commit(await lab.claim())

    await consume(process, lab)


async def test_an_event_that_cannot_be_read_does_not_stop_the_others(process: Process, lab: Lab) -> None:
    await lab.bus.call("XADD", lab.bus.keys.grew(0), "*", "event", b"\xff{garbage")
    await lab.bus.call("XADD", lab.bus.keys.grew(0), "*", "wrong", "field")
    await lab.publish("a")
    await lab.commit(await lab.claim())

    await consume(process, lab)


async def test_a_stream_that_was_deleted_by_hand_is_made_again(process: Process, lab: Lab) -> None:
    process = replace(process, stopping=anyio.Event())
    async with anyio.create_task_group() as tg:
        await tg.start(lambda *, task_status: serve(process, task_status=task_status))
        await lab.publish("a")
        await lab.commit(await lab.claim())
        await gone(lab)
        await lab.bus.call("DEL", lab.bus.keys.grew(0))
        await lab.publish("b")
        await lab.commit(await lab.claim())
        await gone(lab)
        process.stopping.set()


async def test_what_came_between_the_end_of_a_stream_and_its_group_is_read_at_once(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a cluster all partitions are looked at now and then, whatever is heard of them: not in this test.
    monkeypatch.setattr("daemon.bus.cluster.LOOK_S", 60.0)
    reader, refused = GrewReader(lab.bus, consumer="one"), list[BusError]()

    async def heard() -> list[Event]:
        with anyio.fail_after(HANG_S):
            while True:
                await checkpoint()  # a read is shielded
                try:
                    if events := await reader.read():
                        return events
                except BusError as error:
                    refused.append(error)

    await lab.publish("a")
    await lab.commit(await lab.claim())
    [first] = await heard()
    await reader.remove(first[0], first[1])

    await lab.bus.call("DEL", lab.bus.keys.grew(0))
    await lab.publish("b")
    await lab.commit(await lab.claim())
    [second] = await heard()

    await reader.aclose()
    assert "NOGROUP" in str(refused[0])
    assert second[0] == 0
