"""Reports failures: no failure ends the run, and the last lines name each with the command that runs it again."""

import gc
import shlex
from collections.abc import Generator
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """A report parses source code. The garbage collector must not run meanwhile: it finds the task of the failed test,
    whose error is logged, which parses source code as well. Python 3.11 then raises SystemError (AST constructor
    recursion depth mismatch), and the whole run would end.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return (yield)
    finally:
        if was_enabled:
            gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, Any, Any]:
    result = yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(session.config, "workerinput"):
        stats = reporter.stats
        failed = dict.fromkeys(report.nodeid for kind in ("failed", "error") for report in stats.get(kind, ()))
        if failed:
            reporter.write_line("Run each failed test again, by itself:")
        for nodeid in failed:
            reporter.write_line(f"  .venv/bin/python -m pytest {shlex.quote(nodeid)}")
    return result
