"""``make fuzz``: the tests that docs/testing.md lists for parsers, with many more examples, again and again.

    python -m tests.fuzz --minutes 10

Each round has a seed of its own, which is printed: the same one finds the same example again. It ends with the first
example that breaks a test, or when the time is over.
"""

import argparse
import random
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "testing.md"
HANGS_S = 600  # what a test may take: two thousand examples of the slowest take a minute, so it hangs
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)(?:\[([^\]`]+)\])?`")
_PASSED = re.compile(r"(\d+) passing")


def listed(text: str) -> Iterator[tuple[str, str, str]]:
    """File, function and parameter of each test that a page names."""
    for found in _TEST.finditer(text):
        yield found[1], found[2], found[3] or ""


def by_file(text: str) -> Mapping[str, Sequence[str]]:
    files = defaultdict[str, dict[str, None]](dict)
    for file, function, _ in listed(text):
        files[file][function] = None
    return {file: [*functions] for file, functions in files.items()}


def run(file: str, functions: Sequence[str], *, seed: int, left_s: float) -> bool:
    """Whether nothing was found; when the time is over, it ends where it is."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=fuzz"]
    command += [
        f"--hypothesis-seed={seed}", "--hypothesis-show-statistics", f"--timeout={HANGS_S}", "--no-header", "-x",
    ]  # fmt: skip
    command += [f"{file}::{function}" for function in functions]
    began = time.monotonic()
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=left_s)
    except subprocess.TimeoutExpired:
        print(f"{file}: {len(functions)} tests, seed {seed}: the time is over", flush=True)
        return True
    examples = sum(map(int, _PASSED.findall(done.stdout)))
    outcome = "FAILED" if done.returncode else "passed"
    took_s = time.monotonic() - began
    print(f"{file}: {len(functions)} tests, {examples:,} examples, seed {seed}, {took_s:.0f} s: {outcome}", flush=True)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", flush=True)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None, help="of the first round; else one that is made up")
    options = parser.parse_args()
    files = by_file(PAGE.read_text(encoding="utf-8"))
    until = time.monotonic() + 60 * options.minutes
    seed = random.randrange(2**32) if options.seed is None else options.seed
    print(f"{sum(map(len, files.values()))} tests of {len(files)} files, {options.minutes:g} minutes", flush=True)
    rounds = 0
    while time.monotonic() < until:
        # Another order each time: a short run should not see the same files alone.
        for file in random.Random(seed).sample(sorted(files), len(files)):
            if time.monotonic() >= until:
                break
            if not run(file, files[file], seed=seed, left_s=max(1.0, until - time.monotonic())):
                return 1
        else:
            rounds += 1
        seed = (seed + 1) % 2**32
    print(f"{rounds} whole rounds, and nothing was found", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
