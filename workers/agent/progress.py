"""What a turn is made with, and how far it has come."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from daemon.events import Inbound, LogEntry
from daemon.model import Model, ToolCall
from daemon.session import Claim, Waiting
from daemon.tokens import Tokenizer
from daemon.wording import Language
from workers.agent.entries import Entries
from workers.agent.live import LiveText
from workers.agent.prompts import Prompts
from workers.tools import Registry, ToolContext


@dataclass(frozen=True, kw_only=True)
class Kit:
    """What all turns of a bot are made with."""

    model: Model
    tokenizer: Tokenizer
    tools: Registry
    time_zone: str
    """IANA name."""
    language: Language
    prompts: Prompts
    budget_tokens: int
    tool_timeout_s: float
    iterations_max: int

    @property
    def fixed_tokens(self) -> int:
        """What the system message without memory, and the tools' definitions count."""
        return self.prompts.fixed_tokens


@dataclass(kw_only=True)
class Progress:
    """The steps of a turn so far."""

    entries: list[LogEntry] = field(default_factory=list[LogEntry])
    """The user messages it answers, then calls and results."""
    step: int = 0
    """How many of the entries are journalled."""
    cut_off: list[ToolCall] = field(default_factory=list[ToolCall])
    """Calls that a predecessor began and may or may not have finished."""
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(kw_only=True)
class Turn:
    """One claim's work, as it goes."""

    claim: Claim
    covered: tuple[Waiting, ...]
    """What it answers; a stop widens it to all that waited before."""
    first: Inbound
    """The message that the turn is named by in logs."""
    kit: Kit
    entries: Entries
    live: LiveText
    tool_context: ToolContext
    began: float
    """Monotonic seconds."""
    history: list[LogEntry] = field(default_factory=list[LogEntry])
    progress: Progress = field(default_factory=Progress)


def inbounds(waiting: Sequence[Waiting]) -> list[Inbound]:
    """The readable messages among ``waiting``, control commands left out."""
    return [entry.inbound for entry in waiting if entry.inbound is not None and not entry.inbound.command]
