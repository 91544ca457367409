"""The processes of a run: agent workers and replicas with outboxes, killed, paused and started again."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.processes import STOP_LIMIT_S, environment_of

NOTES_FILE = "notes"
"""Where tools note what they do."""


class Member:
    """One place in the fleet; whoever fills it may die."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._command = command
        self._environment = environment
        self._log = log
        self._process = self._start()
        self.paused = False

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as output:
            return subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=self._environment
            )

    def kill(self) -> None:
        """SIGKILL, also while it is paused."""
        self._process.kill()
        self._process.wait(STOP_LIMIT_S)

    def replace(self) -> None:
        """Kill it, and start another at once."""
        self.kill()
        self._process = self._start()
        self.paused = False

    def pause(self) -> int:
        """Stop it in the middle of whatever it does; its process id, by which it goes on."""
        os.kill(self._process.pid, signal.SIGSTOP)
        self.paused = True
        return self._process.pid

    def go_on(self, pid: int) -> bool:
        """Let it go on; False when it was replaced meanwhile."""
        if self._process.pid != pid:
            return False
        os.kill(pid, signal.SIGCONT)
        self.paused = False
        return True


class Fleet:
    """All processes but the server's."""

    def __init__(self, folder: Path, roles: Sequence[str], config: Path, *, sabotage: str) -> None:
        module = ["tests.fakes.tool_worker", *([sabotage] if sabotage else [])]
        self.members = [
            Member(
                # The file is named here: a variable of the environment would not get past the package of tests.
                [sys.executable, "-m", *module, "--config", str(config), "run", "--role", role],
                environment_of(folder / "data", {"NOTES": str(folder / NOTES_FILE)}),
                folder / f"{role}-{number}.log",
            )
            for number, role in enumerate(roles)
        ]

    def any(self, dice: random.Random) -> Member:
        """One of them; one that is paused only when all are."""
        return dice.choice([member for member in self.members if not member.paused] or self.members)

    def kill(self) -> None:
        """End all."""
        for member in self.members:
            member.kill()


@contextmanager
def fleet(folder: Path, roles: Sequence[str], config: Path, *, sabotage: str) -> Iterator[Fleet]:
    """Processes for the length of the block."""
    members = Fleet(folder, roles, config, sabotage=sabotage)
    try:
        yield members
    finally:
        members.kill()
