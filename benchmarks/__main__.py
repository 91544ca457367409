"""``python -m benchmarks [NAME ...]``: run them, print a table, keep the numbers as JSON; exit 1 on a missed limit."""

import importlib.util
import json
import os
import platform
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import (
    backups,
    cache,
    consolidation,
    crowd,
    engine,
    first_turn,
    flood,
    growth,
    idle,
    imports,
    kept,
    latency,
    memory,
    ready,
    recall,
    recall_sets,
    recall_speed,
    recall_turns,
    resident,
    silence,
    slack,
    stalls,
    startup,
    survival,
    telegram,
    turn,
)
from benchmarks.result import Result, shown

ALL = {
    "imports": imports,
    "startup": startup,
    "first_turn": first_turn,
    "latency": latency,
    "idle": idle,
    "resident": resident,
    "stalls": stalls,
    "crowd": crowd,
    "engine": engine,
    "flood": flood,
    "ready": ready,
    "turn": turn,
    "consolidation": consolidation,
    "memory": memory,
    "kept": kept,
    "survival": survival,
    "backups": backups,
    "growth": growth,
    "cache": cache,
    "recall": recall,
    "recall_sets": recall_sets,
    "recall_speed": recall_speed,
    "recall_turns": recall_turns,
    "telegram": telegram,
    "slack": slack,
    "silence": silence,
}
if importlib.util.find_spec("playwright"):  # it drives a browser, which comes with `make test-page`
    from benchmarks import conversations, page

    ALL["page"] = page
    ALL["conversations"] = conversations
if os.environ.get("PEERS"):  # it installs other bots and engines
    from benchmarks import peers

    ALL["peers"] = peers
TABLE_WIDTH = 150
"""Narrower the table cannot be read."""

RESULTS = Path(__file__).parent / "results"


def main(names: list[str]) -> int:
    """Measure what is asked for, by default everything."""
    unknown = set(names) - set(ALL)
    if unknown:
        sys.stderr.write(f"no benchmark {', '.join(unknown)}; there are: {', '.join(ALL)}\n")
        return 2
    results = [result for name in names or ALL for result in ALL[name].measure()]
    console = Console()
    console.width = max(console.width, TABLE_WIDTH)
    console.print(_table(results))
    _keep(results)
    return 0 if all(result.kept for result in results) else 1


def _table(results: list[Result]) -> Table:
    table = Table("measured", "median", "worst", "limit", "floor", "times floor", "the floor is")
    for result in results:
        ratio = shown(result.ratio) if result.floor else "-"
        figures = (result.median, result.worst, result.floor)
        median, worst, floor = (f"{shown(figure)} {result.unit}" for figure in figures)
        limit = result.limit_text + ("" if result.kept else " MISSED")
        table.add_row(result.name, median, worst, limit, floor, ratio, result.floor_is)
    return table


def _keep(results: list[Result]) -> None:
    RESULTS.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    rows = [
        {"name": r.name, "unit": r.unit, "median": r.median, "worst": r.worst, "limit": r.limit}
        | {"limit_is": r.limit_is, "kept": r.kept, "floor": r.floor, "floor_is": r.floor_is, "values": r.values}
        for r in results
    ]
    machine = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
    target = RESULTS / f"{stamp}.json"
    target.write_text(json.dumps({"machine": machine, "results": rows}, indent=1) + "\n")
    Console().print(f"kept in {target.relative_to(Path.cwd()) if target.is_relative_to(Path.cwd()) else target}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
