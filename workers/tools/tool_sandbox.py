"""The files of a bot's workspace that the tools of a turn can reach. Other files of the machine are out of reach.

A path of a model is resolved below the workspace. ``skills/…``, ``memory/…`` (of the scope) and the bootstrap files,
which a prompt may contain only in part, are read-only. All other paths lie in ``files/<scope>/``. Each part of a path
is opened on its own, below the folder opened before it, and never through a link, so that a link that is swapped in
between a check and the use is not followed either.
"""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from daemon.durable import private_folder
from daemon.errors import ToolError
from daemon.scope import folder_of

PATH_MAX_CHARS = 1_024
NAME_MAX_BYTES = 255
"""Longest name that file systems accept."""

DEPTH_MAX = 32
"""Deepest nesting of folders."""

FOLDER_MODE, FILE_MODE = 0o700, 0o600
"""Only the user of the process may read files of conversations."""

BOOTSTRAP_FILES = ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md")
"""Files of the workspace that every prompt of a bot contains, in this order."""

READ_ONLY = ("skills", "memory", *BOOTSTRAP_FILES)
"""First parts of paths that are outside the folder of a scope's own files."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe would wait for its other end forever.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, kw_only=True)
class Place:
    """A path of a model, checked but not opened."""

    path: str
    """The path in messages: relative, with ``/``."""
    root: tuple[str, ...]
    """Names below the workspace that the model cannot choose."""
    names: tuple[str, ...]
    """Names below the root, each a plain file name."""
    writable: bool

    def below(self, name: str) -> "Place":
        """The entry of that name in this folder."""
        path = f"{self.path}/{name}" if self.path else name
        return Place(path=path, root=self.root, names=(*self.names, name), writable=self.writable)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An entry of a folder."""

    name: str
    folder: bool
    size_bytes: int


class Folders:
    """The places of one scope in one bot's workspace. All methods block: call them in a thread."""

    def __init__(self, workspace: Path, scope: str) -> None:
        self._workspace = workspace
        name = folder_of(scope)
        self._files = ("files", name)
        # The memory of the workspace lies next to the folders of all scopes, so its own files are those in no folder.
        self._flat = scope.endswith(":workspace") and scope.count(":") == 1
        self._memory = ("memory",) if self._flat else ("memory", name)

    def place(self, path: str) -> Place:
        """The place that ``path`` names.

        Raises:
            ToolError: nothing that tools could reach.
        """
        names = _names(path)
        shown = "/".join(names)
        if names[:1] == ("skills",):
            return Place(path=shown, root=("skills",), names=names[1:], writable=False)
        if names[:1] == ("memory",):
            if self._flat and len(names) > 2:
                raise ToolError(f"{shown} was not found. List the files to see the existing paths.")
            return Place(path=shown, root=self._memory, names=names[1:], writable=False)
        if names and names[0] in BOOTSTRAP_FILES:
            if len(names) > 1:
                raise ToolError(f"{shown} was not found. List the files to see the existing paths.")
            return Place(path=shown, root=(), names=names, writable=False)
        return Place(path=shown, root=self._files, names=names, writable=True)

    def in_workspace(self, place: Place) -> str:
        """The path of a place relative to the workspace, for code that reads the file from there."""
        return "/".join((*place.root, *place.names))

    def entries(self, place: Place) -> list[Entry]:
        """Files and folders in a folder, sorted by name, without links, pipes and devices.

        Raises:
            ToolError: the folder does not exist or cannot be read.
        """
        if self._hidden(place) and place.names:
            raise ToolError(f"{place.path} was not found. List the files to see the existing paths.")
        if not place.root:
            raise ToolError(f"{place.path} is not a folder.")
        with translated(place), self._walk((*place.root, *place.names)) as folder:
            found = [entry for name in sorted(_names_in(folder)) if (entry := _entry(name, folder)) is not None]
        return [entry for entry in found if not (entry.folder and self._hidden(place))]

    @contextmanager
    def opened(self, place: Place) -> Generator[int]:
        """A descriptor of a plain file, for reading.

        Raises:
            ToolError: it is not a plain file, or cannot be read.
        """
        with translated(place):
            descriptor = self._open(place)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def changing(self, place: Place, *, make: bool) -> Generator[int]:
        """A descriptor of the folder that holds ``place``, which must be writable; ``make`` creates missing folders.

        Raises:
            ToolError: the folder is not writable.
        """
        if not place.writable:
            raise ToolError(f"{place.path} is read-only.")
        if not place.names:
            raise ToolError("The path must name a file, for example notes/today.md.")
        with translated(place):
            if make:
                private_folder(self._workspace)
            with self._walk((*place.root, *place.names[:-1]), make=make) as folder:
                yield folder

    def _open(self, place: Place) -> int:
        if not place.names:
            raise IsADirectoryError(errno.EISDIR, "a folder")
        with self._walk((*place.root, *place.names[:-1])) as folder:
            # Checked before opening too, because opening a device can have an effect.
            _only_plain(os.stat(place.names[-1], dir_fd=folder, follow_symlinks=False), place)
            descriptor = os.open(place.names[-1], _FILE, dir_fd=folder)
        try:
            _only_plain(os.fstat(descriptor), place)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    @contextmanager
    def _walk(self, names: tuple[str, ...], *, make: bool = False) -> Generator[int]:
        """A descriptor of the folder at the end of ``names``, opened part by part; closed after the block."""
        # The workspace itself belongs to the administrator and may be a link.
        here = os.open(self._workspace, _FOLDER & ~os.O_NOFOLLOW)
        try:
            for name in names:
                if make:
                    _make(name, here)
                following = os.open(name, _FOLDER, dir_fd=here)
                os.close(here)
                here = following
            yield here
        finally:
            os.close(here)

    def _hidden(self, place: Place) -> bool:
        """Whether its subfolders belong to other scopes."""
        return self._flat and place.root == self._memory


def _names(path: str) -> tuple[str, ...]:
    if len(path) > PATH_MAX_CHARS:
        raise ToolError(
            f"The path has {len(path):,} characters. A path can have at most {PATH_MAX_CHARS:,} characters."
        )
    if path.startswith("/"):
        raise ToolError(
            f"{path!r} is not a valid path. Use a path relative to the folder of your files, for example "
            "notes/today.md."
        )
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    for name in names:
        _check(name)
    if len(names) > DEPTH_MAX:
        raise ToolError(f"The path has {len(names)} parts. A path can have at most {DEPTH_MAX} parts.")
    return names


def _check(name: str) -> None:
    if name == "..":
        raise ToolError("'..' is not allowed in a path. Write the path relative to the folder of your files.")
    # Not printable are NUL, newlines, lone surrogates and marks that change the direction of writing, among others.
    if not name.isprintable():
        raise ToolError(f"{name!r} contains characters that are not allowed in a name.")
    if len(name.encode()) > NAME_MAX_BYTES:
        raise ToolError(f"The name {name[:40]!r}… is too long. A name can have at most {NAME_MAX_BYTES} bytes.")


def _names_in(folder: int) -> list[str]:
    return os.listdir(folder)


def _entry(name: str, folder: int) -> Entry | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:  # deleted in the meantime
        return None
    if stat.S_ISDIR(found.st_mode):
        return Entry(name=name, folder=True, size_bytes=0)
    return Entry(name=name, folder=False, size_bytes=found.st_size) if stat.S_ISREG(found.st_mode) else None


def _only_plain(found: os.stat_result, place: Place) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "a folder")
    # A hard link could also lead outside. In read-only folders it is allowed, because a backup may have made it.
    if not stat.S_ISREG(found.st_mode) or (place.writable and found.st_nlink > 1):
        raise ToolError(f"{place.path} is not a plain file.")


def _make(name: str, folder: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, FOLDER_MODE, dir_fd=folder)


@contextmanager
def translated(place: Place) -> Generator[None]:
    """Errors of the system as ``ToolError`` for the model. They only name the path that the model wrote."""
    path = place.path or "the folder of your files"
    try:
        yield
    except FileNotFoundError as error:
        raise ToolError(f"{path} was not found. List the files to see the existing paths.") from error
    except IsADirectoryError as error:
        raise ToolError(f"{path} is a folder, not a file.") from error
    except (NotADirectoryError, FileExistsError) as error:
        raise ToolError(f"{path} is not a valid path: one of its parts is not a folder.") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ToolError(f"{path} is a link. Links are not followed.") from error
        why = error.strerror or type(error).__name__
        raise ToolError(f"{path}: {why}", brief=why) from error
