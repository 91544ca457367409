"""What a full process uses while nobody says anything."""

import time

from benchmarks.folder import data_dir
from benchmarks.result import Result
from tests.processes import running

WATCHED_S = 20.0
"""CPU time is counted in steps of 10 ms: 0.05 % of this time."""
SETTLED_S = 3.0


def measure() -> list[Result]:
    """CPU time of ``millpond run`` with all roles, in per cent of one core, after the first message was answered."""
    with data_dir() as folder, running(folder) as daemon:
        daemon.post("idle", "hello")
        time.sleep(SETTLED_S)
        values: list[float] = []
        for _ in range(3):
            used, began = daemon.cpu_s(), time.perf_counter()
            time.sleep(WATCHED_S)
            values.append(100 * (daemon.cpu_s() - used) / (time.perf_counter() - began))
    return [
        Result(
            name="idle CPU, all roles",
            unit="% of a core",
            values=tuple(values),
            floor=0.0,
            floor_is="nothing",
            limit=0.5,
        )
    ]
