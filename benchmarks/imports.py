"""What the command's help costs."""

import statistics
import subprocess
import sys
import time

from benchmarks.result import Result

RUNS = 9


def measure() -> list[Result]:
    """``millpond --help`` and the help of ``run``, as whole processes, beside an interpreter that does nothing."""
    floor = statistics.median(_spent("-c", "pass") for _ in range(RUNS))
    return [
        Result(
            name=f"millpond {' '.join(arguments)}",
            unit="s",
            values=tuple(_spent("-m", "millpond", *arguments) for _ in range(RUNS)),
            floor=floor,
            floor_is="python -c pass",
            limit=0.3,
        )
        for arguments in (("--help",), ("run", "--help"))
    ]


def _spent(*arguments: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started
