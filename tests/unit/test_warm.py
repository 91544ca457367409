"""Runs of pytest for mutants leave no process behind."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CALLER = """
import os, sys
from pathlib import Path
from tests.mutants.warm import Warm

folder = Path(sys.argv[1])
Warm(()).pytest(["-q"], folder=folder, environ=os.environ, printed=folder / "printed", limit_s=3_600)
"""
HANGING = """
import signal, subprocess

def test_hangs():
    with open("../fifo", "w", buffering=1) as fifo:
        subprocess.Popen(["sleep", "3600"], stdout=fifo, start_new_session=True)
        print("hangs", file=fifo)
        signal.pause()
"""


def test_no_process_of_a_run_outlives_a_caller_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "test_hanging.py").write_text(HANGING)
    os.mkfifo(tmp_path / "fifo")
    command = [sys.executable, "-c", CALLER, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT) as caller, (tmp_path / "fifo").open() as fifo:
        assert fifo.readline() == "hangs\n"

        caller.kill()

        assert fifo.read() == "", "the file ends when no process holds it any more"
