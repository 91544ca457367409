"""What the disk takes for as little as possible, beside a measurement: whatever waits for it cannot be faster."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EVERY_S = 0.2
"""Often enough for a 99th percentile of two minutes, seldom enough to be no load: a sync waits for another one's."""

WRITTEN = b"x" * 512
"""About what the server appends for one message."""


@contextmanager
def synced_ms(folder: Path) -> Iterator[list[float]]:
    """What each write and sync of a small file in ``folder`` took meanwhile, milliseconds."""
    found, over = list[float](), threading.Event()

    def work() -> None:
        with (folder / "synced").open("ab", buffering=0) as file:
            while not over.wait(EVERY_S):
                began = time.perf_counter()
                file.write(WRITTEN)
                os.fsync(file.fileno())
                found.append((time.perf_counter() - began) * 1000)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()
