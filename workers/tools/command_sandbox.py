"""A shell command in a sandbox of bubblewrap: it sees the system's programs and one folder, and nothing else.

It has no capabilities, no variables of ours, processes and a temporary folder of its own, and no network unless the
configuration allows it. When bubblewrap is killed, so is all that it started: its processes live in a namespace whose
first process dies with it (bwrap(1), ``--die-with-parent`` and ``--unshare-pid``).
"""

import os
import re
import secrets
import shutil
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT

import anyio
import msgspec
from anyio import to_thread
from anyio.abc import Process

from daemon.bus import Bus
from daemon.config import ExecConfig
from daemon.durable import folder_below, tidy
from daemon.errors import ToolError
from daemon.events import Choice
from daemon.operators import Approval, Approvals, OperatorAudit, approval_id_of
from daemon.printable import printable
from daemon.wording import Language
from daemon.wording import text as say
from workers.choices import choice
from workers.tools.command_watch import excess
from workers.tools.file_access import DEPTH_MAX

PROGRAM = "bwrap"
AS_LAST = '{ echo 1000 > /proc/self/oom_score_adj; } 2>/dev/null; exec nice -n 10 "$@"'
"""Starts the sandbox as what gives way first: when memory runs out (proc(5)), and when there is too much to compute."""
HOME = "/work"
"""Where the folder is inside."""
TMP_MAX_BYTES = 64 * 1024 * 1024
"""Of the temporary folder, which is memory."""
FILE_MAX_BLOCKS = 100 * 1024 * 1024 // 512
"""Longest file that a command writes, in the blocks of ``ulimit -f`` (POSIX)."""
GONE_S = 5.0
"""How long a killed sandbox may take to be gone."""
TIDY_S = 10.0
"""How long it may take to look through a folder after a command; some hundred thousand files."""

NOT_HERE = (
    "This machine has no working sandbox, so no command can be run. An operator must install bubblewrap and allow "
    "user namespaces."
)

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
"""Beside ``/usr``: links into it, or folders of their own."""
_SETTINGS = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl")
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf")


class CommandResult(msgspec.Struct, frozen=True, kw_only=True):
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
    # The settings of the kernel in /proc/sys are writable for the user that owns them, also without capabilities.
    found += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
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


async def run(config: ExecConfig, folder: Path, command: str) -> CommandResult:
    """Run a command in the sandbox, with ``folder`` as its only folder that it can write.

    Raises:
        ToolError: there is no sandbox.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise ToolError(NOT_HERE)
    await anyio.Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    # An earlier command may have taken away the permissions.
    await anyio.Path(folder).chmod(0o700)
    words = ["/bin/sh", "-c", AS_LAST, "sh", program, *arguments(config, folder, command)]
    try:
        # In a session of its own: the whole group is killed.
        process = await anyio.open_process(
            words, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, env={}, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise ToolError(f"The command cannot be started: {error}") from error
    output, reason = bytearray(), f"The command was stopped because it ran longer than {config.timeout_s:g} s."
    try:
        with anyio.move_on_after(config.timeout_s):
            reason = await _ended(process, output, folder, config)
    finally:
        await _end(process)
        removed = await _tidied(folder)
    text = output.decode("utf-8", "replace")
    if removed:
        text += f"\n[{removed} folders were removed, because folders can be nested at most {DEPTH_MAX} levels deep.]"
    if not reason and process.returncode == 1 and text.startswith("bwrap: "):
        raise ToolError(f"{NOT_HERE} ({text.splitlines()[0]})")
    return CommandResult(output=text, status=None if reason else process.returncode, reason=reason)


async def _ended(process: Process, output: bytearray, folder: Path, config: ExecConfig) -> str:
    """Read into ``output`` until the command ends; a reason if it must be stopped."""
    reason = ""
    async with anyio.create_task_group() as tg:

        async def watched() -> None:
            nonlocal reason
            reason = await excess(process.pid, folder, config)
            tg.cancel_scope.cancel()

        tg.start_soon(watched)
        reason = await _output(process, output, config.output_max_bytes)
        if not reason:
            await process.wait()
        tg.cancel_scope.cancel()
    return reason


async def _output(process: Process, output: bytearray, max_bytes: int) -> str:
    """Read into ``output`` until the end; a reason if there is more than may be."""
    assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
        while True:
            output += await process.stdout.receive()
            if len(output) > max_bytes:
                del output[max_bytes:]
                return f"The command was stopped because it printed more than {max_bytes:,} bytes."
    return ""


async def _tidied(folder: Path) -> int:
    """Leave nothing in ``folder`` that other parts of Millpond cannot read, move or remove; see ``tidy``."""

    def changed() -> int:
        with folder_below(folder, make=False) as opened:
            return tidy(opened, depth=DEPTH_MAX)

    with anyio.move_on_after(TIDY_S, shield=True), suppress(OSError):
        return await to_thread.run_sync(changed, abandon_on_cancel=True)
    return 0


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


# The shell as the tool ``exec`` of one turn uses it: for whom it is there, in which folder, and the audit.

Say = Callable[[str, tuple[Choice, ...]], Awaitable[None]]

POLL_S = 0.5
"""How often a command that waits looks whether it is approved."""

WAITING = ("asked", "waiting")

UNAPPROVED = {
    "denied": (
        "An administrator denied this command, so the command was not run. Do not try the command again in another "
        "form. Tell the person that the command was denied."
    ),
    "expired": ("No administrator approved this command within {minutes} minutes, so it was not run. Tell the person."),
    "started": ("The command was approved and started once, but its result was lost. The command's effect is unknown."),
}
"""The results of commands that are not run, for the model."""

_backticks = re.compile("`+")


class Shell(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn may run."""

    bus: Bus
    config: ExecConfig
    folder: Path
    """The scope's own files."""
    who: str
    """The sender, ``<channel instance>:<sender>``."""
    allowed: bool
    """Whether all messages of the turn come from people who may have commands run."""
    bot: str
    language: Language
    tell_administrators: Say
    """Says something to the administrators in their own chats."""

    async def run(self, command: str, *, call: str, ask: Say) -> str:
        """The output of a command and how it ended; ``call`` names the call, ``<session>#<turn> <call>``.

        With ``exec.approval`` it waits for an administrator, who is asked in the chat, by ``ask``, and elsewhere.

        Each command is in the audit twice, before and after it ran, without its text: that is in the transcript.

        Raises:
            ToolError: it was not run.
            BusUnavailable: it cannot be audited.
        """
        if not self.allowed:
            await self._note(call, "refused")
            raise ToolError("Only administrators may run commands. Tell the person to ask an administrator.")
        if self.config.approval:
            await self._approved(command, call, ask)
        await self._note(call, "started")
        try:
            found = await run(self.config, self.folder, command)
        except ToolError:
            await self._note(call, "failed")
            raise
        await self._note(call, "stopped" if found.status is None else f"exit {found.status}")
        end = found.reason or f"exit code {found.status}"
        return f"{found.output.rstrip()}\n[{end}]".lstrip()

    async def _approved(self, command: str, call: str, ask: Say) -> None:
        """Wait until an administrator approves the command; of all that wait for it, one comes to run it.

        Raises:
            ToolError: it must not be run.
        """
        approval_id, minutes = approval_id_of(call, command), f"{self.config.approval_s / 60:.3g}"
        found = await (look := self._approval(approval_id, call))()
        if found.status in WAITING:
            text = say("approval_asked", self.language, id=approval_id, minutes=minutes, command=fenced(command))
            choices = (
                choice("choice_approve", f"/approve {approval_id}", language=self.language),
                choice("choice_deny", f"/deny {approval_id}", language=self.language),
            )
            # In the chat it is said once, whoever repeats the call.
            await ask(text, choices)
            if found.status == "asked":
                await self._note(call, "waiting")
                await self.tell_administrators(text, choices)
        while found.status in WAITING:
            await anyio.sleep(min(POLL_S, found.left_s))
            found = await look()
        if found.status != "run":
            if found.status == "expired":
                await self._note(call, "expired")
            raise ToolError(UNAPPROVED[found.status].format(minutes=minutes))

    def _approval(self, approval_id: str, call: str) -> Callable[[], Awaitable[Approval]]:
        within_s, asker = self.config.approval_s, secrets.token_hex(8)
        return partial(Approvals(self.bus).ask, approval_id, bot=self.bot, call=call, within_s=within_s, asker=asker)

    async def _note(self, call: str, outcome: str) -> None:
        await OperatorAudit(self.bus).note(who=self.who, action="exec", target=call, outcome=outcome)


def fenced(command: str) -> str:
    """A command as a block of code, with a sign in the place of what a reader would not see."""
    longest = max((len(found[0]) for found in _backticks.finditer(command)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{printable(command)}\n{fence}"
