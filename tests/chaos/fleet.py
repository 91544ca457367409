"""The processes of a run: workers of all kinds and replicas with outboxes, killed, paused and started again."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio

from daemon.bus import Bus
from daemon.errors import BusUnavailable
from daemon.session.session_census import standings
from tests.chaos.ends import Inconclusive
from tests.limits import HANG_S
from tests.processes import environment_of

WORKER = "tests.fakes.tool_worker"  # millpond with tools of tests
NOTES_FILE = "notes"  # where tools note what they do
STARTED = b'"process.started"'
DEATH = "death:"  # how the reason of such a rest begins
LOOK_S = 0.2


class Member:
    """One place in the fleet; whoever fills it may die."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._command = command
        self._environment = environment
        self._log = log
        self._began = 0
        self._process = self._start()
        self.name = log.stem
        self.paused = False

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as output:
            self._began = output.tell()
            return subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=self._environment
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_started(self) -> bool:
        with self._log.open("rb") as lines:
            lines.seek(self._began)
            return STARTED in lines.read()

    @property
    def ended(self) -> int | None:
        """How it ended without being told to; None: it lives."""
        return self._process.poll()

    def kill(self) -> None:
        """SIGKILL, also while it is paused."""
        self._process.kill()
        self._process.wait(HANG_S)

    def replace(self) -> None:
        self.kill()
        self.start()

    def start(self) -> None:
        self._process = self._start()
        self.paused = False

    def stop(self) -> int:
        """SIGTERM; the exit code, once it has ended. Blocks. Raises subprocess.TimeoutExpired: it goes on and on."""
        self._process.terminate()
        return self._process.wait(HANG_S)

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
    def __init__(self, folder: Path, configs: Mapping[str, Path], *, sabotage: str, module: str = WORKER) -> None:
        """Start them.

        Args:
            folder: the run's.
            configs: the configuration of each, by its name, ``<role>-<number>``.
            sabotage: the check that is switched off in all; empty: none.
            module: what is run; its first argument can be that check.
        """
        words = [module, *([sabotage] if sabotage else [])]
        self.members = {
            name: Member(
                # The file is named here: a variable of the environment would not get past the package of tests.
                [sys.executable, "-m", *words, "--config", str(config), "run", "--role", name.partition("-")[0]],
                environment_of(folder / "data", {"NOTES": str(folder / NOTES_FILE)}),
                folder / f"{name}.log",
            )
            for name, config in configs.items()
        }

    def any(self, dice: random.Random, *, among: Sequence[str]) -> Member:
        """One of those with the names ``among``; one that is paused only when all are."""
        members = [self.members[name] for name in among]
        return dice.choice([member for member in members if not member.paused] or members)

    @property
    def is_starting(self) -> bool:
        """Whether one of them lives and has not started yet."""
        return any(member.ended is None and not member.has_started for member in self.members.values())

    async def is_disturbed(self, bus: Bus) -> bool:
        """Whether nobody can expect progress now: a process starts, or a session rests after the deaths of its workers.

        Such a rest takes 80 s after four deaths, and 320 s after five.
        """
        try:
            found = await standings(bus)
        except BusUnavailable:
            return True
        return self.is_starting or any(each.parked and each.reason.startswith(DEATH) for each in found)

    async def started(self, *, within_s: float = HANG_S) -> None:
        """Wait until all have; a run that begins before meets nobody that it could kill.

        Raises:
            Inconclusive: they took too long.
            RuntimeError: one has ended instead.
        """
        with anyio.move_on_after(within_s):
            while self.is_starting:  # noqa: ASYNC110 - their logs say it
                await anyio.sleep(LOOK_S)
        if ended := [
            f"{member.name} with {member.ended}" for member in self.members.values() if member.ended is not None
        ]:
            raise RuntimeError(f"ended before it had started: {', '.join(ended)}")
        if self.is_starting:
            raise Inconclusive(f"not all processes had started after {within_s:g} s, so nothing was tried")

    def kill(self) -> None:
        for member in self.members.values():
            member.kill()


@contextmanager
def fleet(folder: Path, configs: Mapping[str, Path], *, sabotage: str, module: str = WORKER) -> Iterator[Fleet]:
    """Processes for the length of the block; arguments as for ``Fleet``."""
    members = Fleet(folder, configs, sabotage=sabotage, module=module)
    try:
        yield members
    finally:
        members.kill()
