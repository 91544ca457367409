"""One process: a connection, one task group for its services, and an orderly end."""

import gc
import signal
import sys
from asyncio import selector_events
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import anyio
import structlog

from daemon import metrics
from daemon.bus import START_PATIENCE_S, Bus, Listener, open_bus
from daemon.concurrency import until_tick
from daemon.config import Config
from daemon.errors import Interrupted, MillpondError
from daemon.process import Launch, Process
from daemon.rates import record
from daemon.services import Service

SWITCH_AFTER_S = 0.0005
"""How long a thread that computes keeps the interpreter from the event loop, which takes it anew after each call
of the system: by Python's own 5 ms, ten such calls beside a thread that compiles expressions were a stall of 50 ms."""

COLLECT_AFTER = (10_000, 20, 20)
"""New objects after which the garbage collector looks at the young ones, and such passes before it looks at older ones.
A turn makes thousands that are in no cycle; at Python's 700 the collector takes a tenth of a busy process's time."""

READ_BYTES = 64 * 1024
"""Most that the event loop reads from a socket at once. Python asks for memory of 256 kB, which glibc maps and unmaps
for each read: from 128 kB on (mallopt(3), M_MMAP_THRESHOLD). This takes 20 instead of 4 µs."""

MIND_EVERY_S = 5.0
"""How often the embedded server and its keeper are looked after, also while nothing seems wrong."""

LAST_S = 5.0
"""What services get beyond the grace time to hand over, before they are cancelled."""

_log = structlog.get_logger()


@asynccontextmanager
async def open_process(
    config: Config,
    data_dir: Path,
    *,
    announce: Callable[[str], None] = lambda _line: None,
    invite: Callable[[str], None] | None = None,
    launch: Launch | None = None,
    patience_s: float = START_PATIENCE_S,
) -> AsyncGenerator[Process]:
    """A connected process without services; ``patience_s`` and errors as for ``open_bus``."""
    if transport := vars(selector_events).get("_SelectorTransport"):  # asyncio has no setting for it
        transport.max_size = READ_BYTES
    async with open_bus(config.redis, data_dir, patience_s=patience_s) as bus, anyio.create_task_group() as tg:
        listener = Listener(bus)
        tg.start_soon(listener.run)
        tg.start_soon(_mind_server, bus)
        process = Process(config=config, data_dir=data_dir, bus=bus, listener=listener, announce=announce)
        yield replace(process, invite=invite, launch=launch)
        tg.cancel_scope.cancel()


async def _mind_server(bus: Bus) -> None:
    while True:
        await anyio.sleep(until_tick(MIND_EVERY_S))
        with suppress(MillpondError):  # whoever needs the server is told
            await bus.revive()


async def run_services(
    process: Process, services: Sequence[Service], *, beside: Sequence[Service] = (), signals: bool = True
) -> None:
    """Run ``services`` until each has ended: after a signal, or when one of them sets ``process.stopping``.

    What runs ``beside`` them goes on until the last of them has ended, and is cancelled then.
    """
    gc.set_threshold(*COLLECT_AFTER)
    sys.setswitchinterval(SWITCH_AFTER_S)
    grace = anyio.CancelScope()
    async with anyio.create_task_group() as background:
        if signals:
            await background.start(_watch_signals, process)
        background.start_soon(_limit_stop, process, grace)
        background.start_soon(metrics.watch_loop)
        background.start_soon(process.ledger.run)
        background.start_soon(record, process.bus, process.clock, process.name)
        for serve in beside:
            await background.start(serve, process)
        async with anyio.create_task_group() as tg:
            async with anyio.create_task_group() as starting:
                # At once: what one of them loads in a thread holds up no other.
                for serve in services:
                    starting.start_soon(tg.start, serve, process)
            process.started.set()
            _log.info("process.started", worker=process.name)
        await _write_accounts(process, grace)
        background.cancel_scope.cancel()
    _log.info("process.stopped", worker=process.name)


async def _write_accounts(process: Process, grace: anyio.CancelScope) -> None:
    """Write what Redis has not taken yet of what model calls used, as long as the grace time lasts."""
    try:
        with grace:
            grace.deadline = min(grace.deadline, anyio.current_time() + process.config.run.grace_s)
            await process.ledger.written()
    finally:
        process.ledger.close()


async def _watch_signals(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
        task_status.started()
        async for number in received:
            if process.launch is not None and process.launch.again is not None:
                _log.info("process.stopping", reason=number.name)
                process.launch.again = None
                continue
            if process.stopping.is_set():
                _log.warning("process.killed", reason=number.name)
                raise Interrupted(f"a second {number.name} signal stopped the process immediately")
            _log.info("process.stopping", reason=number.name)
            process.stopping.set()


async def _limit_stop(process: Process, grace: anyio.CancelScope) -> None:
    """End what does not end by itself; ``grace`` ends with the grace time."""
    await process.stopping.wait()
    grace.deadline = anyio.current_time() + process.config.run.grace_s
    await anyio.sleep(process.config.run.grace_s + LAST_S)
    raise TimeoutError("part of this process did not stop within the grace period")
