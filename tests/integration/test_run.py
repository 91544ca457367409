"""A process, from its connection to its end."""

import asyncio
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from daemon.config import Config, RedisConfig
from daemon.process import Process
from daemon.run import READ_BYTES, SWITCH_AFTER_S, open_process, run_services
from daemon.services import Service
from daemon.tokens import Tokenizer
from tests.limits import HANG_S
from tests.tables import each_row
from workers.agent import bot_runtime
from workers.agent.service import serve as answer
from workers.consolidation import consolidation_kits
from workers.consolidation.service import serve as consolidate

PYTHONS_OWN_S = 0.005  # docs.python.org/3/library/sys.html#sys.setswitchinterval


@pytest.fixture
def as_python_comes() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(PYTHONS_OWN_S)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("as_python_comes")
async def test_threads_that_compute_leave_the_interpreter_to_the_event_loop(redis: tuple[RedisConfig, Path]) -> None:
    config, data_dir = redis
    intervals: list[float] = []

    async def look(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        intervals.append(sys.getswitchinterval())
        task_status.started()

    async with open_process(Config(redis=config), data_dir) as process:
        await run_services(process, [look], signals=False)

    assert intervals == pytest.approx([SWITCH_AFTER_S])
    assert SWITCH_AFTER_S <= PYTHONS_OWN_S / 10


async def test_the_event_loop_reads_sockets_in_small_pieces(redis: tuple[RedisConfig, Path]) -> None:
    config, data_dir = redis
    pieces: list[int] = []
    received = anyio.Event()

    class Pieces(asyncio.Protocol):
        def data_received(self, data: bytes) -> None:
            pieces.append(len(data))
            if sum(pieces) == 2 * READ_BYTES:
                received.set()

    async with open_process(Config(redis=config), data_dir):
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        transport, _ = await loop.create_connection(Pieces, sock=ours)
        with theirs, anyio.fail_after(HANG_S):
            await loop.sock_sendall(theirs, bytes(2 * READ_BYTES))
            await received.wait()
        transport.close()

    assert max(pieces) <= READ_BYTES


@each_row("serve", [answer, consolidate])
async def test_a_process_that_is_stopped_while_it_loads_gives_the_loading_up(
    process: Process, monkeypatch: pytest.MonkeyPatch, serve: Service
) -> None:
    process = replace(process, stopping=anyio.Event(), started=anyio.Event())
    loading, never = anyio.Event(), threading.Event()

    async def load(_model_name: str) -> Tokenizer:
        loading.set()
        await to_thread.run_sync(never.wait, HANG_S, abandon_on_cancel=True)
        raise AssertionError("the loading went on")

    for kits in (bot_runtime, consolidation_kits):
        monkeypatch.setattr(kits, "load", load)

    with anyio.fail_after(HANG_S):
        async with anyio.create_task_group() as tg:
            tg.start_soon(partial(run_services, process, [serve], signals=False))
            await loading.wait()
            process.stopping.set()
    never.set()
