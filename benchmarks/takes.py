"""``millpond`` that notes how long it took to publish what a platform said: ``python -m benchmarks.takes run ...``.

The seconds of each update, from the adapter's hand into the queue, are written to ``$TAKES_FILE`` at the end.

It imports nothing of the tests, which take the environment's settings away.
"""

import atexit
import os
import time
from array import array
from pathlib import Path

from channels.arrival import Arrival
from channels.intake import Intake


def main() -> None:
    """See the module."""
    notes, take = array("d"), Intake.take

    async def timed(intake: Intake, arrival: Arrival) -> None:
        began = time.perf_counter()
        await take(intake, arrival)
        notes.append(time.perf_counter() - began)

    Intake.take = timed  # type: ignore[method-assign]
    atexit.register(lambda: Path(os.environ["TAKES_FILE"]).write_bytes(notes.tobytes()))
    from millpond import main as millpond  # noqa: PLC0415 - as the others do

    millpond()


if __name__ == "__main__":
    main()
