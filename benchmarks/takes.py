"""``millpond`` that notes how long it took to publish what a platform said: ``python -m benchmarks.takes run ...``.

The chat and the seconds of each update, from the adapter's hand into the queue, are written to ``$TAKES_FILE`` at the
end, as a JSON list of pairs.

It imports nothing of the tests, which take the environment's settings away.
"""

import atexit
import json
import os
import time
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path

from channels.arrival import Arrival
from channels.intake import Intake

_in_a_run = ContextVar("_in_a_run", default=False)
"""A run takes some of its arrivals one by one: they are measured as a part of it."""


def main() -> None:
    """See the module."""
    notes: list[tuple[str, float]] = []
    take, take_run = Intake.take, Intake.take_run

    async def timed(intake: Intake, arrival: Arrival) -> None:
        began = time.perf_counter()
        await take(intake, arrival)
        if not _in_a_run.get():
            notes.append((arrival.chat, time.perf_counter() - began))

    async def timed_run(intake: Intake, arrivals: Sequence[Arrival]) -> int:
        began, token = time.perf_counter(), _in_a_run.set(True)
        try:
            taken = await take_run(intake, arrivals)
        finally:
            _in_a_run.reset(token)
        # What is published together is there when all of it is.
        notes.extend([(arrivals[0].chat, time.perf_counter() - began)] * taken)
        return taken

    Intake.take, Intake.take_run = timed, timed_run  # type: ignore[method-assign]  # the product, unchanged
    atexit.register(lambda: Path(os.environ["TAKES_FILE"]).write_text(json.dumps(notes)))
    from millpond import main as millpond  # noqa: PLC0415 - its import reads the roles

    millpond()


if __name__ == "__main__":
    main()
