"""``python -m tests.soak [--seconds 3600] [--rate 50] ...``: its exit code is one of ``tests.chaos.ends``."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path

import anyio

from daemon import log
from tests.chaos.ends import BROKEN, End, Inconclusive, leave, undecided
from tests.processes import shut_down
from tests.soak.disk import Disk, apart, small_disk
from tests.soak.driver import DRIVER, cores, soaking
from tests.soak.findings import Findings
from tests.soak.flat import MIB, Sample, Span, growths
from tests.soak.judged import judge, rate
from tests.soak.plan import Counts, Plan
from tests.soak.sabotage import CHECKS

DISK_MB, DISK_MB_A_SECOND = 400, 0.25
"""Room that a run needs, and so much more for each second of it: the archive grows, and the append-only file."""

NO_DISK = "no disk was made full: no file system can be mounted here (that takes root, or user name spaces)"


def plan_of(words: Sequence[str]) -> Plan:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Everything at once, for a long time.")
    for each in fields(Plan):
        choices = ("", *CHECKS) if each.name == "sabotage" else None
        kind = type(each.default)
        parser.add_argument(f"--{each.name.replace('_', '-')}", type=kind, choices=choices, help=f"[{each.default}]")
    asked = vars(parser.parse_args(words))
    plan = Plan(**{name: value for name, value in asked.items() if value is not None})
    return replace(plan, seconds=plan.patience * plan.seconds, rate=plan.rate / plan.patience)


async def run(plan: Plan, folder: Path, disk: Disk | None) -> tuple[Findings, str, End]:
    """Run the plan in a folder of its own; what is wrong, what was done, and how it ended.

    Raises:
        Inconclusive: nothing could be tried, or not everything be looked at.
    """
    counts = Counts()
    async with soaking(plan, folder, disk, counts) as one:
        await one.storm()
        await one.look_at_data(folder / f"{DRIVER}.toml")
        await one.end()
        found = await judge(one)
        counts.said, counts.asked, counts.looked_at = dict(one.crowd.said), one.mind.asked, one.mind.looked_at
        counts.events, counts.bad_inputs = sum(reader.events for reader in one.readers), one.site.bad_inputs
        lines = [
            str(counts),
            *one.harm.diary,
            *_processes(one.gauges.samples, Span(began_s=one.began, seconds=one.loaded_s)),
            _cpu(one.gauges.cpu_s(one.began), one.loaded_s + one.drained_s),
            f"{rate(one):.1f} messages a second of {plan.rate:g} for {one.loaded_s:.0f} s; {one.left_then} were not "
            f"answered then, all was quiet {one.drained_s:.0f} s later",
        ]
    return found, "\n".join(lines), found.end(one.drain.undecided)


def _processes(samples: Sequence[Sample], span: Span) -> Iterator[str]:
    for one in growths(samples, span):
        yield (
            f"{one.name:16} {one.seconds:5.0f} s  {one.memory / MIB:6.1f} MiB {one.memory_rise / MIB:+6.2f}  "
            f"{one.files:6.1f} files {one.files_rise:+6.2f}"
        )


def _cpu(used: dict[str, float], seconds: float) -> str:
    kinds: dict[str, float] = {}
    for name, cpu_s in used.items():
        kind = name.partition("-")[0]
        kinds[kind] = kinds.get(kind, 0.0) + cpu_s
    share = 100 / (seconds * cores())
    parts = ", ".join(f"{kind} {cpu_s * share:.0f}" for kind, cpu_s in sorted(kinds.items(), key=lambda each: -each[1]))
    return f"CPU: {sum(kinds.values()) * share:.0f} % of {cores()} cores ({parts})"


def main() -> int:
    plan = plan_of(sys.argv[1:])
    apart()
    # Many processes start: without compiled modules each would compile all of them for itself.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    log.configure("error")
    folder = Path(tempfile.mkdtemp(prefix="mp-soak-", dir="/tmp"))
    with small_disk(folder / "data", round(DISK_MB + DISK_MB_A_SECOND * plan.seconds)) as disk:
        try:
            found, done, end = anyio.run(run, plan, folder, disk)
            print(f"{plan}\n{done}\n{found.report()}")
        except Inconclusive as error:
            end = undecided(error)
        finally:
            shut_down(folder / "data")
        if end.code == BROKEN and disk is not None:
            shutil.copytree(folder / "data", folder / "kept", ignore_dangling_symlinks=True, dirs_exist_ok=True)
    if disk is None:
        print(NO_DISK)
    return leave(folder, end, plan.sabotage)


if __name__ == "__main__":
    sys.exit(main())
