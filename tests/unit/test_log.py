"""Log lines: one JSON object each, ours and those of libraries alike, whatever stands in them."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from daemon.errors import ModelRefused
from daemon.log import configure  # as it is: what tests run must not configure their logs
from tests.tables import each_row

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, before = root.handlers[:], root.level, structlog.get_config()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**before)


def _lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_line_is_one_object_with_what_was_bound_on_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info")
    with structlog.contextvars.bound_contextvars(correlation="c1"):
        structlog.get_logger().info("message.accepted", session="web:pond", waited_s=1.5)
    [line] = _lines(capsys.readouterr().err)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "message.accepted",
        "level": "info",
        "correlation": "c1",
        "session": "web:pond",
        "waited_s": 1.5,
    }


def test_what_is_below_the_level_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    configure("warning")
    logger = structlog.get_logger()
    logger.info("message.accepted")
    logger.warning("message.refused")
    assert [line["event"] for line in _lines(capsys.readouterr().err)] == ["message.refused"]


def test_an_exception_is_in_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info")
    try:
        raise ValueError("a pond")
    except ValueError:
        structlog.get_logger().exception("turn.failed")
    [line] = _lines(capsys.readouterr().err)
    assert line["level"] == "error"
    assert line["exception"].endswith("ValueError")


def test_no_value_of_an_exception_or_of_a_librarys_line_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info")
    anna = "Anna"
    try:
        try:
            raise KeyError(anna)
        except KeyError as error:
            error.add_note(anna)
            raise ExceptionGroup(anna, [ModelRefused(f"no: {anna}", brief="no"), ValueError(anna)]) from error
    except ExceptionGroup:
        structlog.get_logger().exception("turn.failed")
        logging.getLogger("library").exception("at %s", anna)
    logging.getLogger("library").warning(f"at {anna}")
    text = capsys.readouterr().err
    assert anna not in text
    for each in ("KeyError", "ExceptionGroup", "ModelRefused: no", "ValueError", "test_log.py", "library.line"):
        assert each in text


def test_what_nobody_caught_is_a_line_without_values() -> None:
    code = (
        "import sys, threading, warnings; from daemon import log\n"
        "log.configure('info'); log.take_over()\n"
        "warnings.warn('Anna', stacklevel=1)\n"
        "def fail(): raise ValueError('Anna')\n"
        "thread = threading.Thread(target=fail); thread.start(); thread.join(); fail()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "Anna" not in done.stderr
    *lines, last = done.stderr.splitlines()
    warning, *broken = map(json.loads, lines)
    assert warning["logger"] == "py.warnings"
    assert [line["event"] for line in broken] == ["thread.broken", "process.broken"]
    assert last == "millpond: ValueError, a bug. Millpond's log shows where the error occurred."


def test_a_warning_of_a_library_is_a_line_like_ours(capsys: pytest.CaptureFixture[str]) -> None:
    configure("debug")
    logging.getLogger("library").info("no")
    logging.getLogger("library").warning("at %s", "once")
    [line] = _lines(capsys.readouterr().err)
    assert (line["event"], line["level"], line["logger"]) == ("at %s", "warning", "library")


@each_row(("value", "shown"), [("池塘", "池塘"), ("half \ud83d", "half \ud83d"), (Path("/pond"), "PosixPath('/pond')")])
def test_a_line_is_written_whatever_stands_in_it(capsys: pytest.CaptureFixture[str], value: object, shown: str) -> None:
    configure("info")
    structlog.get_logger().info("value", path=value)
    [line] = _lines(capsys.readouterr().err)
    assert line["path"] == shown


def test_a_terminal_gets_readable_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    configure("info")
    structlog.get_logger().info("message.accepted", session="web:pond")
    line = capsys.readouterr().err
    assert "message.accepted" in line
    assert not line.startswith("{")


def test_lines_go_to_a_file_of_a_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    configure("info", folder=tmp_path / "logs")
    structlog.get_logger().info("message.accepted")
    logging.getLogger().handlers[0].close()
    [line] = _lines((tmp_path / "logs" / "millpond.log").read_text())
    assert line["event"] == "message.accepted"
    assert not capsys.readouterr().err
