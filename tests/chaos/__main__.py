"""``python -m tests.chaos [--messages N] [--seconds S] ...``: its exit code is one of ``tests.chaos.ends``."""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path

import anyio

from daemon import log
from tests.chaos.driver import run
from tests.chaos.ends import Inconclusive, leave, undecided
from tests.chaos.plan import Plan
from tests.chaos.sabotage import CHECKS, switch_off
from tests.processes import shut_down

LONG = Plan(
    messages=5_000,
    sessions=50,
    seconds=300.0,
    kills=60,
    server_kills=15,
    pauses=30,
    memory_kills=30,
    memory_pauses=20,
    doomed=10,
    late_max_s=20.0,
    drain_s=600.0,
)
"""The numbers that a release has to stand."""


def plan_of(words: Sequence[str]) -> Plan:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Kill processes, then count answers.")
    parser.add_argument("--long", action="store_true", help="start from the numbers of a release")
    for each in fields(Plan):
        choices = ("", *CHECKS) if each.name == "sabotage" else None
        kind = type(each.default)
        parser.add_argument(f"--{each.name.replace('_', '-')}", type=kind, choices=choices, help=f"[{each.default}]")
    asked = vars(parser.parse_args(words))
    base = asdict(LONG if asked.pop("long") else Plan())
    plan = Plan(**{**base, **{name: value for name, value in asked.items() if value is not None}})
    return replace(plan, seconds=plan.patience * plan.seconds)


def main() -> int:
    plan = plan_of(sys.argv[1:])
    log.configure("error")
    switch_off(plan.sabotage)
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="mp-chaos-", dir="/tmp"))
    try:
        found, counts, end = anyio.run(run, plan, folder)
    except Inconclusive as error:
        return leave(folder, undecided(error), plan.sabotage)
    finally:
        shut_down(folder / "data")
    print(f"{plan}\n{counts}\ntook {time.monotonic() - began:.0f} s\n{found.report()}")
    return leave(folder, end, plan.sabotage)


if __name__ == "__main__":
    sys.exit(main())
