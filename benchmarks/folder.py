"""A data directory for one measurement."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.processes import shut_down


@contextmanager
def data_dir() -> Iterator[Path]:
    """A new folder, removed after, and the server that ran in it ended before."""
    with TemporaryDirectory(prefix="millpond-bench-", ignore_cleanup_errors=True) as folder:
        try:
            yield Path(folder)
        finally:
            shut_down(Path(folder))
