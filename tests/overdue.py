"""What becomes of a test that goes on beyond its limit: it fails, and if it cannot even do that, its process ends.

Of ``pytest-timeout`` this keeps the limits (``timeout`` in ``pyproject.toml``, ``pytest.mark.timeout``). Its own two
methods do not do here: one ends the process at once, and with it what other tests have begun in it; the other raises
an outcome of pytest's own, at which anyio leaves the hanging task where it is, and async fixtures then wait for it.
"""

import asyncio
import faulthandler
import signal
from collections.abc import Generator, Iterator
from types import FrameType
from typing import Any

import pytest

AGAIN_S = 5.0
"""It is said again so often: the first time may have hit a task that is not to blame, and fixtures may hang too."""

GRACE_S = 60.0
"""Whoever has not ended so long after its limit will not hear of it: its process ends, the run goes on in another."""


STDERR = 2


class Overdue(BaseException):
    """A test has not ended in time. No ``Exception``: nobody may take it for an error of what is tested."""


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool:
    """Say it in the middle of the test, wherever that is; see ``pytest_timeout``."""

    def say(_number: int, _frame: FrameType | None) -> None:
        raise Overdue(f"{item.name} did not end within {settings.timeout:g} s\n" + "\n".join(_waiting()))

    if not item.config.getoption("usepdb"):
        signal.signal(signal.SIGALRM, say)
        signal.setitimer(signal.ITIMER_REAL, settings.timeout, AGAIN_S)
        faulthandler.dump_traceback_later(settings.timeout + GRACE_S, exit=True, file=STDERR)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_cancel_timer() -> bool:
    """It goes on: pytest-timeout calls this as soon as a test has failed, and its fixtures can still hang."""
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    """Nothing is due any more when all is over."""
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


def _waiting() -> Iterator[str]:
    """What each task of this thread waits for: the error itself shows no more than the loop."""
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:  # no loop runs here
        return
    for task in tasks:
        yield f"{task.get_name()}:"
        waiting: Any = task.get_coro()
        while (frame := getattr(waiting, "cr_frame", None)) is not None:
            yield f"  {frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}"
            waiting = waiting.cr_await
