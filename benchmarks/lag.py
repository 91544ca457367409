"""How late an event loop is, noted in the very process that works: a program of its own, see ``benchmarks.lags``.

``python -m benchmarks.lag run --role agent --role lag`` is ``millpond`` with one more role, which sleeps a millisecond
over and over and notes how much longer it took, and what CPU time the loop's thread used meanwhile. ``python -m
benchmarks.lag bare`` does that and nothing else. Both write what they noted to ``$LAG_FILE`` when they are told to
stop.

It imports nothing of the tests, which take the environment's settings away.
"""

import os
import signal
import sys
import time
from array import array

import anyio
import anyio.abc

from daemon.process import Process
from daemon.services import ROLES

TICK_S = 0.001


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """The role ``lag``."""
    task_status.started()
    await _note_until(process.stopping)


async def _note_until(told: anyio.Event) -> None:
    notes = array("d")  # no objects: the notes must not make the collector's work longer
    due, used = time.monotonic() + TICK_S, time.thread_time()
    while not told.is_set():
        await anyio.sleep(TICK_S)
        now, used_now = time.monotonic(), time.thread_time()
        notes.extend((now, max(0.0, now - due), used_now - used))
        due, used = now + TICK_S, used_now
    await anyio.Path(os.environ["LAG_FILE"]).write_bytes(notes.tobytes())


async def _bare() -> None:
    told = anyio.Event()
    async with anyio.create_task_group() as tg:
        with anyio.open_signal_receiver(signal.SIGTERM) as signals:
            tg.start_soon(_note_until, told)
            await anext(signals)
            told.set()


def main() -> None:
    """Either of the two; see the module."""
    if sys.argv[1:] == ["bare"]:
        anyio.run(_bare)
        return
    ROLES["lag"] = "benchmarks.lag:serve"
    from millpond import main as millpond  # noqa: PLC0415 - its import reads the roles

    millpond()


if __name__ == "__main__":
    main()
