"""The keeper: a small process that stops the embedded server when no process uses it.

It looks at the server's client list about once a second. When no client but itself was there for a while, and nobody
said that it is about to connect, it takes the start lock (nobody can start or look at a server now), looks again, sends
SHUTDOWN, which keeps all data, and exits. It never starts a server: whoever misses it does.

Runs in a bare interpreter (standard library and this package's layout and link only) as
``main(<data_dir>, <idle seconds>, <descriptor of the keeper lock>, <path of the server's socket>)``.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Generator
from pathlib import Path

from daemon.server.blocking_client import BlockingClient, Refusal, Reply
from daemon.server.server_files import ServerFiles, ServerState, read_state, try_lock

LOOK_S = 1.0
"""Seconds between two looks."""
REPLY_TIMEOUT_S = 2.0
STOP_TIMEOUT_S = 15.0
"""The longest that a server takes to write down everything and end (``shutdown-timeout`` is 10 s from Redis 7.0 on)."""
STOP_POLL_S = 0.02


class IdleWatchdog:
    """Watches the server of one data directory."""

    def __init__(self, layout: ServerFiles, idle_s: float, lock: int, socket: str) -> None:
        self._layout = layout
        self._idle_s = idle_s
        self._lock = lock
        self._socket = socket
        self._link: BlockingClient | None = None
        # Before the first look, since the folder may be removed soon. In a new folder, another server has these files.
        self._state = read_state(layout)
        self._alive = _opened(layout.alive_lock)
        if not self._is_ours():
            self._state = self._alive = None

    def watch(self) -> None:
        """Return when the server is stopped, or has been gone for the idle time."""
        quiet_since, wanted = time.monotonic(), self._layout.wanted_ns()
        while True:
            time.sleep(min(LOOK_S, self._idle_s / 5))
            last, wanted = wanted, self._layout.wanted_ns()
            if wanted != last or self._in_use():
                quiet_since = time.monotonic()
            elif self._is_over(quiet_since) and self._finish(wanted):
                return

    def _is_over(self, quiet_since: float) -> bool:
        # Nobody can come back to a folder that was removed.
        return time.monotonic() - quiet_since >= self._idle_s or not self._is_ours()

    def _is_ours(self) -> bool:
        """Whether the folder is still there. The server of a new folder in its place has a keeper of its own."""
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(self._lock), self._layout.keeper_lock.stat())
        return False

    def _is_stopped(self) -> bool:
        return self._alive is None or _is_free(self._alive)

    def _in_use(self) -> bool:
        """Whether the server has a client beside the keeper; a server too busy to say has."""
        try:
            clients = self._call("CLIENT", "LIST")
        except OSError:
            self._hang_up()
            return not self._is_stopped()
        return not isinstance(clients, bytes) or len(clients.splitlines()) > 1

    def _finish(self, wanted_ns: int) -> bool:
        """Stop the server unless a process connected; True when it has stopped."""
        with _alone(self._layout.start_lock) as alone:
            if not alone or self._layout.wanted_ns() != wanted_ns or self._in_use() or not self._stop():
                return False
            # Before the start lock is let go: the next server must get a keeper of its own.
            os.close(self._lock)
            return True

    def _stop(self) -> bool:
        # The connection ends with the server, and a server that is gone already is as good.
        with contextlib.suppress(OSError):
            refused = self._call("SHUTDOWN")
            _say(f"the embedded server did not stop: {refused!r}")
        self._hang_up()
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while not self._is_stopped():
            if time.monotonic() > deadline:
                _say("the server did not stop in time")
                return False
            time.sleep(STOP_POLL_S)
        self._remove_socket(Path(self._state.socket if self._state else self._socket))
        _say("the server was stopped because no process was using it")
        return True

    def _remove_socket(self, socket: Path) -> None:
        """Remove the socket of a server that was killed, and its folder; a server in a new folder keeps its own."""
        with contextlib.suppress(OSError):  # gone already
            try:
                BlockingClient.unix(socket, timeout_s=REPLY_TIMEOUT_S).close()
            except ConnectionRefusedError:
                if self._is_ours() or not self._layout.folder.is_dir():
                    socket.unlink()
            except FileNotFoundError:
                pass
            socket.parent.rmdir()

    def _call(self, *words: str) -> Reply:
        if self._link is None:
            self._link = self._connect()
        return self._link.call(*words)

    def _connect(self) -> BlockingClient:
        # What was read once stays good: somebody may have removed the folder, and the server shall end all the same.
        found = read_state(self._layout)
        if found and self._is_ours():
            self._state = found
        if self._state is None:
            raise FileNotFoundError(self._layout.state)
        link = self._reach(self._state)
        if isinstance(refused := link.call("AUTH", self._state.password), Refusal):
            link.close()
            raise PermissionError(refused)
        return link

    def _reach(self, state: ServerState) -> BlockingClient:
        # The server of a new folder has the same socket and another port.
        if self._is_ours():
            with contextlib.suppress(FileNotFoundError):
                return BlockingClient.unix(state.socket, timeout_s=REPLY_TIMEOUT_S)
        return BlockingClient.tcp("127.0.0.1", state.port, timeout_s=REPLY_TIMEOUT_S)

    def _hang_up(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None


@contextlib.contextmanager
def _alone(path: Path) -> Generator[bool]:
    """Lock ``path``; False if another process holds the lock. The lock of a removed folder is lost."""
    try:
        lock = try_lock(path)
    except FileNotFoundError:
        yield True
        return
    try:
        yield lock is not None
    finally:
        if lock is not None:
            os.close(lock)


def _opened(path: Path) -> int | None:
    with contextlib.suppress(FileNotFoundError):  # the folder is gone already
        return os.open(path, os.O_RDWR)
    return None


def _is_free(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return True


def _say(text: str) -> None:
    """One line in the server's log, which is this process' output."""
    with contextlib.suppress(OSError):  # a full disk must not stop the stopping
        sys.stdout.write(f"keeper {os.getpid()}: {text}\n")
        sys.stdout.flush()


def main(data_dir: str, idle_s: str, lock: str, socket: str) -> None:
    """Keep the server of ``data_dir``; the caller already holds the keeper lock through ``lock``."""
    IdleWatchdog(ServerFiles(Path(data_dir)), float(idle_s), int(lock), socket).watch()
