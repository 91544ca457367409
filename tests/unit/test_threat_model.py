"""The tables of ``docs/security.md``: every row names tests that exist, and no attacker is left out."""

import ast
import re
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ATTACKERS = (
    *("stranger", "approved person", "group member", "local user", "prompt injection", "tool server", "model server"),
    *("malicious file or link", "package index", "Redis neighbor", "process of one role", "operator's mistake"),
)
NAMED = re.compile(r"`(tests/[\w/]+/test_\w+\.py)::(test_\w+)`")
QUOTED = re.compile(r"`((?:tests/[\w/]*)?\btest_\w+(?:\.py)?|tests/\w+)`")


def rows(heading: str) -> list[list[str]]:
    """The cells of each row of the table below a heading."""
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@lru_cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(
        each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    )  # fmt: skip


def test_every_row_names_tests_that_exist() -> None:
    for row in rows("Threat model"):
        assert len(row) == 4 and all(row), row
        named = NAMED.findall(row[3])
        assert named, f"a row names no test: {row}"
        assert NAMED.sub("", row[3]).replace(", ", "") == "", f"a row names something else than tests: {row}"
        missing = [f"{file}::{name}" for file, name in named if name not in names_in(ROOT / file)]
        assert missing == [], row[0]


def test_every_protection_names_tests_that_exist() -> None:
    files = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}
    for row in rows("Protections"):
        quoted = QUOTED.findall(row[2])
        assert quoted, f"a row names no test: {row}"
        named = [files[Path(each).name] for each in quoted if each.endswith(".py")]
        known = {name for path in named for name in names_in(path)}
        missing = [each for each in quoted if re.fullmatch(r"test_\w+", each) and each not in known]
        missing += [each for each in quoted if each.startswith("tests/") and not (ROOT / each).exists()]
        assert missing == [], row[0]


def test_every_attacker_has_a_row_and_no_row_is_of_somebody_else() -> None:
    named = [row[0].strip("*").lower() for row in rows("Threat model")]

    assert [each for each in ATTACKERS if not any(each.lower() in name for name in named)] == []
    assert [name for name in named if not any(each.lower() in name for each in ATTACKERS)] == []
