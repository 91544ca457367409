"""The table of docs/testing.md and the tests there are: what ``make fuzz`` runs."""

import ast
from pathlib import Path

import pytest

from tests import fuzz
from tests.tables import each_row
from tests.unit import test_parsers

ROOT = Path(__file__).parents[2]
PAGE = fuzz.PAGE.read_text(encoding="utf-8")
LISTED = [*fuzz.listed(PAGE)]


def property_tests(file: str) -> set[str]:
    found = set[str]()
    for node in ast.walk(ast.parse((ROOT / file).read_bytes())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            calls = [each.func for each in node.decorator_list if isinstance(each, ast.Call)]
            if any(isinstance(call, ast.Name) and call.id == "given" for call in calls):
                found.add(node.name)
    return found


@each_row("file", sorted({file for file, _, _ in LISTED}))
def test_every_test_in_the_table_is_one_that_is_given_examples(file: str) -> None:
    wanted = {function for each, function, _ in LISTED if each == file}

    assert wanted <= property_tests(file)


def test_every_row_names_a_test() -> None:
    table = PAGE.partition("## Input from outside")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]

    assert len(rows) > 20
    assert [row for row in rows if not [*fuzz.listed(row)]] == []


def test_every_test_of_a_parser_is_in_the_table() -> None:
    here = "tests/unit/test_parsers.py"

    assert {function for file, function, _ in LISTED if file == here} == property_tests(here)
    assert {parameter for _, _, parameter in LISTED if parameter} == set(test_parsers.PARSERS)


def test_a_breach_is_found_and_the_time_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "conftest.py").write_text(
        "from hypothesis import settings\nsettings.register_profile('fuzz', max_examples=300, database=None)\n"
    )
    broken = tmp_path / "test_broken.py"
    broken.write_text(
        "from hypothesis import given, strategies as st\n"
        "@given(st.integers())\n"
        "def test_small(number):\n    assert number < 1_000\n"
        "@given(st.integers())\n"
        "def test_any(number):\n    assert number == number\n"
    )

    assert not fuzz.run(str(broken), ["test_small"], seed=1, left_s=100.0)
    assert fuzz.run(str(broken), ["test_any"], seed=1, left_s=100.0)
    assert fuzz.run(str(broken), ["test_any"], seed=1, left_s=0.01)

    said = capsys.readouterr().out
    assert "seed 1" in said
    assert "FAILED" in said
    assert "300 examples" in said
    assert "the time is over" in said
