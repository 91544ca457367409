"""A run as a process of its own, for tests."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.ends import INCONCLUSIVE, Inconclusive

ROOT = Path(__file__).resolve().parents[2]
HANG_S = 1_200.0  # A run takes half a minute, and ten times as long on a busy machine
PATIENCE = ("1", "2")  # of a run, and of the second one after an inconclusive one


@dataclass(frozen=True)
class Trial:
    code: int
    output: str

    @property
    def found(self) -> dict[str, int]:
        return {text: int(count) for count, text in re.findall(r"^ *(\d+)  (\w.*)$", self.output, re.MULTILINE)}

    @property
    def counts(self) -> dict[str, int]:
        counts = self.output.partition("Counts(")[2]
        return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", counts)}

    def undecided(self, least: Mapping[str, int]) -> str:
        """Why the run proves nothing; empty: it proves something.

        Args:
            least: what has to be done in it, by its name among the counts.
        """
        if self.code == INCONCLUSIVE:
            return self.output
        few = {name: self.counts.get(name, 0) for name, count in least.items() if self.counts.get(name, 0) < count}
        return f"inconclusive: too little was done, {few} of {dict(least)}\n{self.output}" if few else ""


def tried(module: str, *words: str, least: Mapping[str, int]) -> Trial:
    """A run that proves something, the second one if the first does not.

    Args:
        module: what is run.
        words: its arguments.
        least: what has to be done in it, as for ``Trial.undecided``.

    Raises:
        Inconclusive: two runs prove nothing.
    """
    for patience in PATIENCE:
        trial = _run(module, *words, "--patience", patience)
        if trial.code not in (0, INCONCLUSIVE) or not (reason := trial.undecided(least)):
            return trial
    raise Inconclusive(reason)


def _run(*words: str) -> Trial:
    # A group of its own: were the run to hang, its processes would go on without it.
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=HANG_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return Trial(process.returncode, output)
