"""The shell as the tool ``exec`` of one turn uses it: for whom it is there, in which folder, and the audit."""

import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

from daemon.bus import Bus
from daemon.config import ExecConfig
from daemon.errors import ToolError
from daemon.operators import Approval, Approvals, Audit, approval_id_of
from daemon.printable import printable
from daemon.wording import Language
from daemon.wording import text as say
from workers.tools.command_sandbox import run

Say = Callable[[str], Awaitable[None]]

POLL_S = 0.5
"""How often a command that waits looks whether it is approved."""

WAITING = ("asked", "waiting")

UNAPPROVED = {
    "denied": (
        "An administrator denied this command, so the command was not run. Do not try the command again in another "
        "form. Tell the person that the command was denied."
    ),
    "expired": ("No administrator approved this command within {minutes} minutes, so it was not run. Tell the person."),
    "started": (
        "The command was approved and started once, but its result was lost. The effect of the command is unknown."
    ),
}
"""The results of commands that are not run, for the model."""

_backticks = re.compile("`+")


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
            # In the chat it is said once, whoever repeats the call.
            await ask(text)
            if found.status == "asked":
                await self._note(call, "waiting")
                await self.tell_administrators(text)
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
        await Audit(self.bus).note(who=self.who, action="exec", target=call, outcome=outcome)


def fenced(command: str) -> str:
    """A command as a block of code, with a sign in the place of what a reader would not see."""
    longest = max((len(found[0]) for found in _backticks.finditer(command)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{printable(command)}\n{fence}"
