"""``python -m tests.soak [--seconds 3600] [--rate 50] ...``: exit code 1 when anything is wrong."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

import anyio

from daemon import log
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
    """The plan that a command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Everything at once, for a long time.")
    for each in fields(Plan):
        choices = ("", *CHECKS) if each.name == "sabotage" else None
        kind = type(each.default)
        parser.add_argument(f"--{each.name.replace('_', '-')}", type=kind, choices=choices, help=f"[{each.default}]")
    asked = vars(parser.parse_args(words))
    return Plan(**{name: value for name, value in asked.items() if value is not None})


async def run(plan: Plan, folder: Path, disk: Disk | None) -> tuple[Findings, str]:
    """Run the plan in a folder of its own; what is wrong, and what was done."""
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
    return found, "\n".join(lines)


def _processes(samples: Sequence[Sample], span: Span) -> Iterator[str]:
    """A line for each process that grew old enough."""
    for one in growths(samples, span):
        yield (
            f"{one.name:16} {one.seconds:5.0f} s  {one.memory / MIB:6.1f} MiB {one.memory_rise / MIB:+6.2f}  "
            f"{one.files:6.1f} files {one.files_rise:+6.2f}"
        )


def _cpu(used: dict[str, float], seconds: float) -> str:
    """How busy the machine was with it, and who was."""
    kinds: dict[str, float] = {}
    for name, cpu_s in used.items():
        kind = name.partition("-")[0]
        kinds[kind] = kinds.get(kind, 0.0) + cpu_s
    share = 100 / (seconds * cores())
    parts = ", ".join(f"{kind} {cpu_s * share:.0f}" for kind, cpu_s in sorted(kinds.items(), key=lambda each: -each[1]))
    return f"CPU: {sum(kinds.values()) * share:.0f} % of {cores()} cores ({parts})"


def main() -> int:
    """Run, and print what was found."""
    plan = plan_of(sys.argv[1:])
    apart()
    # Many processes start: without compiled modules each would compile all of them for itself.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    log.configure("error")
    folder = Path(tempfile.mkdtemp(prefix="mp-soak-", dir="/tmp"))
    with small_disk(folder / "data", round(DISK_MB + DISK_MB_A_SECOND * plan.seconds)) as disk:
        try:
            found, done = anyio.run(run, plan, folder, disk)
        finally:
            shut_down(folder / "data")
        if not found.ok and disk is not None:
            shutil.copytree(folder / "data", folder / "kept", ignore_dangling_symlinks=True, dirs_exist_ok=True)
    print(f"{plan}\n{done}")
    if disk is None:
        print(NO_DISK)
    print(found.report())
    if found.ok or plan.sabotage:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        print(f"logs and data: {folder}")
    return 0 if found.ok else 1


if __name__ == "__main__":
    sys.exit(main())
