"""A pytest plugin for runs of mutants: it runs the chosen tests in their order and notes what becomes of each.

With ``record`` it notes as well which tests reach which lines of the chosen files, and which of the Lua scripts.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage

import tests.places

FOLDER = Path(os.environ["MUTANTS_FOLDER"])
"""Of this run: ``task.json`` says what to do, the results are written beside it."""

TASK: dict[str, Any] = json.loads((FOLDER / "task.json").read_text())
ROOT = Path(__file__).parents[2]

tests.places.TEMPORARY = TASK["temporary"]

_scripts: dict[bytes, set[str]] = defaultdict(set)
"""Tests by the text of the scripts that they ran."""
_current = ""
_coverage: Coverage | None = None
if TASK["record"] is not None:
    _coverage = Coverage(data_file=None, include=[str(ROOT / file) for file in TASK["record"]], config_file=False)
    _coverage.set_option("run:disable_warnings", ["no-data-collected"])  # some files run in other processes only
    _coverage.start()
    from daemon.bus.script_batch import Script

    def _noting(script: Script, name: str) -> Any:
        """Every call of a script asks for its hash."""
        if name == "sha":
            _scripts[object.__getattribute__(script, "text")].add(_current)
        return object.__getattribute__(script, name)

    Script.__getattribute__ = _noting  # type: ignore[method-assign,assignment]


def names(nodeid: str) -> Iterator[str]:
    """What a test may be called: with and without its parameters."""
    yield nodeid
    yield nodeid.partition("[")[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the chosen tests only, in their order."""
    wanted: list[str] | None = TASK["tests"]
    if wanted is None:
        return
    places = {name: number for number, name in enumerate(wanted)}
    found = {item: place for item in items for name in names(item.nodeid) if (place := places.get(name)) is not None}
    config.hook.pytest_deselected(items=[item for item in items if item not in found])
    items[:] = sorted(found, key=found.__getitem__)


def pytest_runtest_logstart(nodeid: str) -> None:
    """Note that a test begins: when its process ends, it is the one that hung."""
    global _current  # noqa: PLW0603 - one test runs at a time
    _current = nodeid
    if _coverage is not None:
        _coverage.switch_context(nodeid)
        _reached().touch()
    _note(nodeid, "begun", 0.0)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note what became of a test; it has passed when its fixtures are over."""
    outcome = "begun" if report.passed and report.when != "teardown" else report.outcome
    _note(report.nodeid, outcome, report.duration)


def _note(nodeid: str, outcome: str, seconds: float) -> None:
    with (FOLDER / "results.jsonl").open("a") as results:
        results.write(json.dumps([nodeid, outcome, seconds]) + "\n")


def pytest_sessionfinish() -> None:
    """Write which tests reached which lines and scripts."""
    if _coverage is None:
        return
    _coverage.stop()
    found: dict[str, dict[int, list[str]]] = {}
    for file in TASK["record"]:
        if file.endswith(".py"):
            found[file] = _coverage.get_data().contexts_by_lineno(str(ROOT / file))
        else:  # of a script every line counts as reached
            text = (ROOT / file).read_bytes()
            found[file] = {0: sorted(set().union(*(tests for script, tests in _scripts.items() if text in script)))}
    _reached().write_text(json.dumps(found))


def _reached() -> Path:
    return FOLDER / f"reached-{os.getpid()}.json"
