"""A small disk below the data directory, which can be made full, and have room again.

It is a file system in memory, whose size is set anew: full is what is used already. Where nobody may mount one, the
whole run begins again in a user's own name space, in which everybody may; where that is not to be had either, it says
so, and no disk gets full.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LEFT_KB = 256  # what is left free of a full disk: less than anybody needs
ALONE = "MILLPOND_SOAK_APART"  # set in a run that was begun again
UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")


class Disk:
    def __init__(self, folder: Path, size_mb: int) -> None:
        self._folder = folder
        self._size_mb = size_mb

    def fill(self) -> None:
        """From now on there is no room. Raises CalledProcessError: it cannot be made so small."""
        used_kb = shutil.disk_usage(self._folder).used // 1024
        self._sized(f"{used_kb + LEFT_KB}k")

    def empty(self) -> None:
        self._sized(f"{self._size_mb}m")

    def _sized(self, size: str) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self._folder)], check=True, capture_output=True)


def apart() -> None:
    """Begin the whole run again where file systems may be mounted, if that is needed and can be had."""
    if ALONE in os.environ or os.geteuid() == 0 or shutil.which("unshare") is None:
        return
    if subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0:
        os.environ[ALONE] = "1"
        os.execvp(UNSHARE[0], [*UNSHARE, sys.executable, "-m", "tests.soak", *sys.argv[1:]])


@contextmanager
def small_disk(folder: Path, size_mb: int) -> Iterator[Disk | None]:
    """The file system at ``folder`` for the length of the block; None: it cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m,mode=700", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield Disk(folder, size_mb)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)
