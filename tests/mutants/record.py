"""Which tests reach the line that a mutant breaks, the cheapest first: ``record.json``."""

import ast
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from tests.mutants.mutant import Mutant

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).with_name("record.json")
MOST = 20
"""Tests that are kept for each mutant."""


def load(mutants: Sequence[Mutant]) -> dict[Mutant, list[str]]:
    """The recorded tests of each mutant that has any."""
    if not RECORD.exists():
        return {}
    record = json.loads(RECORD.read_text())
    found = {mutant: record["mutants"].get(_key(mutant), ()) for mutant in mutants}
    return {mutant: [record["tests"][number] for number in numbers] for mutant, numbers in found.items() if numbers}


def save(
    mutants: Sequence[Mutant],
    reached: Sequence[Mapping[str, Mapping[str, Sequence[str]]]],
    seconds: Mapping[str, float],
) -> None:
    """Keep the tests of each mutant; those of mutants that are not given stay away."""
    found: dict[str, list[str]] = {}
    for mutant in mutants:
        lines: dict[int, set[str]] = {}
        for part in reached:
            for line, tests in part.get(mutant.file, {}).items():
                lines.setdefault(int(line), set()).update(tests)
        tests = next(filter(None, (_of_lines(lines, span) for span in _spans(mutant))), set())
        found[_key(mutant)] = sorted(tests, key=lambda test: (seconds.get(test, 0.0), test))[:MOST]
    tests = sorted({test for each in found.values() for test in each})
    numbers = {test: number for number, test in enumerate(tests)}
    kept = {key: [numbers[test] for test in each] for key, each in sorted(found.items()) if each}
    lines = [f'"mutants": {{\n{_joined(kept.items())}\n}}', f'"tests": {json.dumps(tests, indent=0)}']
    RECORD.write_text("{" + ",\n".join(lines) + "}\n")


def _joined(items: Collection[tuple[str, list[int]]]) -> str:
    return ",\n".join(f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in items)


def _key(mutant: Mutant) -> str:
    return f"{mutant.file}: {mutant.rule}"


def _of_lines(lines: Mapping[int, set[str]], span: range) -> set[str]:
    return set().union(*(tests for line, tests in lines.items() if line in span)) - {""}


def _spans(mutant: Mutant) -> Iterator[range]:
    """The broken lines; where no test runs them by themselves, the function or class around them; else the file."""
    text = (ROOT / mutant.file).read_text()
    if mutant.file.endswith(".lua"):
        yield range(1)
        return
    first = text[: text.index(mutant.old)].count("\n") + 1
    last = first + mutant.old.rstrip("\n").count("\n")
    yield range(first, last + 1)
    around = [
        range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and node.lineno <= first and last <= (node.end_lineno or node.lineno)
    ]
    yield from sorted(around, key=len)
    yield range(text.count("\n") + 2)
