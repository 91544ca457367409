"""The program ``qmd``, run with limits of time and output. Its child processes end with it."""

import os
import shutil
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE

import anyio
import msgspec
from anyio import to_thread
from anyio.abc import ByteReceiveStream, Process

from daemon.durable import private_folder

PROGRAM = "qmd"

INSTALL = "Install QMD on Node.js 22 or newer with `npm install -g @tobilu/qmd`"
"""What people are told who want it to work."""

OUT_MAX_BYTES = 4 * 1024 * 1024
"""What a command may say: 40 results with all that explains their scores are 300 kB."""

TAIL_BYTES = 400
"""What is kept of its complaints, for people who look for the reason."""

READ_BYTES = 65_536

LOOK_S = 0.05
"""How often is looked whether it still runs."""

DRAIN_S = 0.25
"""How long is still read after its end, when something that it started holds its output open."""

EXIT_S = 2.0
"""How long the end of what was killed is waited for."""

PASSED_ON = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LD_LIBRARY_PATH"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CUDA_PATH", "CUDA_VISIBLE_DEVICES"),
    }
)
"""What it gets to know of our environment, beside all that is called LC_ or QMD_: no secret of ours."""

PLACES = frozenset({"QMD_CONFIG_DIR", "QMD_SQLITE_BUSY_TIMEOUT"})
"""What is ours to say."""


class Failed(Exception):
    """QMD failed. The text states the reason, without the query or results."""

    def __init__(self, why: str, *, said: str = "") -> None:
        super().__init__(why)
        self.said = said
        """The end of its complaints, which may hold anything: for people who are looking for the reason alone."""


class Late(Failed):
    """QMD exceeded its time limit."""


class Qmd(msgspec.Struct, frozen=True):
    """The program, and its folder with an index, its configuration and models."""

    root: Path
    """Absolute."""
    program: str = PROGRAM

    def found(self) -> str:
        """The path of what would be run; empty: it is not installed. Blocks."""
        return shutil.which(os.path.expanduser(self.program)) or ""  # noqa: PTH111 - a bare name stays one

    async def run(self, index: str, *words: str, within_s: float) -> bytes:
        """What a command says, for one of the indexes.

        Raises:
            Failed: it is not installed, complains, was ended, or says too much.
            Late: it took longer than ``within_s``.
        """
        with anyio.move_on_after(within_s):
            process = await self._started(index, words)
            heard = _Heard(process)
            try:
                await heard.to_its_end()
            finally:
                with anyio.CancelScope(shield=True):  # every wait in it has its limit
                    await _end(process)
            if process.returncode == 0:
                return bytes(heard.out)
            raise Failed(_why(process.returncode), said=heard.complaints.decode(errors="replace").strip())
        raise Late("qmd did not respond in time")

    async def _started(self, index: str, words: tuple[str, ...]) -> Process:
        try:
            path = await to_thread.run_sync(self._made_ready, abandon_on_cancel=True)
            if not path:
                raise Failed(f"the program {self.program!r} was not found")
            # An index that is named keeps it from looking for a `.qmd` folder from here to the root of the disk.
            return await anyio.open_process(
                [path, words[0], f"--index={index}", *words[1:]],
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                cwd=self.root,
                env=self._environment(os.environ),
                start_new_session=True,
                umask=0o077,
            )
        except (OSError, ValueError) as error:
            raise Failed(f"qmd cannot be started: {type(error).__name__}") from error

    def _made_ready(self) -> str:
        private_folder(self.root)
        return self.found()

    def _environment(self, ours: Mapping[str, str]) -> dict[str, str]:
        passed = {
            name: value
            for name, value in ours.items()
            if name in PASSED_ON or (name.startswith(("LC_", "QMD_")) and name not in PLACES)
        }
        return {
            **passed,
            "XDG_CACHE_HOME": str(self.root),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "QMD_CONFIG_DIR": str(self.root / "config"),
            # Its own two minutes are longer than anybody waits here.
            "QMD_SQLITE_BUSY_TIMEOUT": "2000",
            "PWD": str(self.root),
            "NO_COLOR": "1",
        }


class _Heard:
    """What a running program says."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.out = bytearray()
        self.complaints = b""

    async def to_its_end(self) -> None:
        """Listen until it has ended. Errors as for ``run``."""
        flood: list[str] = []
        async with anyio.create_task_group() as tg:

            async def hear_all() -> None:
                async with anyio.create_task_group() as both:
                    both.start_soon(self._hear_out, flood, tg.cancel_scope)
                    both.start_soon(self._hear_complaints)
                await self._process.wait()
                tg.cancel_scope.cancel()

            tg.start_soon(hear_all)
            tg.start_soon(self._watch, tg.cancel_scope)
        if flood:
            raise Failed(flood[0])

    async def _hear_out(self, flood: list[str], scope: anyio.CancelScope) -> None:
        def keep(chunk: bytes) -> None:
            self.out += chunk
            if len(self.out) > OUT_MAX_BYTES:
                flood.append(f"qmd printed more than {OUT_MAX_BYTES:,} bytes")
                scope.cancel()

        await _hear(self._process.stdout, keep)

    async def _hear_complaints(self) -> None:
        def keep(chunk: bytes) -> None:
            self.complaints = (self.complaints + chunk)[-TAIL_BYTES:]

        await _hear(self._process.stderr, keep)

    async def _watch(self, scope: anyio.CancelScope) -> None:
        """Notice its end even when something that it started holds its output open."""
        while self._process.returncode is None:  # noqa: ASYNC110 - waiting for the process waits for its output as well
            await anyio.sleep(LOOK_S)
        await anyio.sleep(DRAIN_S)
        scope.cancel()


async def _hear(stream: ByteReceiveStream | None, keep: Callable[[bytes], None]) -> None:
    assert stream is not None  # noqa: S101 - it was opened as a pipe
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            keep(await stream.receive(READ_BYTES))


async def _end(process: Process) -> None:
    """Kill it and all that it has started and left in its group; it keeps nothing that a kill could damage."""
    # The group, even when it has ended itself: what it left behind may go on, and hold its output open.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with anyio.move_on_after(EXIT_S):
        while process.returncode is None:  # noqa: ASYNC110 - as above
            await anyio.sleep(LOOK_S / 10)
    with anyio.move_on_after(EXIT_S), suppress(ProcessLookupError):
        await process.aclose()


def _why(code: int | None) -> str:
    if code is None:
        return "qmd could not be stopped"
    if code >= 0:
        return f"qmd failed with status {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"qmd was stopped by {name}. qmd crashes in this way if Node.js is older than version 22"
