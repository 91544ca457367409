"""``millpond`` that notes how long it took to publish what a platform said: ``python -m benchmarks.takes run ...``.

The seconds of each update, from the adapter's hand into the queue, are written to ``$TAKES_FILE`` at the end,
those of chats below ``$TAKES_BELOW``: a flood is measured by what it costs others.

It imports nothing of the tests, which take the environment's settings away.
"""

import atexit
import os
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

from channels.arrival import Arrival
from channels.intake import Intake


def main() -> None:
    """See the module."""
    notes, take_run = array("d"), Intake.take_run
    below = int(os.environ["TAKES_BELOW"])

    async def timed(intake: Intake, arrivals: Sequence[Arrival]) -> int:
        began = time.perf_counter()
        taken = await take_run(intake, arrivals)
        if int(arrivals[0].chat) < below:
            # What is published together is there when all of it is.
            notes.extend([time.perf_counter() - began] * taken)
        return taken

    Intake.take_run = timed  # type: ignore[method-assign]  # what is measured is the product, unchanged
    atexit.register(lambda: Path(os.environ["TAKES_FILE"]).write_bytes(notes.tobytes()))
    from millpond import main as millpond  # noqa: PLC0415 - as the others do

    millpond()


if __name__ == "__main__":
    main()
