"""The tools of a bot: what the model is told of them, and running one."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import msgspec
import structlog

from daemon.clock import Clock
from daemon.errors import BusUnavailable, ConfigError, LeaseLost, ToolError
from daemon.events import Attachment
from daemon.model import ToolCall
from daemon.recall import Recaller
from workers.tools.arguments import Checker
from workers.tools.folders import Folders
from workers.tools.result import Result, failure
from workers.tools.results import fitted

NAME_MAX_CHARS = 64
"""Longest name of a tool (OpenAI, "Function calling"); also what is repeated of one that does not exist."""

READ_FILE_NAME = "read_file"
"""The tool with which a model reads what was too long for the log."""

_OF_THE_TURN = (LeaseLost, BusUnavailable)
"""What says that the turn cannot go on, whoever meets it."""

_log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Saying:
    """What a tool wants to be said in a chat."""

    text: str
    attachments: Sequence[Attachment] = ()
    channel: str = ""
    """Channel instance; empty: the turn's own."""
    chat: str = ""
    """As the platform names it, ``<chat>:<thread>`` for one with threads; empty: the turn's own."""


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What a tool may know of the turn that runs it."""

    clock: Clock
    time_zone: str
    """IANA name: the bot's."""
    bot: str
    session: str
    scope: str
    turn: int
    nonce: str
    """Of the claim: what scripts that write Millpond's own state are checked by."""
    folders: Folders
    say: Callable[["ToolContext", Saying], Awaitable[str]]
    """Says something; gives the session key of the chat. Raises ``ToolError``, ``LeaseLost`` and ``BusUnavailable``."""
    compact: Callable[[str], Awaitable[str]]
    """Consolidates older messages now, its summary preserving what is named; gives a sentence that says what it did."""
    recaller: Recaller
    """Searches what is remembered; a tool asks it for its own scope alone."""
    call: str = ""
    """Names the call within its turn, the same for whoever goes on with the turn."""


Run = Callable[[Mapping[str, Any], ToolContext], Awaitable[str | Result]]
"""What a tool does with arguments that have been checked; it raises ``ToolError`` with a sentence for the model."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """Something that a model may ask to be done."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema of the arguments."""
    run: Run
    repeatable: bool = False
    """Running it twice does no harm, so a call whose result got lost may run again."""
    timeout_s: float | None = None
    """Longest time it may take; None: what the configuration says of all tools."""

    def definition(self) -> bytes:
        """The tool as the chat completions API describes one, JSON."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return msgspec.json.encode({"type": "function", "function": function})


class Registry:
    """Tools by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._checkers = {tool.name: Checker(tool.parameters) for tool in self._tools.values()}
        self.definitions = tuple(tool.definition() for tool in self._tools.values())
        """For a model's request, JSON each."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of all tools, in order."""
        return tuple(self._tools)

    def only(self, names: Iterable[str]) -> "Registry":
        """Those of these tools that a bot lists.

        Raises:
            ConfigError: it lists one that does not exist.
        """
        unknown = [name for name in names if name not in self._tools]
        if unknown:
            raise ConfigError(f"there is no tool {', '.join(unknown)}; there are: {', '.join(self._tools)}")
        return Registry(self._tools[name] for name in names)

    def beside(self, tools: Iterable[Tool]) -> "Registry":
        """These tools and others; of two with one name the first counts."""
        added = {tool.name: tool for tool in reversed(list(tools))}
        return Registry([*self._tools.values(), *(added[name] for name in reversed(added) if name not in self._tools)])

    def repeatable(self, name: str) -> bool:
        """Whether an interrupted call of this tool may run again."""
        tool = self._tools.get(name)
        return tool is not None and tool.repeatable

    async def run(self, call: ToolCall, context: ToolContext, *, timeout_s: float) -> Result:
        """The result of a call as the model reads it; a failure is a result that says so. Only cancellation escapes.

        Raises:
            LeaseLost, BusUnavailable: the turn itself cannot go on.
        """
        result = await self._guarded(call, context, timeout_s=timeout_s)
        return await fitted(result, context.folders, f"turn-{context.turn}-call-{context.call}", kept=self._can_read)

    async def _guarded(self, call: ToolCall, context: ToolContext, *, timeout_s: float) -> Result:
        try:
            return await self._within(call, context, timeout_s=timeout_s)
        except ToolError as error:
            return failure(error)
        except _OF_THE_TURN:
            raise
        except anyio.get_cancelled_exc_class() as error:
            if anyio.get_current_task().has_pending_cancellation():
                raise
            # Nobody cancels this turn: the tool lost something of its own and lets that out.
            return _broken(call, error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the tools' top: a bug in one is a result
            return _broken(call, error)

    async def _within(self, call: ToolCall, context: ToolContext, *, timeout_s: float) -> Result:
        tool = self._tools.get(call.name)
        if tool is None:
            there = ", ".join(self._tools) or "none"
            raise ToolError(f"The tool {call.name[:NAME_MAX_CHARS]!r} was not found. Available tools: {there}")
        arguments = self._checkers[tool.name].read(call.arguments)
        limit_s = timeout_s if tool.timeout_s is None else tool.timeout_s
        with anyio.move_on_after(limit_s):
            found = cast("object", await tool.run(arguments, context))
            if not isinstance(found, str | Result):
                raise TypeError(f"{tool.name} gave back {type(found).__name__}")
            return Result(text=found) if isinstance(found, str) else found
        outcome = "" if tool.repeatable else "; whether it did anything is unknown"
        raise ToolError(f"{tool.name} did not finish within {limit_s:g} s{outcome}")

    @property
    def _can_read(self) -> bool:
        return READ_FILE_NAME in self._tools


def _broken(call: ToolCall, error: BaseException) -> Result:
    _log.warning("tool.failed", tool=call.name[:NAME_MAX_CHARS], reason=type(error).__name__, exc_info=error)
    return failure(f"{call.name} failed: {type(error).__name__}: {error}")
