"""A data directory for one measurement."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def data_dir() -> Iterator[Path]:
    """A new folder, removed after; the server that may still run in it ends by itself."""
    with TemporaryDirectory(prefix="millpond-bench-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
