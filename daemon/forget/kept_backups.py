"""Copies that somebody made in the data directory: forgetting leaves them alone, and names them. It blocks."""

import os
import re
from pathlib import Path

LOOKED_DEPTH = 2
"""Folders inside each other that are looked into."""

MOST = 20

_COPY = r"backup|sicherung|备份|\.(?:bak|old|orig|tar|tgz|zip|7z|zst|dump|rdb)\b|~$"
_IS_COPY = re.compile(_COPY, re.IGNORECASE).search

_OURS = frozenset({"redis", "transcripts", "files"})
"""Folders in which what looks like a copy is none, or was looked through."""


def backups_in(data_dir: Path) -> list[str]:
    """Paths in ``data_dir`` that look like copies, at most ``MOST``."""
    found: list[str] = []
    for folder, folders, files in os.walk(data_dir):
        depth = len(Path(folder).relative_to(data_dir).parts)
        found += [str(Path(folder, name)) for name in sorted((*folders, *files)) if _IS_COPY(name)]
        inside = depth < LOOKED_DEPTH
        folders[:] = [name for name in folders if inside and name not in _OURS and not _IS_COPY(name)]
    return found[:MOST]
