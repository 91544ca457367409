"""What a bot's workspace puts into its prompts: its bootstrap files and skills, read again when they change."""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import structlog

from daemon.threads import Threads
from workers.agent.front_matter import FrontMatterError
from workers.agent.skills import Skill, skill
from workers.tools import BOOTSTRAP_FILES

CHECK_S = 1.0
"""How long what was seen of the files counts as true."""
CHECK_TIMEOUT_S = 5.0
"""How long a turn waits for a slow disk before it goes on with what was read last."""
FILE_MAX_BYTES = 4 * 1024 * 1024
"""A larger file is a mistake."""
SKILLS_MAX = 500
"""Skills of one workspace; more are not looked at."""

_log = structlog.get_logger()

_Version = tuple[str, int, int, int]
"""Path, inode, time of the last change in ns, bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Files:
    """What stood in the files when they were last read."""

    bootstrap: tuple[tuple[str, str], ...] = ()
    """Names and texts of those that are there, blank ones left out."""
    skills: tuple[Skill, ...] = ()


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
                yield (path, 0, 0, 0)
        else:
            yield (path, found.st_ino, found.st_mtime_ns, found.st_size)


def _skill_paths(folder: Path) -> list[str]:
    try:
        with os.scandir(folder / "skills") as entries:
            # Links are not followed: the tools that a model would read such a skill with do not follow them either.
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        _log.warning("skills.unreadable", path=str(folder / "skills"), reason=str(error))
        return []
    # A name that cannot be printed, such as one of broken bytes, could not stand in a prompt.
    fine = [name for name in names if name.isprintable() and not name.startswith(".")]
    return [f"skills/{name}/SKILL.md" for name in fine[:SKILLS_MAX]]


def _read(folder: Path, paths: list[str]) -> Files:
    texts = [(path, text) for path in paths if (text := _text(folder, path)) is not None]
    bootstrap = tuple((path, text) for path, text in texts if path in BOOTSTRAP_FILES and text.strip())
    skills = (_skill(path, text) for path, text in texts if path not in BOOTSTRAP_FILES)
    return Files(bootstrap=bootstrap, skills=tuple(found for found in skills if found is not None))


def _text(folder: Path, path: str) -> str | None:
    """A file's text; None, with a warning, when it has none that can be read."""
    try:
        return _bytes_of(folder / path).decode("utf-8-sig")
    except UnicodeDecodeError:
        reason = "not UTF-8"
    except (OSError, ValueError) as error:
        reason = str(error)
    _log.warning("workspace.unreadable", path=str(folder / path), reason=reason)
    return None


def _bytes_of(path: Path) -> bytes:
    # Opened first and looked at then, so that it cannot be another file; without waiting for what a pipe would say.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("no regular file")
        content = file.read(FILE_MAX_BYTES + 1)
    if len(content) > FILE_MAX_BYTES:
        raise ValueError(f"larger than {FILE_MAX_BYTES:,} bytes")
    return content


def _skill(path: str, text: str) -> Skill | None:
    try:
        return skill(path.split("/")[1], text)
    except FrontMatterError as error:
        _log.warning("skill.broken", path=path, reason=str(error))
        return None


def _with_missing(found: Skill) -> Skill:
    if not (found.bins or found.env):
        return found
    return replace(
        found,
        missing_bins=tuple(name for name in found.bins if shutil.which(name) is None),
        missing_env=tuple(name for name in found.env if not os.environ.get(name)),
    )
