"""The shell as the tool ``exec`` of one turn uses it: for whom it is there, in which folder, and the audit."""

from dataclasses import dataclass
from pathlib import Path

from daemon.bus import Bus
from daemon.config import ExecConfig
from daemon.errors import ToolError
from daemon.operators import Audit
from workers.tools.command_sandbox import run


@dataclass(frozen=True, kw_only=True)
class Shell:
    """What a turn may run."""

    bus: Bus
    config: ExecConfig
    folder: Path
    """The scope's own files."""
    who: str
    """The sender, ``<channel instance>:<sender>``."""
    allowed: bool
    """Whether all messages of the turn come from people who may have commands run."""

    async def run(self, command: str, *, call: str) -> str:
        """The output of a command and how it ended; ``call`` names the call, ``<session>#<turn> <call>``.

        Each command is in the audit twice, before and after it ran, without its text: that is in the transcript.

        Raises:
            ToolError: it was not run.
            BusUnavailable: it cannot be audited.
        """
        if not self.allowed:
            await self._note(call, "refused")
            raise ToolError("Only administrators may run commands. Tell the person to ask an administrator.")
        await self._note(call, "started")
        try:
            found = await run(self.config, self.folder, command)
        except ToolError:
            await self._note(call, "failed")
            raise
        await self._note(call, "stopped" if found.status is None else f"exit {found.status}")
        end = found.reason or f"exit code {found.status}"
        return f"{found.output.rstrip()}\n[{end}]".lstrip()

    async def _note(self, call: str, outcome: str) -> None:
        await Audit(self.bus).note(who=self.who, action="exec", target=call, outcome=outcome)
