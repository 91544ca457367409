"""Answers shown while they are written, on a real server with a fake platform: one message that becomes the reply."""

from typing import Any

import anyio
import msgspec
import pytest

from daemon.bus import Bus
from daemon.config import QueueConfig
from daemon.events import Live, Moved, Reply
from daemon.process import Process
from tests.fakes.sink import sink
from tests.integration.test_outbox import ANN, LIMIT_S, NAME, marks, pushing, replica, unknown, until, until_empty

pytestmark = pytest.mark.anyio

TEXT = "The answer begins with words that are many enough to be shown at once"


@pytest.fixture
def queue() -> QueueConfig:
    """Leases that a busy machine keeps, and short rests."""
    return QueueConfig(lease_s=2.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)


async def write(bus: Bus, text: str, *, session: str = ANN, turn: int = 0, fence: int = 1, sequence: int = 0) -> None:
    """A worker publishes all that it has written so far."""
    live = msgspec.json.encode(Live(session=session, turn=turn, fence=fence, sequence=sequence, offset=0, text=text))
    await bus.call("SET", bus.keys.live(session), live, "PX", 60_000)
    await bus.call("PUBLISH", bus.keys.events(session), live)


async def commit(bus: Bus, text: str, *, session: str = ANN, turn: int = 0, kind: str = "", **more: Any) -> str:
    """A turn's reply, or what is said aside, is committed; its id."""
    reply_id = f"{session}#{kind or turn}"
    reply = Reply(id=reply_id, session=session, turn=turn, text=text, correlation="c", **more)
    await bus.call("XADD", bus.keys.out(bus.keys.partition(session), NAME), "*", "reply", msgspec.json.encode(reply))
    return reply_id


async def end_turn(bus: Bus, *, session: str = ANN, head: int = 2) -> None:
    await bus.call(
        "PUBLISH", bus.keys.events(session), msgspec.json.encode(Moved(session=session, head=head, cursor=0))
    )


async def leads(process: Process) -> None:
    """Wait until somebody leads, and hears what is written."""
    bus = process.bus
    with anyio.fail_after(LIMIT_S):
        while not await bus.call("HEXISTS", bus.keys.leader(0, NAME), "nonce"):  # noqa: ASYNC110 - no event tells of it
            await anyio.sleep(0.005)
        while not await bus.call("PUBSUB", "NUMPAT"):  # noqa: ASYNC110 - as above
            await anyio.sleep(0.005)


async def test_what_is_being_written_is_shown_and_becomes_the_reply(process: Process) -> None:
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        await write(process.bus, TEXT)
        await platform.count(1)
        assert platform.shown(ANN) == [TEXT]
        await write(process.bus, f"{TEXT} and goes on", sequence=1)
        await until(lambda: platform.shown(ANN) == [f"{TEXT} and goes on"])
        reply = await commit(process.bus, f"{TEXT} and ends.")
        await until_empty(process.bus)

        assert platform.shown(ANN) == [f"{TEXT} and ends."]
        assert len(platform.delivered) == 1
        assert await marks(process.bus, reply) == {"0": "sent m1", "preview": "shown 1"}
        assert await unknown(process.bus) == []
