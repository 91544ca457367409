"""Commands as real processes that have not to import everything first, which is most of what a short command takes.

One process has imported what commands need, and makes a copy of itself for each command of each test process, with an
environment, arguments and streams of its own. What a start itself is about (what is imported, who stands in the way of
ours) is tested with processes that begin at nothing.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NoReturn

import anyio

import millpond
from daemon import tokens
from daemon.cli.root_command import COMMANDS
from daemon.recall.vectors import embedder_choice
from tests.limits import HANG_S
from tests.wall_clock import loaded

ROOT = Path(__file__).resolve().parents[1]
REQUEST_MAX = 128 * 1024  # bytes of a command with its environment

IMPORTED = (
    *("daemon.cli", "daemon.run", "daemon.overview", "daemon.people", "daemon.transcripts", "daemon.recall"),
    *("channels.terminal", "workers.agent", "workers.consolidation", "rich.console", "rich.markdown"),
    *(
        "daemon.cli.redis_cli",
        "daemon.cli.doctor.database_checks",
        "daemon.cli.doctor.model_checks",
        "daemon.cli.preflight",
        "daemon.log",
    ),
    *("channels.terminal.screen", "channels.terminal.service", "workers.agent.service", "daemon.recall.qmd"),
    *("workers.consolidation.service", "daemon.setup.interview", "dateparser.date", "numpy", "tokenizers"),
    *(f"daemon.cli.{place.partition(':')[0]}" for place in COMMANDS.values()),
)
"""Imports of most commands; none of them starts a thread or opens anything."""

SERVING = (
    *("daemon.job_handlers", "daemon.model.openai_model", "workers.consolidation.grew_reader"),
    *("channels.web.app", "channels.slack.channel", "channels.telegram.channel", "channels.testing.channel"),
)
"""Imports of ``millpond run`` and ``init`` besides, which are made once the first one is asked for."""


def run(
    command: Sequence[str], environ: Mapping[str, str], given: bytes = b"", *, kill_after_s: float = HANG_S
) -> subprocess.CompletedProcess[str]:
    """``millpond <command>`` to its end, or its death, from the project's root; what it printed.

    Raises:
        TimeoutError: it did not end in time, and was killed.
    """
    readable, writable = os.pipe()
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complained:
        process = Process(command, environ, readable, printed.fileno(), complained.fileno())
        os.close(readable)
        writer = threading.Thread(target=_give, args=(writable, given), daemon=True)
        writer.start()
        try:
            code = process.wait(kill_after_s)
        except TimeoutError:
            process.kill()
            code = process.wait(HANG_S)
            if kill_after_s == HANG_S:
                raise
        writer.join(HANG_S)
        printed.seek(0)
        complained.seek(0)
        return subprocess.CompletedProcess(command, code, printed.read().decode(), complained.read().decode())


def _give(writable: int, given: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(writable, "wb") as file:
        file.write(given)


class Process:
    """``millpond <command>`` under way, from the project's root; used as a ``subprocess.Popen``."""

    stdout: IO[str] | None = None

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], *streams: int, own_session: bool = False
    ) -> None:
        """Start it; ``streams``: its standard input, output and error."""
        self.returncode: int | None = None
        self._told, its = socket.socketpair()
        with its:
            umask = os.umask(0)
            os.umask(umask)
            asked = {"command": command, "environ": dict(environ), "own_session": own_session, "umask": umask}
            request = json.dumps(asked).encode()
            socket.send_fds(_maker(bool(environ.get("LD_PRELOAD"))), [request], [its.fileno(), *streams])
        self.pid = int(self._line())

    def _line(self) -> str:
        text = b""
        while not text.endswith(b"\n"):
            if not (more := self._told.recv(1)):
                raise ConnectionError("the process that makes others has ended")
            text += more
        return text.decode()

    def poll(self) -> int | None:
        with suppress(TimeoutError):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code. Raises TimeoutError: it goes on."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise TimeoutError(f"process {self.pid} goes on")
            self.returncode = int(self._line())
            self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def begin(command: Sequence[str], environ: Mapping[str, str]) -> Process:
    """A command whose output is read while it goes on, and that nobody gives or tells anything else."""
    readable, writable = os.pipe()
    with Path(os.devnull).open("r+b", buffering=0) as nothing, os.fdopen(writable, "wb", buffering=0) as output:
        process = Process(command, environ, nothing.fileno(), output.fileno(), nothing.fileno())
    process.stdout = os.fdopen(readable)
    return process


place = ""
"""Socket of the process that makes those of all test processes (``for_all``); empty: each has a maker of its own."""


@functools.cache
def _maker(stepped: bool) -> socket.socket:
    """Where requests go; ``stepped``: for processes whose wall clock a test steps, so that they load libfaketime."""
    if place:
        ours = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.connect(f"{place}-stepped" if stepped else place)
        return ours
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        process = _begun(its, more=loaded() if stepped else {})
    atexit.register(process.wait, HANG_S)
    atexit.register(ours.close)
    return ours


def for_all() -> Callable[[], None]:
    """Let one process make those of all test processes that are started from now on; what ends it."""
    global place  # noqa: PLW0603 - told to each test process
    folder = tempfile.mkdtemp(prefix="mp-commands-")
    place = f"{folder}/socket"
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its, _listening(place) as plain, _listening(f"{place}-stepped") as stepped:
        process = _begun(its, plain, stepped)

    def end_all() -> None:
        ours.close()
        process.wait(HANG_S)
        shutil.rmtree(folder)

    return end_all


def _listening(where: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.bind(where)
    made.listen()
    return made


def _begun(*sockets: socket.socket, more: Mapping[str, str] = MappingProxyType({})) -> "subprocess.Popen[bytes]":
    """A process that makes others, until nobody can ask at the first of its sockets any more."""
    fds = [each.fileno() for each in sockets]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.forked", *map(str, fds)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=fds,
        cwd=ROOT,
        env={**os.environ, **more, "OPENBLAS_NUM_THREADS": "1"},  # numpy starts a thread for each core otherwise
    )


# The process that makes others.


def main() -> None:
    """Make a process for each request, until whoever began this one asks no more; in each, do what was asked for.

    The processes of anybody else who asks no more are killed: a test process that hangs ends with all that it began.
    """
    signal.signal(signal.SIGCHLD, _tell_ends)
    first, *listening = [socket.socket(fileno=int(fd)) for fd in sys.argv[1:]]
    _sockets.extend((*listening, first))
    while True:
        for each in select.select(_sockets, [], [])[0]:
            if each in listening[1:]:
                _begun(first, each, more=loaded())  # asked for the first time: that one answers from now on
                _sockets.remove(each)
                each.close()
                continue
            if each in listening:
                _sockets.append(each.accept()[0])
                continue
            request, fds, _, _ = socket.recv_fds(each, REQUEST_MAX, 4)
            if request:
                _make(each, json.loads(request), fds)
            elif each is first:
                return
            else:
                _sockets.remove(each)
                _kill_all(each)


def _make(by: socket.socket, asked: Mapping[str, Any], fds: Sequence[int]) -> None:
    _prepare()
    for name in SERVING if {"run", "init"} & set(asked["command"]) else ():
        importlib.import_module(name)
    told, *streams = fds
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # it is known here before it can end
    if (pid := os.fork()) == 0:
        for held in _sockets:
            held.close()
        for fd in (told, *(fd for fd, _ in _running.values())):
            os.close(fd)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        _become(asked, streams)
    _running[pid] = (told, by)
    _tell(told, pid)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    for fd in streams:
        os.close(fd)


@functools.cache
def _prepare() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    # The vocabulary and the shipped weights of the memory search: both take longer than all else that a command does.
    anyio.run(tokens.load, "")
    embedder_choice._shipped()
    gc.freeze()


_sockets: list[socket.socket] = []  # where somebody asks
_running: dict[int, tuple[int, socket.socket]] = {}  # where the end of each process is told, and who asked for it


def _kill_all(by: socket.socket) -> None:
    for pid in [pid for pid, (_, asked_by) in list(_running.items()) if asked_by is by]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _tell_ends(_number: int, _frame: object) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] in _running:  # else it is one that makes others itself
                told, _ = _running.pop(ended[0])
                _tell(told, os.waitstatus_to_exitcode(ended[1]))
                os.close(told)


def _tell(told: int, number: int) -> None:
    with suppress(BrokenPipeError):  # nobody wants to know any more
        os.write(told, f"{number}\n".encode())


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> NoReturn:
    if request["own_session"]:
        os.setsid()
    os.umask(request["umask"])
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115 - for as long as it lives
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115 - as Python makes it
    sys.argv = ["millpond", *request["command"]]
    os.environ.clear()
    os.environ.update(request["environ"])
    time.tzset()
    code: object = 0
    try:
        millpond.main()
    except SystemExit as error:
        code = error.code
    if isinstance(code, str):
        print(code, file=sys.stderr)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    # To take everything apart that was ever imported takes longer than most commands.
    os._exit(int(code) if isinstance(code, int) else bool(code))


if __name__ == "__main__":
    main()
