"""Commands as real processes that have not to import everything first, which is most of what a short command takes.

One process for each worker of the tests has imported what commands need, and makes a copy of itself for each of them,
with an environment, arguments and streams of its own. What a start itself is about (what is imported, who stands in the
way of ours) is tested with processes that begin at nothing.
"""

import atexit
import functools
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import millpond

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 120.0
REQUEST_MAX = 128 * 1024
"""Bytes of a command with its environment."""

IMPORTED = (
    *("daemon.cli", "daemon.run", "daemon.overview", "daemon.people", "daemon.transcripts", "daemon.recall"),
    *("channels.terminal", "workers.agent", "workers.consolidation", "rich.console", "rich.markdown"),
)
"""What most commands need; none of it starts a thread or opens anything."""


def run(command: Sequence[str], environ: Mapping[str, str], given: bytes) -> subprocess.CompletedProcess[str]:
    """``millpond <command>`` to its end, from the project's root; what it printed.

    Raises:
        TimeoutError: it did not end in time, and was killed.
    """
    ours, its = socket.socketpair()
    readable, writable = os.pipe()
    with ours, its, tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complained:
        request = json.dumps({"command": command, "environ": dict(environ)}).encode()
        fds = [its.fileno(), readable, printed.fileno(), complained.fileno()]
        socket.send_fds(_maker(), [request], fds)
        its.close()
        os.close(readable)
        writer = threading.Thread(target=_give, args=(writable, given), daemon=True)
        writer.start()
        code = _ended(ours)
        writer.join(LIMIT_S)
        printed.seek(0)
        complained.seek(0)
        return subprocess.CompletedProcess(command, code, printed.read().decode(), complained.read().decode())


def _give(writable: int, given: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(writable, "wb") as file:
        file.write(given)


def _ended(ours: socket.socket) -> int:
    with ours.makefile("r") as told:
        pid = int(told.readline())
        ours.settimeout(LIMIT_S)
        try:
            return int(told.readline())
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise


@functools.cache
def _maker() -> socket.socket:
    """Where requests go; the process behind it ends when this one does."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.forked", str(its.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
            cwd=ROOT,
        )

    def end() -> None:
        ours.close()
        process.wait(LIMIT_S)

    atexit.register(end)
    return ours


# The process that makes others.


def main() -> None:
    """Make a process for each request, until nobody asks any more; in each of these, do what was asked for."""
    for name in IMPORTED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who looks after a command is waited for by nobody
    requests = socket.socket(fileno=int(sys.argv[1]))
    while True:
        request, fds, _, _ = socket.recv_fds(requests, REQUEST_MAX, 4)
        if not request:
            return
        if os.fork() == 0:
            requests.close()
            _look_after(json.loads(request), *fds)
            return  # into the command's own end
        for fd in fds:
            os.close(fd)


def _look_after(request: Mapping[str, Any], told: int, *streams: int) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.close(told)
        _become(request, streams)
        return
    os.write(told, f"{pid}\n".encode())
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(told, f"{code}\n".encode())
    os._exit(0)  # at once: what else an interpreter does at its end is the maker's, not ours


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - for as long as it lives
    sys.argv = ["millpond", *request["command"]]
    os.environ.clear()
    os.environ.update(request["environ"])
    millpond.main()


if __name__ == "__main__":
    main()
