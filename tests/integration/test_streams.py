"""Standard streams that are closed, or that cannot show every character, end no command."""

import subprocess
import sys
from pathlib import Path

from tests.limits import HANG_S
from tests.processes import environment_of
from tests.tables import each_row

ROOT = Path(__file__).resolve().parents[2]


@each_row("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_as_dev_null(closed: str, tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m millpond config show {closed}"

    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=ROOT,
        env=environment_of(tmp_path, {}),
        capture_output=True,
        timeout=HANG_S,
        check=False,
    )

    assert (done.returncode, b"Traceback" in done.stdout + done.stderr) == (0, False)


def test_a_terminal_that_lacks_characters_shows_others_for_them(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import millpond; millpond.open_streams(); print('a 茶')"],
        cwd=ROOT,
        env=environment_of(tmp_path, {"PYTHONIOENCODING": "ascii"}),
        capture_output=True,
        timeout=HANG_S,
        check=False,
    )

    assert (done.stdout, done.stderr) == (b"a ?\n", b"")
