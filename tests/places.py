"""Where tests keep what they write."""

import os
import shutil
from pathlib import Path

ROOM_BYTES = 4 * 1024**3  # free memory that the whole suite leaves enough of
MEMORY = Path("/dev/shm")


def _temporary() -> str:
    """A folder in memory, where there is one with room.

    A server that syncs each write makes a suite of a million writes wait for the disk most of its time. What a killed
    process leaves behind is the same in both. Runs of chaos keep to the disk (``tests/chaos/__main__.py``).
    """
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return "/tmp"
    # Tests write programs and start them, which containers like to forbid there.
    is_plain = not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    return str(MEMORY) if is_plain and shutil.disk_usage(MEMORY).free > ROOM_BYTES else "/tmp"


TEMPORARY = _temporary()  # the parent of all folders of tests: short, for paths of sockets have 108 bytes
