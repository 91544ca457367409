"""The storage that the configuration names."""

from pathlib import Path

from daemon.archive.local import LocalStorage
from daemon.archive.shelf import FOLDER
from daemon.archive.storage import Storage
from daemon.config import ArchiveConfig


def storage_of(config: ArchiveConfig, data_dir: Path) -> Storage:
    """The storage; nothing is touched yet.

    Raises:
        ConfigError: the address cannot be used.
    """
    return LocalStorage(data_dir, FOLDER)
