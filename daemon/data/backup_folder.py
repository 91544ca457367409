"""A backup on disk: its manifest, records and files, checked before they are used. All functions block."""

import gzip
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from daemon.bus.migrations import SCHEMA
from daemon.concurrency.concurrent_calls import AT_ONCE
from daemon.data.backup import FILES, MANIFEST, REDIS
from daemon.data.backup_records import (
    FORMAT,
    FileTaken,
    LogTaken,
    Manifest,
    SessionTaken,
    Taken,
    decode,
    decode_file,
    decode_manifest,
)
from daemon.data.file_copy import sha256_of
from daemon.errors import UNREADABLE, DataError


def manifest_of(folder: Path) -> Manifest:
    """The manifest of a backup; its lists describe the written files.

    Raises:
        DataError: it is no backup, is not whole, or a newer Millpond wrote it.
    """
    try:
        manifest = decode_manifest((folder / MANIFEST).read_bytes())
        spoilt = [name for name, digest in manifest.sha256.items() if sha256_of(folder / name) != digest]
    except FileNotFoundError:
        raise DataError(
            f"{folder} is not a complete backup: {MANIFEST}, which is written last, was not found. Specify another "
            "folder, or create a new backup with `millpond data backup`."
        ) from None
    except (OSError, *UNREADABLE) as error:
        raise DataError(f"{folder / MANIFEST} cannot be read: {error}. Use another backup.") from error
    if manifest.format > FORMAT or manifest.schema > SCHEMA:
        raise DataError(
            f"{folder} was written by a newer version of Millpond ({manifest.millpond}: format "
            f"{manifest.format}, schema "
            f"{manifest.schema}; this version supports format {FORMAT} and schema {SCHEMA}). Restore the backup with "
            f"Millpond {manifest.millpond} or newer."
        )
    if spoilt:
        raise DataError(f"{folder}: the checksum of {', '.join(spoilt)} does not match. Use another backup.")
    return manifest


def records_of(folder: Path, manifest: Manifest) -> Iterator[Taken]:
    """All records that count: of a session that was read again the last one.

    Raises:
        DataError: they are not what was written.
    """
    try:
        with gzip.open(folder / REDIS) as lines:
            # No line outlives its record: that of a long log is large.
            for record in map(decode, lines):
                if isinstance(record, SessionTaken | LogTaken) and record.taken != manifest.retaken.get(record.name, 0):
                    continue
                yield record
    except (OSError, EOFError, zlib.error, *UNREADABLE) as error:
        raise DataError(f"{folder / REDIS} cannot be read: {error}. Use another backup.") from error


def together(records: Iterator[Taken]) -> list[Taken]:
    """The next records, which may be handled at the same time; none at the end. A part of a long log ends them.

    Errors as for ``records_of``.
    """
    found = list[Taken]()
    for record in islice(records, AT_ONCE):
        found.append(record)
        if isinstance(record, LogTaken):
            break
    return found


def files_of(folder: Path) -> Iterator[FileTaken]:
    """The files of a backup, by path. Errors as for ``records_of``."""
    try:
        with (folder / FILES).open("rb") as lines:
            for line in lines:
                taken = decode_file(line)
                parts = [*taken.path.split("/"), *taken.restored_path.split("/")]
                if any(part in ("", ".", "..") for part in parts) or "\0" in taken.restored_path:
                    raise DataError(
                        f"{folder / FILES} lists {taken.path!r}, which is not a valid file name in a backup"
                    )
                yield taken
    except (OSError, *UNREADABLE) as error:
        raise DataError(f"{folder / FILES} cannot be read: {error}. Use another backup.") from error
