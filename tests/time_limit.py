"""The limit of each test, enforced from outside of it: nothing is ever raised in a test or while pytest reports.

The process of a test that hangs notes where every thread and task stands, ends its children and ends itself.
pytest-xdist reports the test as failed and another process takes over; the note is added to the report.

Of ``pytest-timeout`` this keeps the limits (``timeout`` in ``pyproject.toml``, ``pytest.mark.timeout``), not its
methods: one raises wherever the test happens to be, also within pytest; the other shows no asyncio tasks.
"""

import asyncio
import faulthandler
import gc
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any

import pytest

GRACE_S = 60.0
"""A thread that never gives up the interpreter keeps the handler from running: the process is ended so much later."""

_notes = Path()  # the folder of the notes, one file a process


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of the notes, or learn of it in a process of xdist's."""
    global _notes  # noqa: PLW0603 - set once, when a process begins
    told: dict[str, str] | None = getattr(config, "workerinput", None)
    if told is None:
        folder = tempfile.TemporaryDirectory(prefix="mp-notes-")
        config.add_cleanup(folder.cleanup)
        _notes = Path(folder.name)
    else:
        _notes = Path(told["notes"])


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["notes"] = str(_notes)


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool:
    """Start the limit of a test; see ``pytest_timeout``."""

    def end(_number: int, _frame: FrameType | None) -> None:
        with _note_of(_worker()).open("a") as note:
            print(f"{item.nodeid} did not end within {settings.timeout:g} s", *_standing(), sep="\n", file=note)
        if _worker() == "":  # no other process will tell
            sys.__stderr__.write(_note_of("").read_text())  # type: ignore[union-attr]
        _end_children()
        os._exit(1)

    if not item.config.getoption("usepdb"):
        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, settings.timeout)
        faulthandler.dump_traceback_later(settings.timeout + GRACE_S, exit=True, file=_last_words())
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_cancel_timer() -> bool:
    """Do nothing: pytest-timeout calls this as soon as a test has failed, and its fixtures can still hang."""
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(report: pytest.TestReport) -> None:
    """Add the note of a process that ended to the report of its test."""
    with suppress(FileNotFoundError):
        note = _note_of(report.node.gateway.id).read_text()  # type: ignore[attr-defined]
        report.longrepr = f"{report.longrepr}\n{note}"


def _worker() -> str:
    return os.environ.get("PYTEST_XDIST_WORKER", "")


def _note_of(worker: str) -> Path:
    return _notes / f"{worker or 'main'}.txt"


_words: list[IO[str]] = []


def _last_words() -> IO[str]:
    """The note as an open file: ``faulthandler`` writes when nothing can be opened any more."""
    if not _words:
        _words.append(_note_of(_worker()).open("a"))
    return _words[0]


def _standing() -> Iterator[str]:
    for number, frame in sys._current_frames().items():
        yield f"thread {number}:\n{''.join(traceback.format_stack(frame))}"
    for task in [each for each in gc.get_objects() if isinstance(each, asyncio.Task) and not each.done()]:
        yield f"task {task.get_name()}:"
        waiting: Any = task.get_coro()
        while (frame := getattr(waiting, "cr_frame", None)) is not None:
            yield f"  {frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}"
            waiting = waiting.cr_await


def _end_children() -> None:
    """End the processes that the test began; where there is no ``/proc`` they are left to their parents' end."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    ours = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= more
    for child in ours - {os.getpid()}:
        with suppress(OSError):
            os.kill(child, signal.SIGKILL)
