"""Requests for a consolidation, and their outcomes."""

from dataclasses import dataclass
from typing import Literal

from daemon.usage import User

Outcome = Literal["settled", "nothing", "busy", "failed", "skipped", "unpaid"]
"""``settled``: the cursor moved; ``nothing``: there was nothing to do; ``busy``: somebody else is at it; ``failed``: no
summary came; ``skipped``: the model was not even asked; ``unpaid``: neither, since a limit is used up."""


@dataclass(frozen=True, kw_only=True)
class Want:
    """Who asks for a consolidation, and for how much."""

    at: Literal["start", "budget", "now"] = "start"
    """From which size on: the background's, that at which a turn waits, or any (a person or the model asked)."""
    focus: str = ""
    """What the summary is to preserve, in the words of whoever asked."""
    fixed_tokens: int | None = None
    """What stands in the prompt beside memory and history; None: what the session's last turn left word of."""
    current_tokens: int = 0
    """Of the turn that waits for it."""
    user: User | None = None
    """Who asks, and pays for it; None: the person whose memory it goes to, or nobody in particular."""
    correlation: str = ""
    """Of the message that it is done for; empty in the background."""

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for it: what can be done later is."""
        return self.at != "start"


BACKGROUND = Want()


@dataclass(kw_only=True)
class Report:
    """What became of it."""

    outcome: Outcome = "nothing"
    first: int = 0
    """Where the cursor stood."""
    upto: int = 0
    """Where it stands now."""
    tokens_before: int = 0
    """Of the prompt, estimated."""
    tokens_after: int = 0
    rounds: int = 0
