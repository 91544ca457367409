"""Apply each mutant to a copy of the tree and see whether a test fails: ``python -m tests.mutants [ROOM ...]``."""

import argparse
import importlib
import itertools
import json
import os
import pkgutil
import queue
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import tests.mutants
from tests.mutants.mutant import Mutant
from tests.mutants.record import load, save
from tests.mutants.warm import Warm
from tests.places import TEMPORARY

ROOT = Path(__file__).parents[2]
AT_ONCE = 2
"""So many mutants run at the same time, each in a copy of its own."""

LEAST_S = 30.0
"""A test may take this long, and ten times what it takes without the break; after that it has noticed a hang."""
LIMIT_FACTOR = 10.0
BESIDE_S = 300.0
"""Longest start and end of a run of pytest, beside its test; a busy machine takes a minute to import everything."""
OTHERS_S = 60.0
"""How long the recorded tests are run when the named one does not fail."""
QUICK = ["-m", "not slow"]
ORDINARY = "not slow and not servers and not faketime and not deploy and not page and not qmd"
"""The tests of ``make test``."""

MACHINERY = {"__main__", "mutant", "plugin", "record", "warm"}
"""Modules beside the rooms."""

_seconds = itertools.count(1)


@dataclass
class Run:
    """What became of the tests of one run of pytest."""

    outcomes: dict[str, str] = field(default_factory=dict[str, str])
    """``passed``, ``failed``, ``skipped``, or ``begun``: it did not end."""
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    failed: str = ""
    """The first test that failed, or did not end."""
    # Of each process; empty when it ended before it could tell.
    reached: list[dict[str, dict[str, list[str]]]] = field(default_factory=list[dict[str, dict[str, list[str]]]])
    printed: str = ""


class Copy:
    """A copy of the tree, as it is now."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self._folder = folder
        self._warm = Warm()
        (folder / "tmp").mkdir(parents=True)
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)

    def close(self) -> None:
        """End its processes."""
        self._warm.close()

    def write(self, file: str, text: str) -> None:
        """Replace a file; its new time tells Python that a compiled one is out of date."""
        path = self.root / file
        path.write_text(text)
        at = time.time() + next(_seconds)
        os.utime(path, (at, at))

    def test(
        self,
        chosen: Sequence[str] | None,
        *options: str,
        limit_s: float,
        files: Sequence[str] = (),
        record: Sequence[str] | None = None,
    ) -> Run:
        """Run the chosen tests, or all those of ``files``; whatever they leave behind is ended and removed."""
        shutil.rmtree(self._folder / "tmp", ignore_errors=True)
        (self._folder / "tmp").mkdir()
        with tempfile.TemporaryDirectory(prefix="run-", dir=self._folder) as folder:
            task = {"tests": chosen, "record": record, "temporary": str(self._folder / "tmp")}
            Path(folder, "task.json").write_text(json.dumps(task))
            files = files or list(dict.fromkeys(test.partition("::")[0] for test in chosen or ()))
            environ = {**os.environ, "PYTHONPATH": str(self.root), "MUTANTS_FOLDER": folder}
            environ.pop("PYTHONDONTWRITEBYTECODE", None)
            arguments = ["-q", "-p", "no:cacheprovider", "-p", "tests.mutants.plugin", "--hypothesis-seed=0"]
            self._warm.pytest(
                [*arguments, *options, *files],
                folder=self._folder,
                environ=environ,
                printed=Path(folder, "printed"),
                limit_s=limit_s,
            )
            return _read(Path(folder))


def _read(folder: Path) -> Run:
    run = Run(printed=(folder / "printed").read_text(errors="replace"))
    lines = folder / "results.jsonl"
    for line in lines.read_text().splitlines() if lines.exists() else ():
        test, outcome, seconds = json.loads(line)
        if run.outcomes.get(test) != "failed" and (outcome != "passed" or run.outcomes.get(test) != "skipped"):
            run.outcomes[test] = outcome
        run.seconds[test] = run.seconds.get(test, 0.0) + seconds
    run.failed = next((test for test, outcome in run.outcomes.items() if outcome in ("failed", "begun")), "")
    run.reached = [json.loads(path.read_text() or "{}") for path in folder.glob("reached-*.json")]
    return run


def test_of(mutant: Mutant) -> str:
    """The named test's path from the root."""
    return f"tests/{mutant.caught_by}"


def times_in_file(mutant: Mutant) -> int:
    """How often its file holds the text that it replaces."""
    path = ROOT / mutant.file
    return path.read_text().count(mutant.old) if path.is_file() else 0


def is_called(test: str, name: str) -> bool:
    """Whether a test has this name, with or without its parameters."""
    return name in (test, test.partition("[")[0])


def problems(mutants: Sequence[Mutant], clean: Run) -> Iterator[tuple[Mutant, str]]:
    """What is wrong with rows, before any mutant is tried."""
    for mutant in mutants:
        times = times_in_file(mutant)
        outcomes = {outcome for test, outcome in clean.outcomes.items() if is_called(test, test_of(mutant))}
        if times != 1:
            yield mutant, f"the text to replace is {times} times in {mutant.file}"
        elif outcomes != {"passed"}:
            yield mutant, f"without the break {mutant.caught_by} is {' and '.join(sorted(outcomes)) or 'not found'}"


def verify(copy: Copy, mutants: Sequence[Mutant]) -> Run:
    """Run the named tests without any break."""
    named = list(dict.fromkeys(map(test_of, mutants)))
    there = [test for test in named if (copy.root / test.partition("::")[0]).is_file()]
    options = ["-n", str(AT_ONCE), "--dist", "worksteal"] if len(there) > AT_ONCE else []
    return copy.test(there, *QUICK, *options, limit_s=3_600) if there else Run()


def outcome_of(copy: Copy, mutant: Mutant, others: Sequence[str], limit_s: float) -> tuple[str, bool]:
    """What becomes of a mutant: the words of its line, and whether a test noticed it."""
    original = (copy.root / mutant.file).read_text()
    copy.write(mutant.file, original.replace(mutant.old, mutant.new))
    try:
        options = [*QUICK, "-x", f"--timeout={limit_s:g}"]
        run = copy.test([test_of(mutant)], *options, limit_s=limit_s + BESIDE_S)
        if run.failed:
            return "caught", True
        if not run.outcomes:
            return f"NOT RUN, its tests cannot even be collected: {run.printed[-200:]!r}", False
        others = [test for test in others if not is_called(test, test_of(mutant))]
        if others and (found := copy.test(others, *options, limit_s=OTHERS_S).failed):
            return f"caught by another test than {mutant.caught_by}: {found}", True
        return f"SURVIVED {mutant.caught_by} and {len(others)} others", False
    finally:
        copy.write(mutant.file, original)


def try_all(pool: ThreadPoolExecutor, copies: Sequence[Copy], mutants: Sequence[Mutant]) -> bool:
    """Try mutants and print a line for each; whether all is well."""
    clean = verify(copies[0], mutants)
    wrong = list(problems(mutants, clean))
    for mutant, reason in wrong:
        print(f"BROKEN ROW  {mutant.rule} {reason}", flush=True)
    if not clean.outcomes:
        print(clean.printed)
    left = [mutant for mutant in mutants if not any(mutant is each for each, _ in wrong)]
    record = load(left)
    free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def attempt(mutant: Mutant) -> tuple[str, bool]:
        took = sum(seconds for test, seconds in clean.seconds.items() if is_called(test, test_of(mutant)))
        copy, begun = free.get(), time.monotonic()
        try:
            words, noticed = outcome_of(copy, mutant, record.get(mutant, ()), LEAST_S + LIMIT_FACTOR * took)
        finally:
            free.put(copy)
        print(f"{words}  [{mutant.file}] {mutant.rule} {time.monotonic() - begun:.1f} s", flush=True)
        return words, noticed

    results = list(pool.map(attempt, left))
    survived = sum(not noticed for _, noticed in results)
    by_another = sum(words.startswith("caught by another") for words, _ in results)
    print(f"{len(results) - survived} caught ({by_another} by another test), {survived} survived, {len(wrong)} broken")
    return not survived and not wrong


def all_mutants(rooms: Sequence[str]) -> list[Mutant]:
    """The mutants of the rooms, or of all."""
    there = {module.name for module in pkgutil.iter_modules(tests.mutants.__path__)} - MACHINERY
    if missing := set(rooms) - there:
        raise SystemExit(f"no room {', '.join(sorted(missing))}; the rooms are {', '.join(sorted(there))}")
    chosen = [importlib.import_module(f"tests.mutants.{name}") for name in sorted(rooms or there)]
    return [mutant for module in chosen for mutant in module.MUTANTS]


def record_all(folder: Path, mutants: Sequence[Mutant], tests: Sequence[str]) -> None:
    """Run the tests of some files under coverage, and save which of them reach which mutants."""
    files = sorted({mutant.file for mutant in mutants})
    options = ["-n2", "--dist=worksteal", "-m", ORDINARY]
    with closing(Copy(folder / "0")) as copy:
        run = copy.test(None, *options, limit_s=7_200, files=tests, record=files)
    print(run.printed)
    save([mutant for mutant in mutants if times_in_file(mutant) == 1], run.reached, run.seconds)
    if not all(run.reached):
        raise SystemExit("The record is incomplete: a process lost the notes of its tests, because one of them hung.")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help="a module of tests/mutants; all when none is given")
    parser.add_argument("--list", action="store_true", help="print the rules")
    parser.add_argument("--record", action="store_true", help="record which tests reach the mutants; runs all tests")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="files whose tests --record runs")
    options = parser.parse_args()
    mutants = all_mutants(options.rooms)
    if options.list:
        print(*(f"{mutant.file}  {mutant.rule}" for mutant in mutants), sep="\n")
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: nothing is left behind
    with tempfile.TemporaryDirectory(prefix="mt-", dir=TEMPORARY, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if options.record:
            record_all(folder, mutants, options.tests)
            return
        # The copies close first: that ends the tests for which the threads of the pool wait.
        with ThreadPoolExecutor(AT_ONCE) as pool, ExitStack() as stack:
            copies = [stack.enter_context(closing(Copy(folder / str(number)))) for number in range(AT_ONCE)]
            is_well = try_all(pool, copies, mutants)
    raise SystemExit(not is_well)


if __name__ == "__main__":
    main()
