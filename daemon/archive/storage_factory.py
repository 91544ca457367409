"""The storage that the configuration names."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from daemon.archive.local_storage import LocalStorage
from daemon.archive.object_storage import object_storage
from daemon.archive.shelf import FOLDER
from daemon.archive.storage import Storage
from daemon.config import ArchiveConfig


def storage_of(config: ArchiveConfig, data_dir: Path) -> Storage:
    """The storage; nothing is touched yet.

    Raises:
        ConfigError: the address cannot be used.
    """
    if not config.url:
        return LocalStorage(data_dir, FOLDER)
    parts = urlsplit(config.url.reveal())
    if parts.scheme == "file":
        # Written by ourselves: the library's own local store does not sync what it writes to the disk.
        return LocalStorage(Path(unquote(parts.path)))
    return object_storage(config.url, allow_http=config.allow_http)
