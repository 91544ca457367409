"""A command on a terminal of its own, which reads and types as a person does."""

import os
import pty
import re
import select
import signal
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from tests import forked
from tests.limits import HANG_S

PRESS_S = 0.25  # between two presses of a key


class OnTerminal:
    def __init__(self, args: Sequence[str], environ: Mapping[str, str], master: int, slave: int) -> None:
        self._master = master
        self._slave = slave
        self._modes = termios.tcgetattr(slave)
        self.process = forked.Process(args, {"TERM": "xterm", **environ}, slave, slave, slave, own_session=True)
        self.screen = ""
        """All that was shown."""
        self._seen = 0

    def shows(self, pattern: str) -> re.Match[str]:
        """Wait until something new matches ``pattern``."""
        until = time.monotonic() + HANG_S
        while (found := re.search(pattern, self.screen[self._seen :])) is None:
            assert time.monotonic() < until, f"{pattern!r} did not come after {self.screen[self._seen :]!r}"
            assert self._read(0.1) or self.process.poll() is None, f"ended without {pattern!r}:\n{self.screen}"
        self._seen += found.end()
        return found

    def type(self, text: str = "") -> None:
        self.press(f"{text}\r")

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def restored(self) -> bool:
        """Whether the terminal is as it was."""
        return termios.tcgetattr(self._slave)[:4] == self._modes[:4]

    def answer(self, pattern: str, text: str = "") -> None:
        self.shows(pattern)
        self.type(text)

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def ends(self, *, interrupted: str = "") -> int:
        """Wait for the end; the exit code. With ``interrupted`` Ctrl-C is pressed until that is shown."""
        until = time.monotonic() + HANG_S
        pressed = float("-inf")
        while self.process.poll() is None:
            if interrupted and interrupted not in self.screen and time.monotonic() > pressed + PRESS_S:
                # More than once: the library that edits the line misses one that comes just before it begins to wait.
                self.interrupt()
                pressed = time.monotonic()
            assert time.monotonic() < until, f"did not end:\n{self.screen}"
            self._read(0.1)
        while self._read(0.0):
            pass
        # One that came while the command ended already: a shell tells both by the same number.
        return 128 + signal.SIGINT if self.process.returncode == -signal.SIGINT else self.process.returncode

    def _read(self, wait_s: float) -> bool:
        if not select.select([self._master], [], [], wait_s)[0]:
            return False
        piece = b""
        with suppress(OSError):  # what Linux says when the other end is closed
            piece = os.read(self._master, 65_536)
        self.screen += piece.decode(errors="replace").replace("\r\n", "\n")
        return bool(piece)


@contextmanager
def on_terminal(*args: str, environ: Mapping[str, str]) -> Iterator[OnTerminal]:
    """A command for the length of the block; killed at its end if it still runs."""
    master, slave = pty.openpty()
    on = OnTerminal(args, environ, master, slave)
    try:
        yield on
    finally:
        on.process.kill()
        on.process.wait(HANG_S)
        os.close(slave)
        os.close(master)
