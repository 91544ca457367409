"""Tests that measure how long something takes, marked ``measures``: it is quick when it was quick once in three times.

What keeps a machine busy beside a test makes it slow now and then, and never quick: so no limit has to be loosened for
it. What is really too slow is so each time.
"""

import pytest
from _pytest.runner import runtestprotocol

TIMES = 3


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run such a test again, with fixtures of its own, when it failed; only the last time is told."""
    if item.get_closest_marker("measures") is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for _ in range(TIMES - 1):
        if any(report.failed for report in reports):
            reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
