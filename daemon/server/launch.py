"""Bringing the server up: find it running, or start it and its keeper. Blocking; runs in a worker thread."""

import contextlib
import os
import random
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from dataclasses import replace
from pathlib import Path

import structlog
from anyio import from_thread

from daemon.errors import ServerNotReady
from daemon.server import redis_program
from daemon.server.blocking_client import BlockingClient, Refusal
from daemon.server.redis_program import check_manifest, check_marker, find_program, is_bundled
from daemon.server.server_files import (
    ServerFiles,
    ServerState,
    read_state,
    shared_lock,
    socket_path,
    try_lock,
    write_private,
    write_state,
)

REPLY_TIMEOUT_S = 2.0
START_TIMEOUT_S = 30.0
"""Limit of one call for a server that is loading its data; the next call continues to wait."""
SPAWN_TIMEOUT_S = 5.0
POLL_MIN_S, POLL_MAX_S = 0.002, 0.05
REWRITE_MIN = "256mb"
"""The server writes its log anew when it has doubled, and not below this length: a copy takes the second core for a
while. At 64 MB, the server's default, that is after every 9,500 messages, and costs each some 20 µs; at this length a
server that was killed reads its log back in 2.7 s (64 MB: 0.6 s), see docs/decisions/008-engine.md."""
TIMER_HZ = 5
"""How often a second the server wakes up for its own work, such as expired keys or the end of a copy: half of the
default, and more often with many clients. It ends up to 0.2 s after a signal."""
MIN_FREE_BYTES = 16 * 1024 * 1024
"""Below this a server would end at one of its next writes, so it is not started."""
PORTS = range(20_000, 30_000)
"""Where a new port is looked for: below those that Linux (32768) and macOS (49152) give to outgoing connections, one of
which would hold it when the server comes back, and below those that Kubernetes gives to its services (30000)."""
PORT_TRIALS = 16
"""Then any port will do."""
LOG_MAX_BYTES = 1024 * 1024
"""At a start, a longer log becomes ``server.log.1``."""
TAIL_LINES = 4
CUT_OFF = "loaded anyway because aof-load-truncated is enabled"
"""What Redis and Valkey log when the last command in their file is incomplete (``aof.c``)."""
LOSS = (
    "If the server was killed, only unconfirmed data is missing. If the server was not killed, the file was damaged "
    "and messages may be missing, so compare the data with a backup."
)
ROOT = Path(__file__).resolve().parents[2]
"""Where our packages lie, for the keeper's interpreter."""
KEEPER = "import sys; sys.path.append(sys.argv[1]); from daemon.server.idle_watchdog import main; main(*sys.argv[2:])"
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR")
"""Environment variables of child processes; keys and tokens are not passed on."""

_log = structlog.get_logger()


class Launcher:
    """Finds or starts the server of one data directory."""

    def __init__(self, layout: ServerFiles, *, binary: str, idle_s: float) -> None:
        self._layout = layout
        self._binary = binary
        self._idle_s = idle_s

    def join(self) -> ServerState | None:
        """The running server, if it answers; None if it does not run, or is being started or stopped.

        Under the shared lock: the keeper cannot stop the server between the look at it and the note that it is wanted.
        """
        if not self._layout.folder.exists():
            _refuse_second(self._layout, _place(self._layout))
        self._layout.create()
        with shared_lock(self._layout.start_lock) as nobody_alone:
            if not nobody_alone:
                return None
            self._layout.want()
            state = probe(self._layout)
            if state is not None:
                self._keep()
            return state

    def lead(self) -> ServerState:
        """Start the server, or wait for the one that another process starts.

        Raises:
            ServerNotReady: it ended at its start, has no room, or does not answer in time.
            ConfigError, EngineRefused: there is no program that may open the data.
            OSError: a file cannot be written.
        """
        patience = _Patience(START_TIMEOUT_S)
        with _alone(self._layout, patience):
            log_start: int | None = None
            while (state := probe(self._layout)) is None:
                alive = try_lock(self._layout.alive_lock)
                if alive is not None and log_start is not None:
                    os.close(alive)
                    raise _ended(self._layout, log_start)
                if alive is not None:
                    log_start = self._start(alive)
                    self._keep()
                elif (kept := read_state(self._layout)) and not Path(kept.socket).exists():
                    _stop_unreachable(kept)
                self._layout.want()
                patience.wait(_not_answering(self._layout))
            self._keep()
            write_state(self._layout, state)
            if log_start is not None and any(CUT_OFF in line for line in _said(self._layout, log_start)):
                _log.warning(
                    "server.cut_off", reason=f"the data in {self._layout.folder} is cut off at the end. {LOSS}"
                )
            return state

    def _start(self, alive: int) -> int:
        """Start a server that inherits ``alive``; returns where its output begins in the log."""
        try:
            program = find_program(self._binary)
            check_marker(self._layout, program.engine)
            check_manifest(self._layout.folder)
            state = _settle(self._layout)
            write_private(self._layout.conf, configuration(self._layout, state))
            _tidy(self._layout)
            log_start = self._layout.log.stat().st_size
            command = [str(program.path), str(self._layout.conf)]
            settings = redis_program.settings(bundled=is_bundled(program.path))
            spawn(command, log=self._layout.log, inherited=alive, settings=settings)
            return log_start
        finally:
            os.close(alive)

    def _keep(self) -> None:
        """See to it that a keeper watches the server."""
        lock = try_lock(self._layout.keeper_lock)
        if lock is None:
            return
        try:
            # Isolated and without site-packages: the standard library and our folder, whatever the cwd or PYTHONPATH.
            kept = read_state(self._layout)
            words = [str(ROOT), str(self._layout.data_dir), str(self._idle_s), str(lock), kept.socket if kept else ""]
            spawn([sys.executable, "-I", "-S", "-c", KEEPER, *words], log=self._layout.log, inherited=lock)
        finally:
            os.close(lock)


def probe(layout: ServerFiles) -> ServerState | None:
    """The server of ``layout`` if it answers with our password; None when nothing does, or it still loads.

    Raises:
        ServerNotReady: a server is there, but it has another password.
    """
    state = read_state(layout)
    if state is None:
        return None
    try:
        with BlockingClient.unix(state.socket, timeout_s=REPLY_TIMEOUT_S) as link:
            admitted, pong, about = link.calls(("AUTH", state.password), ("PING",), ("INFO", "server"))
    except OSError:
        return None
    if isinstance(admitted, Refusal) and not admitted.startswith("LOADING"):
        raise ServerNotReady(
            f"a server responds on {state.socket} but rejects the password in {layout.state} ({admitted}). Stop that "
            f"server (its process ID is in {layout.folder / 'server.pid'}). Millpond then starts a new server."
        )
    pid = re.search(rb"process_id:(\d+)", about) if isinstance(about, bytes) else None
    # It refuses a PING while it cannot write to its disk, and is there all the same.
    is_up = pong == b"PONG" or (isinstance(pong, Refusal) and pong.startswith("MISCONF"))
    return replace(state, pid=int(pid[1])) if is_up and pid else None


def configuration(layout: ServerFiles, state: ServerState) -> str:
    """The server's configuration file. Every acknowledged write is on the disk, and nothing is evicted or expires."""
    settings = {
        "dir": str(layout.folder),
        "pidfile": str(layout.folder / "server.pid"),
        "bind": "127.0.0.1",
        "port": str(state.port),
        "unixsocket": state.socket,
        "unixsocketperm": "700",
        "requirepass": state.password,
        "protected-mode": "yes",
        "daemonize": "no",
        "appendonly": "yes",
        "appendfsync": "always",
        "aof-load-truncated": "yes",
        "auto-aof-rewrite-min-size": REWRITE_MIN,
        "hz": str(TIMER_HZ),
        "save": "",
        "maxmemory-policy": "noeviction",
    }
    return "".join(f"{name} {_quoted(value)}\n" for name, value in settings.items())


def spawn(command: list[str], *, log: Path, inherited: int, settings: Mapping[str, str] | None = None) -> None:
    """Start ``command`` in a session of its own, writing to ``log`` and holding the descriptor ``inherited``.

    ``settings`` stand in its environment beside what all children get.

    By way of a shell that ends at once: the child then belongs to init, so it never becomes a zombie of ours, and the
    terminal's Ctrl-C and hang-up do not reach it.

    Raises:
        ServerNotReady: the machine gives no process.
    """
    shell = ["/bin/sh", "-c", '"$@" </dev/null &', "sh", *command]
    try:
        with log.open("ab") as output:
            subprocess.run(  # noqa: S603 - the words are ours, the shell gets them as arguments and reads none
                shell,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[inherited],
                start_new_session=True,
                env={name: os.environ[name] for name in PASSED_ON if name in os.environ} | dict(settings or {}),
                cwd="/",
                umask=0o077,
                timeout=SPAWN_TIMEOUT_S,
                check=True,
            )
    except (BlockingIOError, subprocess.SubprocessError) as error:
        raise ServerNotReady(
            f"{Path(command[0]).name} cannot be started: {error}. Millpond tries again automatically."
        ) from error


def check_room(folder: Path) -> None:
    """Make sure that a server would find room to write.

    Raises:
        ServerNotReady: it would not.
    """
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < MIN_FREE_BYTES:
        raise ServerNotReady(
            f"the disk that holds {folder} is full ({free_bytes // 1024:,} kB free, the embedded server needs "
            f"{MIN_FREE_BYTES // 1024:,}). Free some space. Millpond then continues automatically. No accepted "
            "message is lost."
        )


class _Patience:
    """A deadline for a loop that polls; its waits end when the caller in the event loop is cancelled."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._deadline = time.monotonic() + limit_s
        self._pause_s = POLL_MIN_S

    def wait(self, awaited: str) -> None:
        from_thread.check_cancelled()
        if time.monotonic() > self._deadline:
            raise ServerNotReady(f"{awaited} within {self._limit_s:g} s. Millpond tries again automatically.")
        time.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 1.5, POLL_MAX_S)


@contextlib.contextmanager
def _alone(layout: ServerFiles, patience: _Patience) -> Generator[None]:
    while (lock := try_lock(layout.start_lock)) is None:
        patience.wait(f"another process holds {layout.start_lock} and did not finish starting the embedded server")
    try:
        yield
    finally:
        os.close(lock)


def _settle(layout: ServerFiles) -> ServerState:
    """Where the server will be: where it was, as far as that can be had."""
    kept = read_state(layout)
    port = _free_port(kept.port if kept else None)
    if kept is not None and Path(kept.socket).parent.is_dir() and os.access(Path(kept.socket).parent, os.W_OK):
        state = replace(kept, port=port, pid=0)
    else:
        place = _place(layout)
        _refuse_second(layout, place)
        password = kept.password if kept else secrets.token_urlsafe(32)
        state = ServerState(str(place), port, password, 0)
    write_state(layout, state)
    return state


def _place(layout: ServerFiles) -> Path:
    return socket_path(layout.data_dir, os.environ.get("XDG_RUNTIME_DIR", ""))


def _refuse_second(layout: ServerFiles, place: Path) -> None:
    """Refuse to start beside a server whose folder was removed: the running processes still use that server."""
    with contextlib.suppress(OSError), BlockingClient.unix(place, timeout_s=REPLY_TIMEOUT_S):
        raise ServerNotReady(
            f"the Redis server of the data directory {layout.data_dir} is still running ({place}), even though that "
            "directory was moved away. Stop "
            "all Millpond processes that use this data directory. Remount the original folder or move it back, and "
            "start Millpond."
        )


def _free_port(wanted: int | None) -> int:
    kept = [] if wanted is None else [wanted]
    for port in (*kept, *random.sample(PORTS, PORT_TRIALS), 0):
        with socket.socket() as trial:
            # As the server does: a port whose old connections are still winding down is free.
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                trial.bind(("127.0.0.1", port))
                return int(trial.getsockname()[1])
    raise ServerNotReady(
        "no free port was found on 127.0.0.1 for the embedded server. Millpond tries again automatically."
    )


def _tidy(layout: ServerFiles) -> None:
    """Remove half-written files of a killed server, and shorten a long log."""
    for left in [*layout.folder.glob("temp-*.aof"), *layout.folder.glob("temp-*.rdb")]:
        left.unlink(missing_ok=True)
    layout.log.touch(mode=0o600)
    if layout.log.stat().st_size > LOG_MAX_BYTES:
        layout.log.replace(layout.log.with_suffix(".log.1"))
        layout.log.touch(mode=0o600)


def _stop_unreachable(state: ServerState) -> None:
    """Stop a server whose socket was removed (a cleaned /tmp, a log-out), so that a new one is started."""
    with contextlib.suppress(OSError), BlockingClient.tcp("127.0.0.1", state.port, timeout_s=REPLY_TIMEOUT_S) as link:
        # Only an answer shows that it is past its start, where the socket does not exist yet.
        if not isinstance(link.call("AUTH", state.password), Refusal) and not Path(state.socket).exists():
            link.call("SHUTDOWN")


def _said(layout: ServerFiles, log_start: int) -> list[str]:
    """The lines of the server's log since its start."""
    with layout.log.open("rb") as log:
        log.seek(log_start)
        lines = log.read(LOG_MAX_BYTES).decode("utf-8", "replace").split("\n")
    return [line.strip() for line in lines if line.strip()]


def _ended(layout: ServerFiles, log_start: int) -> ServerNotReady:
    said = " | ".join(_said(layout, log_start)[-TAIL_LINES:])
    return ServerNotReady(
        f"the embedded server stopped while starting. The log {layout.log} ends "
        f"with: {said or 'nothing'}. Correct the problem. Millpond tries again automatically."
    )


def _not_answering(layout: ServerFiles) -> str:
    return (
        f"the embedded server of {layout.data_dir} did not respond. The server may be loading its data, be suspended, "
        f"or be running in another container. See {layout.log}"
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
