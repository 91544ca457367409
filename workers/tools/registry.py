"""The tools of a bot: their definitions for the model, and running a call."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import anyio
import msgspec
import structlog

from daemon.clock import Clock
from daemon.errors import BusUnavailable, ConfigError, LeaseLost, ToolError
from daemon.events import Attachment, Choice
from daemon.model import ToolCall
from daemon.recall import Recaller
from workers.tools.command_sandbox import Shell
from workers.tools.file_access import FileAccess
from workers.tools.tool_result import ToolResult, failure, fitted
from workers.tools.web import WebAccess

if TYPE_CHECKING:
    from workers.tools.argument_check import ArgumentCheck

NAME_MAX_CHARS = 64
"""Longest name of a tool (OpenAI, "Function calling"). Errors cut the names of missing tools to it."""

READ_FILE_NAME = "read_file"
"""The tool for reading results that were too long for the log."""

_OF_THE_TURN = (LeaseLost, BusUnavailable)
"""Errors after which the turn cannot continue."""

_log = structlog.get_logger()


class Saying(msgspec.Struct, frozen=True, kw_only=True):
    """A message that a tool sends to a chat."""

    text: str
    attachments: Sequence[Attachment] = ()
    choices: tuple[Choice, ...] = ()
    channel: str = ""
    """Channel instance; empty: the channel of the turn."""
    chat: str = ""
    """The id of the chat on the platform, ``<chat>:<thread>`` with threads; empty: the chat of the turn."""


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a turn that its tools can use."""

    clock: Clock
    time_zone: str
    """IANA name of the bot's time zone."""
    bot: str
    session: str
    scope: str
    turn: int
    nonce: str
    """Of the claim, to check scripts that write state of Millpond."""
    folders: FileAccess
    say: Callable[["ToolContext", Saying], Awaitable[str]]
    """Sends a message; gives the session key of the chat. Raises ``ToolError``, ``LeaseLost``, ``BusUnavailable``."""
    compact: Callable[[str], Awaitable[str]]
    """Consolidates older messages now. Its argument says what to preserve. Gives a sentence on the result."""
    recaller: Recaller
    """Searches memories; a tool uses it for its own scope only."""
    shell: Shell
    """Runs commands in a sandbox."""
    web: WebAccess
    """Searches and reads the web."""
    remind: Callable[["ToolContext", Mapping[str, Any]], Awaitable[str]]
    """Sets, lists and changes reminders; see ``workers.tools.remind``. Raises as ``say``."""
    call: str = ""
    """Identifies the call within its turn; it stays the same if another worker continues the turn."""


Run = Callable[[Mapping[str, Any], ToolContext], Awaitable[str | ToolResult]]
"""Runs a tool with checked arguments; raises ``ToolError`` with a sentence for the model."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool that a model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema of the arguments."""
    run: Run
    repeatable: bool = False
    """Whether a call may run again if its result was lost, because running it twice does no harm."""
    timeout_s: float | None = None
    """Time limit in seconds; None: the configured limit of all tools."""

    def definition(self) -> bytes:
        """The definition of the tool for the chat completions API, JSON."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return msgspec.json.encode({"type": "function", "function": function})

    @cached_property
    def argument_check(self) -> "ArgumentCheck":
        """The check of the arguments, made at the first call of the tool."""
        from workers.tools.argument_check import ArgumentCheck  # noqa: PLC0415 - it takes 40 ms: see ``load_checks``

        return ArgumentCheck(self.parameters)


SENTENCE_MAX_CHARS = 160
"""Two lines of a table on the page."""


def first_sentence(description: str) -> str:
    """The first sentence of a tool's description for people, on one line and cut to ``SENTENCE_MAX_CHARS``."""
    line = " ".join(description.split())
    sentence = line.partition(". ")[0].removesuffix(".")
    return sentence if len(sentence) <= SENTENCE_MAX_CHARS else f"{sentence[: SENTENCE_MAX_CHARS - 1]}…"


def load_checks() -> None:
    """Import the library that checks arguments. Otherwise, the first call of a tool would do it. Blocks."""
    import_module("workers.tools.argument_check")


class Registry:
    """Tools by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.definitions = tuple(tool.definition() for tool in self._tools.values())
        """The definitions for a request to a model, JSON each."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tools, in order."""
        return tuple(self._tools)

    def only(self, names: Iterable[str]) -> "Registry":
        """The tools that a bot lists.

        Raises:
            ConfigError: it lists a tool that does not exist.
        """
        unknown = [name for name in names if name not in self._tools]
        if unknown:
            raise ConfigError(f"unknown tool {', '.join(unknown)}. The tools are: {', '.join(self._tools)}")
        return Registry(self._tools[name] for name in names)

    def beside(self, tools: Iterable[Tool]) -> "Registry":
        """These tools and others. If two have the same name, the first one counts."""
        added = {tool.name: tool for tool in reversed(list(tools))}
        others = [added[name] for name in reversed(added) if name not in self._tools]
        return Registry([*self._tools.values(), *others])

    def repeatable(self, name: str) -> bool:
        """Whether an interrupted call of this tool may run again."""
        tool = self._tools.get(name)
        return tool is not None and tool.repeatable

    async def run(self, call: ToolCall, context: ToolContext, *, timeout_s: float) -> ToolResult:
        """The result of a call for the model. A failure becomes a result that describes it. Only cancellation escapes.

        Raises:
            LeaseLost, BusUnavailable: the turn itself cannot go on.
        """
        result = await self._guarded(call, context, timeout_s=timeout_s)
        return await fitted(result, context.folders, f"turn-{context.turn}-call-{context.call}", kept=self._can_read)

    async def _guarded(self, call: ToolCall, context: ToolContext, *, timeout_s: float) -> ToolResult:
        try:
            return await self._within(call, context, timeout_s=timeout_s)
        except ToolError as error:
            return failure(error)
        except _OF_THE_TURN:
            raise
        except anyio.get_cancelled_exc_class() as error:
            if anyio.get_current_task().has_pending_cancellation():
                raise
            # The turn is not being cancelled: the exception comes from a cancel scope inside the tool.
            return _broken(call, error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a bug in a tool becomes a result
            return _broken(call, error)

    async def _within(self, call: ToolCall, context: ToolContext, *, timeout_s: float) -> ToolResult:
        tool = self._tools.get(call.name)
        if tool is None:
            there = ", ".join(self._tools) or "none"
            raise ToolError(f"The tool {call.name[:NAME_MAX_CHARS]!r} was not found. Available tools: {there}")
        arguments = tool.argument_check.read(call.arguments)
        limit_s = timeout_s if tool.timeout_s is None else tool.timeout_s
        with anyio.move_on_after(limit_s):
            found = cast("object", await tool.run(arguments, context))
            if not isinstance(found, str | ToolResult):
                raise TypeError(f"{tool.name} returned {type(found).__name__}")
            return ToolResult(text=found) if isinstance(found, str) else found
        outcome = "" if tool.repeatable else ". It is unknown whether the call had an effect"
        raise ToolError(f"{tool.name} did not finish within {limit_s:g} s{outcome}")

    @property
    def _can_read(self) -> bool:
        return READ_FILE_NAME in self._tools


def _broken(call: ToolCall, error: BaseException) -> ToolResult:
    _log.warning("tool.failed", tool=call.name[:NAME_MAX_CHARS], reason=type(error).__name__, exc_info=error)
    return failure(f"{call.name} failed: {type(error).__name__}: {error}")
