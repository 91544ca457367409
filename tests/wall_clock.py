"""Wall clocks of processes, which can be stepped while they run: libfaketime shows them what a file says."""

import functools
from collections.abc import Mapping
from pathlib import Path


@functools.cache
def library() -> Path | None:
    """libfaketime, as the package ``faketime`` installs it."""
    found = (path for folder in ("/usr/lib", "/usr/lib64") for path in Path(folder).glob("**/libfaketimeMT.so.1"))
    return next(found, None)


def loaded() -> Mapping[str, str]:
    """The environment of a process that loads it; which file it reads is asked at each look at the clock."""
    return {
        "LD_PRELOAD": str(library()),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # A cure for old C libraries, with which a thread that waits for the interpreter spins.
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",
        "NO_FAKE_STAT": "1",
    }


class WallClock:
    """The wall clock of some processes, which can be stepped while they run."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.environment = {**loaded(), "FAKETIME_TIMESTAMP_FILE": str(file)}
        self.step(0)

    def step(self, by_s: int) -> None:
        written = self._file.with_suffix(".new")
        written.write_text(f"{by_s:+d}\n")
        written.replace(self._file)  # never half-written: it is read at every look at the clock
