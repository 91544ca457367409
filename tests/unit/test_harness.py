"""The harness itself: one test never takes others along, and each failure is named with a command of its own."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests import failures, forked, time_limit
from tests.limits import HANG_S
from tests.processes import environment_of

ROOT = Path(__file__).resolve().parents[2]
SUITE = "tests/harness/suite.py"
BAD = tuple(re.findall(r"^(?:async )?def (test_(?!good)\w+)", (ROOT / SUITE).read_text(), re.MULTILINE))
GOOD = 41  # with the test of which only the fixture hangs, after it has passed
ALONE = ("--confcutdir=tests/harness", "-p", "tests.time_limit", "-p", "tests.failures", "-p", "no:cacheprovider")


@pytest.fixture(scope="module")
def printed(pytestconfig: pytest.Config) -> str:
    """A run of the suite with the options of ``make test``; without ``tests/conftest.py``, whose imports take long."""
    assert all(pytestconfig.pluginmanager.is_registered(plugin) for plugin in (time_limit, failures))
    makefile = (ROOT / "Makefile").read_text()
    options = re.search(r"^PARALLEL := -n \$\(WORKERS\) (.+)$", makefile, re.MULTILINE)
    assert options is not None, "the Makefile says nowhere how tests are run"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", *options[1].split(), *ALONE, SUITE],
        check=False,
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_every_other_test_runs_to_its_end(printed: str) -> None:
    assert f"{len(BAD) - 1} failed, {GOOD} passed, 1 error" in printed
    assert "INTERNALERROR" not in printed


def test_the_last_lines_name_each_failure_with_a_command_of_its_own(printed: str) -> None:
    last = printed.strip().splitlines()[-len(BAD) :]

    assert sorted(last) == sorted(f"  .venv/bin/python -m pytest {SUITE}::{name}" for name in BAD)


def test_a_hanging_test_tells_where_it_hangs(printed: str) -> None:
    told = re.findall(rf"^{SUITE}::(test_\w+).* did not end within 1 s$", printed, re.MULTILINE)
    assert sorted(set(told)) == sorted(name for name in BAD if "hangs" in name)
    assert re.search(r"suite\.py:\d+ test_hangs_in_an_async_test", printed)
    assert re.search(r'suite\.py", line \d+, in test_hangs_in_plain_code', printed)


def test_commands_of_a_test_process_that_ends_are_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asking = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    monkeypatch.setattr(forked, "place", forked.place)
    monkeypatch.setattr(forked, "_maker", lambda _stepped: asking)
    end = None if forked.place else forked.for_all()
    asking.connect(forked.place)
    readable, writable = os.pipe()
    reading = forked.Process(("send", "web:ann", "-"), environment_of(tmp_path, {}), readable, writable, writable)

    asking.close()

    assert reading.wait(HANG_S) == -signal.SIGKILL
    os.close(readable)
    os.close(writable)
    if end is not None:
        end()
