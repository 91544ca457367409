"""The embedded server as the event loop sees it."""

import errno
import time
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec
import structlog

from daemon.config.secret import Secret
from daemon.errors import ConfigError, ServerNotReady, brief
from daemon.server.launch import Launcher, check_room
from daemon.server.server_files import Identity, ServerFiles, ServerState, identity_of

BACKOFF_MIN_S, BACKOFF_MAX_S = 1.0, 10.0
IDLE_S = 10.0
"""How long the server outlives its last client."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
UNUSABLE = frozenset({"EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST", "ENOENT", "ENAMETOOLONG", "ENOLCK", "ENOTSUP"})
"""Errors that do not go away with time: no permission to write, no folder, or a file system without locks."""

log = structlog.get_logger()


class Address(msgspec.Struct, frozen=True):
    """Where the embedded server listens."""

    socket: Path
    """Its unix socket."""
    port: int
    """Its port on 127.0.0.1, for tools that know no sockets."""
    password: Secret
    """Asked for on both."""
    pid: int
    """Its process, at the time of the call."""


class EmbeddedServer:
    """The server of one data directory; any number of objects and processes may stand for the same one."""

    def __init__(self, data_dir: Path, *, binary: str = "", idle_s: float = IDLE_S) -> None:
        """Nothing happens yet.

        Args:
            data_dir: where everything is kept; made if it does not exist.
            binary: path of the server program; empty: the one that came with Millpond, else the PATH's.
            idle_s: how long the server goes on without a client; what the first caller says counts.
        """
        self._layout = ServerFiles(data_dir.expanduser().resolve())
        self._launcher = Launcher(self._layout, binary=binary, idle_s=idle_s)
        self._one_at_a_time = anyio.CapacityLimiter(1)
        self._opened: Identity | None = None
        self._failure: ServerNotReady | None = None
        self._backoff_s = 0.0
        self._not_before = 0.0  # time.monotonic()

    async def ensure(self) -> Address:
        """Make sure that the server runs and answers; start it if it does not. Cheap when it runs.

        Connect within the idle time, and call again when the connection breaks.

        Raises:
            ServerNotReady: not this time (full disk, died at its start); the same call may succeed later.
            EngineRefused: the data was written by an engine that the server must not open.
            ConfigError: the data directory cannot be written, or there is no usable server program.
        """
        state = await anyio.to_thread.run_sync(self._ensure, limiter=self._one_at_a_time)
        return Address(Path(state.socket), state.port, Secret(state.password), state.pid)

    async def gone(self) -> str:
        """Why the data folder is not the one that was opened, a sentence; empty while it is, or nobody can say."""
        return await anyio.to_thread.run_sync(self._gone, abandon_on_cancel=True)

    def _ensure(self) -> ServerState:
        try:
            if gone := self._gone():
                raise ServerNotReady(gone)  # a server that is started now would begin with nothing
            state = self._launcher.join() or self._lead()
            self._opened = self._opened or identity_of(self._layout)
        except OSError as error:
            raise _translated(error, self._layout) from error
        return state

    def _gone(self) -> str:
        try:
            found = identity_of(self._layout)
        except OSError:
            return ""  # the server's own writes fail, or succeed
        if self._opened in (None, found):
            return ""
        folder = self._layout.folder
        text = f"the data folder {folder} was removed"
        if found is not None:
            text = f"the data folder {folder} was replaced by another folder"
        return (
            f"{text}, so new messages would be lost. Remount the original "
            "folder or move it back. Millpond then continues. If the folder is lost, restart Millpond, and "
            "restore a backup."
        )

    def _lead(self) -> ServerState:
        """Start the server, unless that failed a moment ago: many callers must not mean many attempts."""
        check_room(self._layout.folder)  # before the back-off: as soon as there is room again, it starts
        began = time.monotonic()
        if self._failure is not None and began < self._not_before:
            raise ServerNotReady(str(self._failure))
        try:
            state = self._launcher.lead()
        except ServerNotReady as error:
            self._remember(error)
            raise
        self._failure, self._backoff_s = None, 0.0
        log.info("server.started", took_s=round(time.monotonic() - began, 3))
        return state

    def _remember(self, failure: ServerNotReady) -> None:
        self._failure = failure
        self._backoff_s = min(max(self._backoff_s * 2, BACKOFF_MIN_S), BACKOFF_MAX_S)
        self._not_before = time.monotonic() + self._backoff_s
        log.warning("server.failed", reason=brief(failure))


def _translated(error: OSError, layout: ServerFiles) -> ServerNotReady | ConfigError:
    if error.errno in NO_ROOM:
        return ServerNotReady(
            f"the disk of {layout.folder} is full ({error.strerror}). Free some space. Millpond then continues "
            "automatically. No accepted message is lost."
        )
    if errno.errorcode.get(error.errno or 0) in UNUSABLE:
        return ConfigError(
            f"data_dir {layout.data_dir} cannot be used: {error.strerror} ({error.filename}). Make data_dir a "
            "folder that this user can write to, or set another folder in data_dir (or MILLPOND_DATA_DIR)."
        )
    return ServerNotReady(
        f"the embedded server's files in {layout.folder} cannot be used: {error.strerror} ({error.filename}). Correct "
        "the problem. Millpond tries again automatically."
    )
