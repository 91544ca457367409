"""The last lines of a run name each failure with the command that runs just that test again."""

import shlex
from collections.abc import Generator
from typing import Any

import pytest


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
