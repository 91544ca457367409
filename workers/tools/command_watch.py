"""What the processes of a running command use together, and how large its folder grows.

The limits of the kernel (``ulimit``) hold for each process by itself, and count no processes of root.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from daemon.config import ExecConfig

WATCH_S = 0.25
"""Shortest pause between two looks."""

FREE_MIN_BYTES = 512 * 1024 * 1024
"""So much of the disk must stay free: files can also be hidden, or removed while they are written."""

PAUSE_FACTOR = 10
"""A pause is at least so many times as long as the look before it: a large folder takes long to look through."""

MIB = 1024 * 1024


async def excess(pid: int, folder: Path, config: ExecConfig) -> str:
    """Wait until the command exceeds a limit, and return the reason as a sentence for the model.

    Args:
        pid: of bubblewrap, from which all processes of the command descend.
        folder: the only one that the command can write.
        config: the limits.
    """
    look = partial(to_thread.run_sync, abandon_on_cancel=True)
    # A folder that is too large already must not grow, but may be tidied up.
    most = max(await look(folder_bytes, folder), config.folder_max_mb * MIB)
    least = min(FREE_MIN_BYTES, _free_bytes(folder) // 2)
    while True:
        began = anyio.current_time()
        if reason := await look(_excess, pid, folder, config, most, least):
            return reason
        await anyio.sleep(max(WATCH_S, PAUSE_FACTOR * (anyio.current_time() - began)))


def _excess(pid: int, folder: Path, config: ExecConfig, most_bytes: int, least_bytes: int) -> str:
    # Bubblewrap itself has two processes.
    processes = list(_with_descendants(pid, config.processes_max + 3))
    if len(processes) > config.processes_max + 2:
        return f"The command was stopped because it ran more than {config.processes_max:,} processes at the same time."
    most = config.memory_max_mb * MIB
    if sum(map(_resident_bytes, processes)) > most and sum(map(_own_bytes, processes)) > most:
        return f"The command was stopped because its processes used more than {config.memory_max_mb:,} MiB of memory."
    if folder_bytes(folder) > most_bytes:
        return (
            f"The command was stopped because the files in the folder exceeded {most_bytes // MIB:,} MiB. Remove files "
            "that are not needed."
        )
    if _free_bytes(folder) < least_bytes:
        return "The command was stopped because the disk of the folder is nearly full."
    return ""


def _with_descendants(pid: int, most: int) -> Iterator[int]:
    """``pid`` and the processes that it started, at most ``most``."""
    found = [pid]
    for at in range(most):
        if at == len(found):
            return
        yield found[at]
        with suppress(OSError, ValueError):  # it has ended, or the kernel does not tell
            for task in Path(f"/proc/{found[at]}/task").iterdir():
                found += map(int, (task / "children").read_text().split())


def _resident_bytes(pid: int) -> int:
    """Memory of a process, with what it shares with others."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _own_bytes(pid: int) -> int:
    """The same, with a share of what it shares with others (``Pss``)."""
    with suppress(OSError, ValueError, IndexError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return _resident_bytes(pid)


def _free_bytes(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def folder_bytes(folder: Path) -> int:
    """The room that a folder takes on its disk; links are not followed."""
    total, folders = 0, [str(folder)]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:  # the command may remove it meanwhile
            for entry in entries:
                with suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    total += found.st_blocks * 512
                    if stat.S_ISDIR(found.st_mode):
                        folders.append(entry.path)
    return total
