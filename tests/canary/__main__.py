"""``python -m tests.canary [--operations 10000] [--seed N] ...``: its exit code is one of ``tests.chaos.ends``."""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import anyio

from daemon import log
from tests.canary.driver import run
from tests.canary.plan import Plan
from tests.canary.sabotage import CHECKS
from tests.chaos.ends import Inconclusive, leave, undecided
from tests.processes import shut_down


def plan_of(words: Sequence[str]) -> Plan:
    parser = argparse.ArgumentParser(prog="python -m tests.canary", description="Let scopes try to see each other.")
    for each in fields(Plan):
        choices = ("", *CHECKS) if each.name == "sabotage" else None
        kind = type(each.default)
        parser.add_argument(f"--{each.name.replace('_', '-')}", type=kind, choices=choices, help=f"[{each.default}]")
    asked = vars(parser.parse_args(words))
    return Plan(**{name: value for name, value in asked.items() if value is not None})


def main() -> int:
    plan = plan_of(sys.argv[1:])
    log.configure("error")
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="mp-canary-", dir="/tmp"))
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
