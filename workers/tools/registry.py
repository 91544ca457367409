"""The tools of a bot: what the model is told of them, and running one."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec

from daemon.clock import Clock
from daemon.errors import ConfigError, ToolError
from daemon.model import ToolCall

RESULT_MAX_CHARS = 20_000
"""Longest result that goes into the log; some 5,000 tokens, a tenth of the default budget."""


FAILED = "Error: "
"""How the result of a call that failed begins."""


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What a tool may know of the turn that runs it."""

    clock: Clock
    time_zone: str
    """IANA name: the bot's."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """Something that a model may ask to be done."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema of the arguments."""
    run: Callable[[Mapping[str, Any], ToolContext], Awaitable[str]]
    repeatable: bool = False
    """Running it twice does no harm, so a call whose result got lost may run again."""

    def definition(self) -> bytes:
        """The tool as the chat completions API describes one, JSON."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return msgspec.json.encode({"type": "function", "function": function})


class Registry:
    """Tools by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.definitions = tuple(tool.definition() for tool in self._tools.values())
        """For a model's request, JSON each."""

    def only(self, names: Iterable[str]) -> "Registry":
        """Those of these tools that a bot lists.

        Raises:
            ConfigError: it lists one that does not exist.
        """
        unknown = [name for name in names if name not in self._tools]
        if unknown:
            raise ConfigError(f"there is no tool {', '.join(unknown)}; there are: {', '.join(self._tools)}")
        return Registry(self._tools[name] for name in names)

    def repeatable(self, name: str) -> bool:
        """Whether an interrupted call of this tool may run again."""
        tool = self._tools.get(name)
        return tool is not None and tool.repeatable

    async def run(self, call: ToolCall, context: ToolContext, *, timeout_s: float) -> str:
        """The result of a call as the model reads it; a failure is a result that says so."""
        try:
            tool = self._tools.get(call.name)
            if tool is None:
                raise ToolError(f"there is no tool {call.name!r}; there are: {', '.join(self._tools) or 'none'}")
            with anyio.fail_after(timeout_s):
                return _cut(await tool.run(_arguments(call), context))
        except ToolError as error:
            return f"{FAILED}{error}"
        except TimeoutError:
            return f"{FAILED}{call.name} did not finish within {timeout_s:g} s"


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        return msgspec.json.decode(call.arguments or "{}", type=dict[str, Any])
    except msgspec.ValidationError as error:
        raise ToolError(f"the arguments of {call.name} must be a JSON object: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ToolError(f"the arguments of {call.name} are not JSON: {error}") from error


def _cut(result: str) -> str:
    if len(result) <= RESULT_MAX_CHARS:
        return result
    return f"{result[:RESULT_MAX_CHARS]}\n[... {len(result) - RESULT_MAX_CHARS:,} more characters left out]"
