"""Converts the tools and results of a tool server, and repairs its lists of tools."""

from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import Context
from types import TracebackType
from typing import Any, Protocol, cast

import anyio
import mcp_types
import msgspec
import structlog
from mcp.shared.message import SessionMessage
from msgspec.structs import replace

from daemon.config import McpConfig
from workers.tools.mcp.redaction import Redaction
from workers.tools.mcp.schema_repair import RepairedSchema, mended
from workers.tools.read_file import IMAGE_MAX_BYTES, IMAGES
from workers.tools.registry import Run, Tool, ToolContext
from workers.tools.tool_result import Image, ToolResult, failure

TOOLS_MAX = 128
"""Tools of one server that a model is told of."""

DESCRIPTION_MAX_CHARS = 1_024
"""Longest description of a function (Azure OpenAI, "function calling")."""

SPARE_S = 15.0
"""What a call may take longer than its server: opening it, and looking whether it is alive."""

SEEN = frozenset({*IMAGES.values(), "image/webp"})
"""Pictures that models can see."""

Call = Callable[[str, Mapping[str, Any], ToolContext], Awaitable[mcp_types.CallToolResult]]
"""Calls a tool of the server by the server's own name."""

_log = structlog.get_logger()


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a server offers and a bot goes without, wholly or in part."""

    tool: str
    """``<server>_<tool>`` by its own name; or the server alone."""
    reason: str


class ToolOffer(msgspec.Struct, frozen=True, kw_only=True):
    """What there is of a server's tools."""

    tools: tuple[Tool, ...] = ()
    """Named ``<server>_<tool>``, whatever signs are in it."""
    problems: tuple[Problem, ...] = ()


def offer_of(server: str, config: McpConfig, offered: Iterable[mcp_types.Tool], call: Call) -> ToolOffer:
    """Those of the offered tools that the configuration allows and a model can be told of; the others are logged."""
    allowed = {tool.name: tool for tool in offered if not config.tools or tool.name in config.tools}
    tools = list[Tool]()
    problems = [
        Problem(tool=f"{server}_{name}", reason="the server does not offer this tool")
        for name in sorted(set(config.tools) - allowed.keys())
    ]
    if len(allowed) > TOOLS_MAX:
        problems.append(
            Problem(tool=server, reason=f"the server offers {len(allowed)} tools, but only {TOOLS_MAX} are used")
        )
    for tool in list(allowed.values())[:TOOLS_MAX]:
        name = f"{server}_{tool.name}"
        try:
            fit = _schema(tool)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            problems.append(Problem(tool=name, reason=f"left out: {error}"))
            continue
        tools.append(_tool(name, tool, fit, config, call))
        if fit.lost:
            reason = (
                f"the tool's schema refers to {', '.join(fit.lost)}, which cannot be resolved, so any value is "
                "allowed there"
            )
            problems.append(Problem(tool=name, reason=reason))
    for problem in problems:
        _log.warning("tools.missing", tool=problem.tool[:200], reason=problem.reason)
    return ToolOffer(tools=tuple(tools), problems=tuple(problems))


def _schema(tool: mcp_types.Tool) -> RepairedSchema:
    if not tool.name:
        raise ValueError("a tool of the server has no name")
    return mended(given_schema(tool.input_schema))


def _tool(name: str, tool: mcp_types.Tool, fit: RepairedSchema, config: McpConfig, call: Call) -> Tool:
    hints = tool.annotations
    return Tool(
        name=name,
        description=(tool.description or tool.title or tool.name)[:DESCRIPTION_MAX_CHARS],
        parameters=fit.parameters,
        run=_run(tool.name, fit, call, Redaction(config)),
        repeatable=bool(hints and (hints.read_only_hint or hints.idempotent_hint)),
        timeout_s=config.timeout_s + SPARE_S,
    )


def _run(name: str, fit: RepairedSchema, call: Call, stars: Redaction) -> Run:
    async def run(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        result = result_of(await call(name, fit.arguments(arguments), context))
        return replace(result, text=stars.over(result.text))

    return run


def result_of(found: mcp_types.CallToolResult) -> ToolResult:
    """What the model reads of a server's result."""
    images: list[Image] = []
    texts = [text for block in found.content if (text := _text(block, images))]
    if not texts and not images and found.structured_content is not None:
        texts = [msgspec.json.encode(found.structured_content).decode()]
    text = "\n".join(texts) or ("(nothing)" if not images else f"{len(images)} pictures")
    return failure(text) if found.is_error else ToolResult(text=text, images=tuple(images))


def _text(block: mcp_types.ContentBlock, images: list[Image]) -> str:
    match block:
        case mcp_types.TextContent():
            return block.text
        case mcp_types.ImageContent() if (image := _image(block)) is not None:
            images.append(image)
            return ""
        case mcp_types.ImageContent() | mcp_types.AudioContent():
            return f"[{block.mime_type}, {len(block.data) * 3 // 4:,} bytes, not shown]"
        case mcp_types.ResourceLink():
            return f"[{block.name}: {block.uri}]"
        case mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents() as resource):
            return resource.text
        case mcp_types.EmbeddedResource():
            return f"[{block.resource.uri}, not shown]"


def _image(block: mcp_types.ImageContent) -> Image | None:
    """The picture, if models can see it and it is not too large for the log."""
    if block.mime_type not in SEEN or len(block.data) * 3 // 4 > IMAGE_MAX_BYTES:
        return None
    try:
        return Image(media_type=block.mime_type, data=b64decode(block.data, validate=True))
    except ValueError:
        return None


# Lists of tools, repaired: the library refuses all tools of a server if one of them is wrong.

GIVEN = "x-millpond-given"
"""Where in a schema that was put in its place the one stands that a server gave."""

_HINTS = ("destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint")


def given_schema(schema: Mapping[str, Any]) -> object:
    """What a server gave as the schema of a tool."""
    return schema.get(GIVEN, schema)


class ServerMessages(Protocol):
    """What a server says, message by message."""

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        ...

    async def aclose(self) -> None:
        """Hear no more."""
        ...


class RepairedLists:
    """What a server says, with its lists of tools made fit; to the library it is the stream that it wraps."""

    def __init__(self, heard: ServerMessages) -> None:
        self._heard = heard

    @property
    def last_context(self) -> Context | None:
        """Of whoever put the last message into the stream; the library asks for it."""
        return getattr(self._heard, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message; errors as the stream's."""
        message = await self._heard.receive()
        if isinstance(message, SessionMessage) and isinstance(message.message, mcp_types.JSONRPCResponse):
            result = message.message.result
            if "tools" in result:
                result["tools"] = _fit(result["tools"])
        return message

    async def aclose(self) -> None:
        """Hear no more."""
        await self._heard.aclose()

    def __aiter__(self) -> "RepairedLists":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> "RepairedLists":
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        await self.aclose()


def _fit(tools: object) -> list[dict[str, Any]]:
    listed = cast("list[object]", tools) if isinstance(tools, list) else []
    return [_repaired_tool(cast("dict[str, Any]", each)) for each in listed if isinstance(each, dict)]


def _repaired_tool(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is made use of; the schema of results is not, and the library would hold results against it."""
    name = given.get("name")
    texts = {key: given[key] for key in ("title", "description") if isinstance(given.get(key), str)}
    tool = {
        "name": name if isinstance(name, str) else "",
        **texts,
        "inputSchema": _repaired_schema(given.get("inputSchema")),
    }
    hints = given.get("annotations")
    if isinstance(hints, dict):
        known = cast("dict[str, object]", hints)
        tool["annotations"] = {key: known[key] for key in _HINTS if isinstance(known.get(key), bool)}
    return tool


def _repaired_schema(given: object) -> dict[str, Any]:
    schema = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    known, required = schema.get("properties", {}), schema.get("required", [])
    if schema.get("type") == "object" and isinstance(known, dict) and isinstance(required, list):
        return schema
    return {"type": "object", GIVEN: given}
