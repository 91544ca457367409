"""The bootstrap files and skills of a bot's workspace, read again if they change."""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
import msgspec
import structlog
from msgspec.structs import replace

from daemon.concurrency import Threads
from daemon.config import BootstrapConfig
from daemon.errors import brief
from workers.agent.prompt.skills import FrontMatterError, Skill, skill
from workers.agent.prompt.user_messages import one_line
from workers.tools import BOOTSTRAP_FILES

# The bootstrap files of a workspace in the system message, each cut to its limit. Pure.

JOIN = "\n\n---\n\n"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A bootstrap file as shown in the prompt."""

    name: str
    text: str
    """As it stands in the prompt, heading and all; empty: left out, since too little room was left."""
    chars: int
    """Of the file."""
    kept_chars: int
    """How many of them are in ``text``."""


def bootstrap(files: Sequence[tuple[str, str]], config: BootstrapConfig, *, total_chars: int) -> list[Part]:
    """The files, in order, each within ``max_chars`` and all within ``total_chars``.

    A heading counts in the total, but not in ``max_chars``; markers and joins count. Once less than
    ``min_budget_chars`` are left, the rest is left out.
    """
    return list(_parts(files, config, total_chars))


def _parts(files: Sequence[tuple[str, str]], config: BootstrapConfig, left: int) -> Iterator[Part]:
    first, full = True, False
    for name, text in files:
        room = left if first else left - len(JOIN)
        full = full or room < config.min_budget_chars
        part = Part(name=name, text="", chars=len(text), kept_chars=0)
        if not full:
            part = _part(part, text, config, room)
        if part.text:
            left, first = room - len(part.text), False
        yield part


def _part(part: Part, text: str, config: BootstrapConfig, room: int) -> Part:
    heading = f"## {part.name}\n\n"
    allowance = min(room - len(heading), config.max_chars)
    if len(text) <= allowance:
        return Part(name=part.name, text=heading + text, chars=len(text), kept_chars=len(text))
    # Taken for as long as it can get: what is left out has at most as many digits as there is text.
    longest = len(_marker(part.name, len(text)))
    if longest > allowance:
        return part
    head, tail = int(config.head_ratio * allowance), int(config.tail_ratio * allowance)
    room = allowance - longest
    if head + tail > room:
        shares = config.head_ratio + config.tail_ratio
        head, tail = int(room * config.head_ratio / shares), int(room * config.tail_ratio / shares)
    marker = _marker(part.name, len(text) - head - tail)
    shown = f"{heading}{text[:head]}{marker}{text[len(text) - tail :]}"
    return Part(name=part.name, text=shown, chars=len(text), kept_chars=head + tail)


def _marker(name: str, left_out: int) -> str:
    return f"\n[...truncated {left_out} chars, read {name} for full content...]\n"


CHECK_S = 1.0
"""How long what was seen of the files counts as true."""
CHECK_TIMEOUT_S = 5.0
"""How long a turn waits for a slow disk before it goes on with what was read last."""
FILE_MAX_BYTES = 4 * 1024 * 1024
"""A larger file is a mistake."""
SKILLS_MAX = 500
"""Skills of one workspace; more are not looked at."""

_log = structlog.get_logger()

_Version = tuple[str, int, int, int, int]
"""Path, inode, mode, time of the last change in ns, bytes."""


class Unreadable(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a bot goes without."""

    path: str
    """From the workspace."""
    reason: str


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """What stood in the files when they were last read."""

    bootstrap: tuple[tuple[str, str], ...] = ()
    """Names and texts of those that are there, blank ones left out."""
    skills: tuple[Skill, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()


class Workspace:
    """A bot's folder; one that is not there is an empty one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = Files()
        self._versions: tuple[_Version, ...] | None = None
        self._check_at = float("-inf")
        self._lock = anyio.Lock()
        self._threads = Threads(1)

    async def files(self) -> Files:
        """What the files say; the very same object as long as they do not change."""
        if anyio.current_time() >= self._check_at:
            async with self._lock:
                if anyio.current_time() >= self._check_at:
                    await self._check()
        return self._files

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """The files that could not be read when they were last looked at."""
        return self._files.unreadable

    async def _check(self) -> None:
        with anyio.move_on_after(CHECK_TIMEOUT_S) as scope:
            self._versions, found = await self._threads.run(self._look)
            if found != self._files:
                self._files = found
        if scope.cancelled_caught:
            _log.warning("workspace.slow", path=str(self.folder))
        self._check_at = anyio.current_time() + CHECK_S

    def _look(self) -> tuple[tuple[_Version, ...], Files]:
        # It changes nothing: who gave it up, for a slow disk, has to read again.
        versions = tuple(_versions(self.folder))
        files = self._files
        if versions != self._versions:
            files = _read(self.folder, [path for path, *_ in versions])
        return versions, replace(files, skills=tuple(map(_with_missing, files.skills)))


def _versions(folder: Path) -> Iterator[_Version]:
    """Every file that counts, as it lies there now; those that are missing are left out."""
    for path in (*BOOTSTRAP_FILES, *_skill_paths(folder)):
        try:
            found = (folder / path).lstat() if "/" in path else (folder / path).stat()
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                yield (path, 0, 0, 0, 0)
        else:
            yield (path, found.st_ino, found.st_mode, found.st_mtime_ns, found.st_size)


def _skill_paths(folder: Path) -> list[str]:
    """The files of all skills; those that are not read are among them, so that they can be named."""
    try:
        with os.scandir(folder / "skills") as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return ["skills"]
    return [f"skills/{name}/SKILL.md" for name in names[:SKILLS_MAX]]


def read_files(folder: Path) -> Files:
    """All files of a workspace, read anew. Blocks."""
    return _read(folder, [path for path, *_ in _versions(folder)])


def _read(folder: Path, paths: list[str]) -> Files:
    bootstrap, skills, unreadable = list[tuple[str, str]](), list[Skill](), list[Unreadable]()
    for path in paths:
        try:
            text = _text(folder, path)
            if path in BOOTSTRAP_FILES:
                bootstrap += [(path, text)] if text.strip() else []
            else:
                skills.append(skill(path.split("/")[1], text))
        except FrontMatterError as error:
            _log.warning("skill.broken", path=path, reason=brief(error))
            unreadable.append(Unreadable(path=path, reason=str(error)))
        except (OSError, ValueError) as error:
            _log.warning("workspace.unreadable", path=str(folder / path), reason=_reason(error))
            unreadable.append(Unreadable(path=one_line(path, len(path)), reason=_reason(error)))
    return Files(bootstrap=tuple(bootstrap), skills=tuple(skills), unreadable=tuple(unreadable))


def _text(folder: Path, path: str) -> str:
    if not path.isprintable():
        raise ValueError("the folder's name contains characters that cannot be printed. Rename the folder")
    if path not in BOOTSTRAP_FILES and (folder / path).parent.is_symlink():
        # The tools that a model would read such a skill with follow none either.
        raise ValueError(
            "the folder is a symbolic link, and Millpond does not follow links. Copy the folder itself "
            "into the workspace"
        )
    return _bytes_of(folder / path).decode("utf-8-sig")


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "the file is not UTF-8. Save it as UTF-8"
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _bytes_of(path: Path) -> bytes:
    # Opened first and looked at then, so that it cannot be another file; without waiting for what a pipe would say.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("not a regular file")
        content = file.read(FILE_MAX_BYTES + 1)
    if len(content) > FILE_MAX_BYTES:
        raise ValueError(f"larger than {FILE_MAX_BYTES:,} bytes")
    return content


def _with_missing(found: Skill) -> Skill:
    if not (found.bins or found.env):
        return found
    return replace(
        found,
        missing_bins=tuple(name for name in found.bins if shutil.which(name) is None),
        missing_env=tuple(name for name in found.env if not os.environ.get(name)),
    )
