"""What runs while a person may press Ctrl-C."""

import asyncio
import signal

import anyio
import anyio.lowlevel
import pytest

from daemon.setup.questions import run
from tests.tables import each_row


def test_it_gives_what_the_work_gives() -> None:
    async def work() -> int:
        await anyio.lowlevel.checkpoint()
        return 7

    assert run(work) == 7


async def interrupted() -> None:
    signal.raise_signal(signal.SIGINT)
    await anyio.sleep_forever()


async def interrupted_while_something_else_is_cancelled() -> None:
    signal.raise_signal(signal.SIGINT)
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await anyio.sleep_forever()


@each_row("work", [interrupted, interrupted_while_something_else_is_cancelled])
def test_ctrl_c_is_ctrl_c_whatever_is_under_way(work) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(work)
