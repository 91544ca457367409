"""The objects that a turn needs, and its progress."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from daemon.events import Attachment, Inbound, LogEntry
from daemon.model import Model, ToolCall
from daemon.session import Claim, PendingMessage
from daemon.tokens import Tokenizer
from daemon.usage import Amount, Payer
from daemon.wording import Language
from workers.agent.live_text import LiveText
from workers.agent.log_entries import LogEntries
from workers.agent.prompt.system_prompt import Prompts
from workers.agent.prompt.turn_requests import TurnRequests
from workers.agent.turn_tracing import TurnTracing
from workers.tools import Registry, ToolContext
from workers.tools.mcp import MissingServer


class Kit(msgspec.Struct, frozen=True, kw_only=True):
    """The objects that all turns of a bot need."""

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
    tool_calls_max: int
    """Of one turn."""
    missing: tuple[MissingServer, ...] = ()
    """Tool servers whose tools are not among ``tools``."""

    @property
    def fixed_tokens(self) -> int:
        """What the system message without memory, and the tools' definitions count."""
        return self.prompts.fixed_tokens


@dataclass(kw_only=True)
class TurnProgress:
    """The finished steps of a turn."""

    entries: list[LogEntry] = field(default_factory=list[LogEntry])
    """The user messages it answers, then calls and results."""
    step: int = 0
    """How many of the entries are journalled."""
    cut_off: list[ToolCall] = field(default_factory=list[ToolCall])
    """Calls that a predecessor began and may or may not have finished."""
    used: dict[str, Amount] = field(default_factory=dict[str, Amount])
    """What this claim's model calls used, by model."""

    @property
    def tokens_in(self) -> int:
        """Of all calls."""
        return sum(amount.tokens_in for amount in self.used.values())

    @property
    def tokens_out(self) -> int:
        """Of all calls."""
        return sum(amount.tokens_out for amount in self.used.values())

    def answered(self, count: int) -> None:
        """Note that so many messages were answered; they count for the model that had the last word."""
        if self.used:
            self.used[next(reversed(self.used))].messages += count


@dataclass(kw_only=True)
class Turn:
    """The work on one claim."""

    claim: Claim
    covered: tuple[PendingMessage, ...]
    """What it answers; a stop widens it to all that waited before."""
    first: Inbound
    """The message that the turn is named by in logs."""
    kit: Kit
    entries: LogEntries
    live: LiveText
    context_of: Callable[[str], ToolContext]
    """What a tool may know, for a call by its name within the turn."""
    began: float
    """Monotonic seconds."""
    requests: TurnRequests
    tracing: TurnTracing
    payer: Payer
    progress: TurnProgress = field(default_factory=TurnProgress)
    spoken: tuple[Attachment, ...] = ()
    """The answer as a recording."""

    @property
    def speech(self) -> str:
        """The path of that recording; empty if there is none."""
        return self.spoken[0].path if self.spoken else ""


def inbounds(waiting: Sequence[PendingMessage]) -> list[Inbound]:
    """The readable messages among ``waiting``, control commands left out."""
    return [entry.inbound for entry in waiting if entry.inbound is not None and not entry.inbound.command]
