"""A data directory for one measurement."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.places import MEMORY
from tests.processes import shut_down


@contextmanager
def notes_dir() -> Iterator[Path]:
    """A new folder for what a benchmark and its fakes note, removed after; in memory, where there is one.

    Each sync of the server's log would write such a file as well, if both were on one disk.
    """
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Path(folder)


@contextmanager
def data_dir() -> Iterator[Path]:
    """A new folder, removed after, and the server that ran in it ended before."""
    with TemporaryDirectory(prefix="millpond-bench-", ignore_cleanup_errors=True) as folder:
        try:
            yield Path(folder)
        finally:
            shut_down(Path(folder))
