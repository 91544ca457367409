"""The process that sends and shows is killed at any point: each reply is in its chat once, but for what is listed."""

import random
from collections import Counter
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from anyio import to_thread

from daemon.bus import Bus, open_bus
from daemon.config import RedisConfig
from tests.fakes.sink import Sink, sink
from tests.integration.test_outbox import ANN, NAME, unknown
from tests.integration.test_showing import commit, write
from tests.places import TEMPORARY
from tests.processes import Daemon, shut_down, start

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

LIMIT_S = 60.0
KILLS = 8
LONGEST_S = 0.8
"""From the first piece of a text until the reply is delivered, on a machine that has something else to do."""

CONFIG = """
data_dir = "{data}"
[queue]
lease_s = 1.5
renew_s = 0.2
wakeup_s = 1.0
backoff_min_s = 0.05
backoff_max_s = 0.3
[run]
grace_s = 5.0
[channels.{name}]
type = "testing"
url = "{url}"
send_timeout_s = 0.5
part_max_chars = 80
"""


def texts_of(number: int) -> tuple[str, str]:
    """The first part of a reply and the second."""
    first = f"Reply {number:02} says this, which is shown while it is written, in a part of its own. "
    return first, f"And {number:02} ends here."


async def test_a_killed_process_leaves_each_reply_in_its_chat_once_or_lists_it() -> None:
    rng = random.Random(7)
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as name:
        folder = Path(name)
        try:
            async with open_bus(RedisConfig(), folder) as bus, sink() as platform:
                (folder / "millpond.toml").write_text(CONFIG.format(data=folder, name=NAME, url=platform.url))
                for number in range(KILLS):
                    await round_with_a_kill(folder, bus, platform, number, after_s=rng.uniform(0.0, LONGEST_S))
                await see_all_is_well(bus, platform)
        finally:
            await to_thread.run_sync(shut_down, folder)


async def round_with_a_kill(folder: Path, bus: Bus, platform: Sink, number: int, *, after_s: float) -> None:
    """A text is written, something said aside, the reply committed; meanwhile the process is killed."""
    first = await leading(folder, bus)
    async with anyio.create_task_group() as tg:
        tg.start_soon(talk, bus, number)
        await anyio.sleep(after_s)
        await to_thread.run_sync(first.kill)
    second = await leading(folder, bus)
    with anyio.fail_after(LIMIT_S):
        while await bus.call("XLEN", bus.keys.out(0, NAME)):  # noqa: ASYNC110 - the server sends no event for it
            await anyio.sleep(0.02)
    await to_thread.run_sync(second.kill)
    await platform.settled()


async def talk(bus: Bus, number: int) -> None:
    first, second = texts_of(number)
    for at, upto in enumerate((50, 60, 70)):
        await write(bus, first[:upto], turn=number, sequence=at)
        await anyio.sleep(0.1)
    if number % 2:
        await commit(bus, f"aside {number:02}", kind=f"aside-{number}")
        await anyio.sleep(0.2)
    await commit(bus, first + second, turn=number)


async def leading(folder: Path, bus: Bus) -> Daemon:
    """A process that leads."""
    arguments = ("--role", "channels")
    fence = await bus.call("HGET", bus.keys.leader(0, NAME), "fence")
    file = str(folder / "millpond.toml")
    daemon = await to_thread.run_sync(partial(start, folder, *arguments, web=False, MILLPOND_CONFIG=file))
    with anyio.fail_after(LIMIT_S):
        while await bus.call("HGET", bus.keys.leader(0, NAME), "fence") == fence:  # noqa: ASYNC110 - as above
            await anyio.sleep(0.01)
    return daemon


async def see_all_is_well(bus: Bus, platform: Sink) -> None:
    expected: list[str] = []
    for number in range(KILLS):
        expected += [f"aside {number:02}"] * (number % 2)
        expected += texts_of(number)
    actions = Counter(action for _, _, action in await unknown(bus))
    shown = platform.shown(ANN)
    told = [text for text in shown if text in expected]
    strays = [text for text in shown if text not in expected]

    assert sorted(set(told), key=told.index) == expected
    assert len(told) - len(expected) <= actions["resent"]
    assert len(strays) <= actions["preview"]
    assert set(actions) <= {"resent", "preview"}
    assert platform.acts_of("edit"), "nothing was shown"
