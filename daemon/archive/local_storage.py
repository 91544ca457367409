"""The archive on a folder of this machine, or of a file system that several share: written by us, fsynced, renamed."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import anyio

from daemon.archive.storage import FILE_MAX_BYTES, STORAGE_LIMIT_S, Kind, StoredFile
from daemon.concurrency import Threads
from daemon.durable import DRAFT, folder_below, folder_lock, plain_file, write_whole
from daemon.errors import ArchiveError, ArchiveMissing, ArchiveUnavailable

LOCK_WAIT_S = 10.0

THREADS = 4
"""Calls at a time: a disk that hangs holds up the archive, and nothing else of the process."""

DELETED = 500
"""Files that are deleted in one call."""

_T = TypeVar("_T")


class LocalStorage:
    """Files below a folder, which is made when something is put there."""

    kind: Kind = "local"

    def __init__(self, root: Path, *inside: str) -> None:
        """The folder ``inside`` of ``root``, which may be a link itself, and nothing below it."""
        self._base, self._inside = root, inside
        self._root = root.joinpath(*inside)
        self._threads = Threads(THREADS)
        self._was_written = False
        """Whether the folder existed for a write of this process; it is not made again then."""

    @property
    def where(self) -> str:
        """See ``Storage``."""
        return str(self._root)

    async def create(self, name: str, content: bytes) -> bool:
        """See ``Storage``."""
        return await self._run(lambda: self._write(name, content, replace=False), name)

    async def put(self, name: str, content: bytes) -> None:
        """See ``Storage``."""
        await self._run(lambda: self._write(name, content, replace=True), name)

    async def get(self, name: str, *, max_bytes: int = FILE_MAX_BYTES) -> bytes:
        """See ``Storage``."""
        try:
            return await self._run(lambda: self._read(name, max_bytes), name)
        except ArchiveError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise ArchiveMissing(f"{self._root / name} was not found. Restore the file from a backup.") from error
            raise

    async def list(self, folder: str) -> Sequence[StoredFile]:
        """See ``Storage``."""
        return await self._run(lambda: self._listed(folder), f"{folder}/")

    async def folders(self) -> Sequence[str]:
        """See ``Storage``."""
        return await self._run(self._folders, "")

    async def delete(self, *names: str) -> None:
        """See ``Storage``."""
        by_folder = dict[str, list[str]]()
        for name in names:
            by_folder.setdefault(name.rpartition("/")[0], []).append(name)
        for inside in by_folder.values():
            for first in range(0, len(inside), DELETED):
                await self._delete(inside[first : first + DELETED])

    def _write(self, name: str, content: bytes, *, replace: bool) -> bool:
        folders, file = _parted(self._inside, name)
        if self._was_written:
            # Made again, the folder of a lost mount would hide what is written until the mount is back.
            with folder_below(self._base, *self._inside, make=False):
                pass
        with (
            folder_below(self._base, *folders, make=True) as folder,
            folder_lock(folder, wait_s=LOCK_WAIT_S),
        ):
            if not replace and _is_there(folder, file):
                return False
            write_whole(folder, file, content)
        self._was_written = True
        return True

    def _read(self, name: str, max_bytes: int) -> bytes:
        folders, file = _parted(self._inside, name)
        with (
            folder_below(self._base, *folders, make=False) as folder,
            plain_file(folder, file) as descriptor,
        ):
            if os.fstat(descriptor).st_size > max_bytes:
                raise ArchiveError(
                    f"{self._root / name} is larger than the file that Millpond wrote. Restore the file from a backup."
                )
            with open(descriptor, "rb", closefd=False) as content:
                return content.read(max_bytes)

    def _listed(self, folder: str) -> Sequence[StoredFile]:
        found: list[StoredFile] = []
        with suppress(FileNotFoundError), folder_below(self._base, *self._inside, folder, make=False) as opened:
            for file in sorted(os.listdir(opened)):  # noqa: PTH208 - a descriptor
                if file == DRAFT:
                    continue
                with suppress(FileNotFoundError):
                    state = os.stat(file, dir_fd=opened, follow_symlinks=False)
                    found.append(StoredFile(name=f"{folder}/{file}", modified_s=state.st_mtime, size=state.st_size))
        return found

    def _folders(self) -> Sequence[str]:
        try:
            with folder_below(self._base, *self._inside, make=False) as opened, os.scandir(opened) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return []

    async def _delete(self, names: Sequence[str]) -> None:
        """Delete files of one folder, which is synced once for all of them."""
        folders = _parted(self._inside, names[0])[0]

        def work() -> None:
            with (
                suppress(FileNotFoundError),
                folder_below(self._base, *folders, make=False) as folder,
                folder_lock(folder, wait_s=LOCK_WAIT_S),
            ):
                for name in names:
                    with suppress(FileNotFoundError):
                        os.unlink(_parted(self._inside, name)[1], dir_fd=folder)
                os.fsync(folder)

        await self._run(work, names[0])

    async def _run(self, work: Callable[[], _T], name: str) -> _T:
        folder = self._root / name.rpartition("/")[0]
        try:
            with anyio.fail_after(STORAGE_LIMIT_S):
                return await self._threads.run(work)
        except TimeoutError as error:
            raise ArchiveUnavailable(
                f"{folder}: the disk did not respond for {STORAGE_LIMIT_S:.0f} s. Check the disk."
            ) from error
        except OSError as error:
            reason = error.strerror or type(error).__name__
            file = f" ({error.filename})" if error.filename else ""
            raise ArchiveUnavailable(
                f"the archive in {folder} cannot be used: {reason}{file}. Free some disk space, or "
                "correct the permissions."
            ) from error


def _parted(inside: Sequence[str], name: str) -> tuple[tuple[str, ...], str]:
    *folders, file = name.split("/")
    if len(folders) > 1 or not all(part.strip(".") for part in (*folders, file)):
        raise ValueError(f"{name!r} is not the name of an archive file")
    return (*inside, *folders), file


def _is_there(folder: int, file: str) -> bool:
    try:
        os.stat(file, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
