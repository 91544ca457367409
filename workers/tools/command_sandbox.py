"""A shell command in a sandbox of bubblewrap: it sees the system's programs and one folder, and nothing else.

It has no capabilities, no variables of ours, processes and a temporary folder of its own, and no network unless the
configuration allows it. When bubblewrap is killed, so is all that it started: its processes live in a namespace whose
first process dies with it (bwrap(1), ``--die-with-parent`` and ``--unshare-pid``).
"""

import os
import shutil
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT

import anyio
from anyio.abc import Process

from daemon.config import ExecConfig
from daemon.errors import ToolError

PROGRAM = "bwrap"
HOME = "/work"
"""Where the folder is inside."""
TMP_MAX_BYTES = 64 * 1024 * 1024
"""Of the temporary folder, which is memory."""
FILE_MAX_BLOCKS = 100 * 1024 * 1024 // 512
"""Longest file that a command writes, in the blocks of ``ulimit -f`` (POSIX)."""
GONE_S = 5.0
"""How long a killed sandbox may take to be gone."""

NOT_HERE = (
    "This machine has no working sandbox, so no command can be run. An operator must install bubblewrap and allow "
    "user namespaces."
)

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
"""Beside ``/usr``: links into it, or folders of their own."""
_SETTINGS = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl")
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a command."""

    output: str
    """Standard output and errors, in their order; invalid UTF-8 is replaced."""
    status: int | None
    """Exit code, or minus the number of a signal; None: Millpond stopped it."""
    reason: str = ""
    """Why it was stopped, as a sentence for the model."""


def arguments(config: ExecConfig, folder: Path, command: str) -> list[str]:
    """The command line of bubblewrap."""
    found = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    found += ["--share-net"] if config.network else []
    found += ["--ro-bind", "/usr", "/usr"]
    for path in _SYSTEM:
        if Path(path).is_symlink():
            found += ["--symlink", str(Path(path).readlink()), path]
        else:
            found += ["--ro-bind-try", path, path]
    for path in (*_SETTINGS, *(_NETWORK if config.network else ())):
        found += ["--ro-bind-try", path, path]
    found += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    found += ["--size", str(TMP_MAX_BYTES), "--tmpfs", "/tmp"]  # noqa: S108 - inside the sandbox
    found += ["--bind", str(folder), HOME, "--remount-ro", "/", "--chdir", HOME]
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, "LANG": "C.UTF-8", "TMPDIR": "/tmp"}  # noqa: S108
    for name, value in variables.items():
        found += ["--setenv", name, value]
    return [*found, "--", "/bin/sh", "-c", f'{_limits(config)} && exec /bin/sh -c "$1"', "sh", command]


def _limits(config: ExecConfig) -> str:
    # Some shells know -u, others -p; where neither is known, the command is not run.
    processes = f"{{ ulimit -u {config.processes_max} 2>/dev/null || ulimit -p {config.processes_max}; }}"
    cpu_s = max(1, round(config.timeout_s))
    return (
        f"ulimit -c 0 && ulimit -v {config.memory_max_mb * 1024} && ulimit -t {cpu_s} && "
        f"ulimit -f {FILE_MAX_BLOCKS} && {processes}"
    )


async def run(config: ExecConfig, folder: Path, command: str) -> Outcome:
    """Run a command in the sandbox, with ``folder`` as its only folder that it can write.

    Raises:
        ToolError: there is no sandbox.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise ToolError(NOT_HERE)
    await anyio.Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    words = [program, *arguments(config, folder, command)]
    try:
        # In a session of its own: the whole group is killed.
        process = await anyio.open_process(
            words, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, env={}, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise ToolError(f"The command cannot be started: {error}") from error
    output, reason = bytearray(), f"The command was stopped, because it ran longer than {config.timeout_s:g} s."
    try:
        with anyio.move_on_after(config.timeout_s):
            reason = await _output(process, output, config.output_max_bytes)
            if not reason:
                await process.wait()
    finally:
        await _end(process)
    text = output.decode("utf-8", "replace")
    if not reason and process.returncode == 1 and text.startswith("bwrap: "):
        raise ToolError(f"{NOT_HERE} ({text.splitlines()[0]})")
    return Outcome(output=text, status=None if reason else process.returncode, reason=reason)


async def _output(process: Process, output: bytearray, max_bytes: int) -> str:
    """Read into ``output`` until the end; a reason if there is more than may be."""
    assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
        while True:
            output += await process.stdout.receive()
            if len(output) > max_bytes:
                del output[max_bytes:]
                return f"The command was stopped, because it printed more than {max_bytes:,} bytes."
    return ""


async def _end(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    with anyio.move_on_after(GONE_S, shield=True):
        await process.aclose()


async def problem(config: ExecConfig, folder: Path, *, words: Sequence[str] = ("true",)) -> str:
    """Why no command can be run on this machine, as a sentence; empty: one was."""
    try:
        found = await run(config, folder, " ".join(words))
    except ToolError as error:
        return str(error)
    return "" if found.status == 0 else f"A test command failed: {found.output[:200]!r} {found.reason}".strip()
