"""The process that sends and shows is killed at any point: each reply is in its chat once, but for what is listed."""

from collections import Counter
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from anyio import to_thread

from daemon.bus import Bus, open_bus
from daemon.config import RedisConfig
from tests.fakes.sink import Sink, sink
from tests.integration.test_outbox import ANN, NAME, unknown
from tests.integration.test_showing import commit, write
from tests.limits import HANG_S, until
from tests.places import TEMPORARY
from tests.processes import Daemon, shut_down, start

ROUNDS = [(pieces, sending, aside) for pieces in range(4) for sending, aside in ((False, True), (True, False))]
"""How much of a text was shown, whether sending the reply has begun when the process is killed, what is said aside."""

CONFIG = """
data_dir = "{data}"
[queue]
lease_s = 15.0
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
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as name:
        folder = Path(name)
        try:
            async with open_bus(RedisConfig(), folder) as bus, sink() as platform:
                (folder / "millpond.toml").write_text(CONFIG.format(data=folder, name=NAME, url=platform.url))
                daemon = await leading(folder, bus)
                for number in range(len(ROUNDS)):
                    daemon = await round_with_a_kill(folder, bus, platform, number, daemon)
                await to_thread.run_sync(daemon.kill)
                await see_all_is_well(bus, platform)
        finally:
            await to_thread.run_sync(shut_down, folder)


async def round_with_a_kill(folder: Path, bus: Bus, platform: Sink, number: int, daemon: Daemon) -> Daemon:
    """A text is written, something said aside, the reply committed; meanwhile the process is killed; its successor."""
    pieces, sending, aside = ROUNDS[number]
    first, second = texts_of(number)
    for at, upto in enumerate((50, 60, 70)[:pieces]):
        text = first[:upto]
        await write(bus, text, turn=number, sequence=at)
        await until(lambda text=text: text in platform.shown(ANN))
    before = sent(platform)
    if aside:
        await commit(bus, f"aside {number:02}", kind=f"aside-{number}")
    await commit(bus, first + second, turn=number)
    if sending:
        await until(lambda: sent(platform) > before)
    await to_thread.run_sync(daemon.kill)
    successor = await leading(folder, bus)
    with anyio.fail_after(HANG_S):
        while await bus.call("XLEN", bus.keys.out(0, NAME)):  # noqa: ASYNC110 - the server sends no event for it
            await anyio.sleep(0.01)
    await platform.settled(within_s=HANG_S)
    return successor


def sent(platform: Sink) -> int:
    return len(platform.posts) + len(platform.acts_of("edit"))


async def leading(folder: Path, bus: Bus) -> Daemon:
    """A process that leads; the lease of the one before has run out."""
    arguments = ("--role", "channels")
    fence = await bus.call("HGET", bus.keys.leader(0, NAME), "fence")
    await bus.call("HSET", bus.keys.leader(0, NAME), "deadline", 0)
    file = str(folder / "millpond.toml")
    daemon = await to_thread.run_sync(partial(start, folder, *arguments, web=False, MILLPOND_CONFIG=file))
    with anyio.fail_after(HANG_S):
        while await bus.call("HGET", bus.keys.leader(0, NAME), "fence") == fence:  # noqa: ASYNC110 - as above
            await anyio.sleep(0.01)
    return daemon


async def see_all_is_well(bus: Bus, platform: Sink) -> None:
    expected: list[str] = []
    for number, (_, _, aside) in enumerate(ROUNDS):
        expected += [f"aside {number:02}"] * aside
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
