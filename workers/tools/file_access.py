"""The files of a bot's workspace that the tools of a turn can reach. Other files of the machine are out of reach.

A path of a model is resolved below the workspace. ``skills/…``, ``memory/…`` (of the scope) and the bootstrap files,
which a prompt may contain only in part, are read-only. All other paths lie in ``files/<scope>/``. Each part of a path
is opened on its own, below the folder opened before it, and never through a link, so that a link that is swapped in
between a check and the use is not followed either.
"""

import errno
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path

import msgspec

from daemon.durable import folder_lock, private_folder
from daemon.errors import ToolError
from daemon.scope import folder_of

# The files of a bot's workspace that the tools of a turn can reach. Other files of the machine are out of reach.

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


class Place(msgspec.Struct, frozen=True, kw_only=True):
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


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a folder."""

    name: str
    folder: bool
    size_bytes: int


class FileAccess:
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

    @property
    def own(self) -> Path:
        """The folder of the scope's own files; it need not exist."""
        return self._workspace.joinpath(*self._files)

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
            f"{path!r} is not a valid path. Use a path relative to your workspace, for example notes/today.md."
        )
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    for name in names:
        _check(name)
    if len(names) > DEPTH_MAX:
        raise ToolError(f"The path has {len(names)} parts. A path can have at most {DEPTH_MAX} parts.")
    return names


def _check(name: str) -> None:
    if name == "..":
        raise ToolError("'..' is not allowed in a path. Write the path relative to your workspace.")
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
        raise ToolError(f"{place.path} is not a regular file.")


def _make(name: str, folder: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, FOLDER_MODE, dir_fd=folder)


@contextmanager
def translated(place: Place) -> Generator[None]:
    """Errors of the system as ``ToolError`` for the model. They only name the path that the model wrote."""
    path = place.path or "your workspace"
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


# Reading opened files, by lines or as a whole, and changing files one at a time.

WRITE_MAX_BYTES = 1_000_000
"""Largest file that a tool writes or changes."""

LOCK_WAIT_S = 5.0
"""Longest wait for another change in the same folder."""

SNIFFED_BYTES = 8_192
"""Bytes that are checked to see whether a file is text."""


def is_text(descriptor: int) -> bool:
    """Whether a file looks like text: its beginning has no NUL. Seeks back to the beginning."""
    head = os.read(descriptor, SNIFFED_BYTES)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return b"\0" not in head


def pieces(descriptor: int, max_chars: int) -> Iterator[str]:
    """A text's lines with their ends, long ones in pieces of ``max_chars``; invalid UTF-8 is replaced.

    Read as they are asked for, so that a file of any size takes no memory; the descriptor stays open.
    """
    with open(descriptor, "rb", closefd=False) as file, TextIOWrapper(file, "utf-8", "replace", newline="\n") as text:
        while piece := text.readline(max_chars):
            yield piece


def whole(descriptor: int, place: Place, max_bytes: int) -> bytes:
    """The whole file.

    Raises:
        ToolError: it is larger than ``max_bytes``.
    """
    with translated(place), open(descriptor, "rb", closefd=False) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        size = os.fstat(descriptor).st_size
        raise ToolError(f"{place.path} has {size:,} bytes. Only files of at most {max_bytes:,} bytes can be read.")
    return content


@contextmanager
def changing(folders: FileAccess, place: Place, *, make: bool) -> Generator[int]:
    """The folder that holds a file, locked against other changes in it, in this process or another.

    Raises:
        ToolError: nothing may be written there, or the lock was not to be had.
    """
    with folders.changing(place, make=make) as folder, ExitStack() as held:
        try:
            held.enter_context(folder_lock(folder, wait_s=LOCK_WAIT_S))
        except TimeoutError as error:
            raise ToolError(f"{place.path} is being changed by another call. Try again.") from error
        yield folder


# Walking through folders and their subfolders, up to the limits.

FILES_MAX = 10_000
"""Most entries that one call visits."""


class Cut(Exception):
    """The folders have more entries than one call may visit."""


def walk(folders: FileAccess, place: Place, *, deep: bool = True) -> Iterator[tuple[Place, Entry]]:
    """Every entry below a folder with its place, each folder before its content.

    Raises:
        ToolError: ``place`` is no folder that can be read.
        Cut: ``FILES_MAX`` entries were given, and there are more.
    """
    count = 0
    waiting = [(place, folders.entries(place))]
    while waiting:
        here, entries = waiting.pop()
        for entry in entries:
            if not here.names and here.writable and entry.name in READ_ONLY:
                continue  # not reachable: the name refers to another place
            count += 1
            if count > FILES_MAX:
                raise Cut
            below = here.below(entry.name)
            yield below, entry
            if entry.folder and deep and len(below.names) < DEPTH_MAX:
                waiting.append((below, _inside(folders, below)))


def _inside(folders: FileAccess, place: Place) -> list[Entry]:
    try:
        return folders.entries(place)
    except ToolError:  # deleted in the meantime, or not readable
        return []
