"""Converts the tools and results of a tool server."""

from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import mcp_types
import msgspec
import structlog

from daemon.config import McpConfig
from workers.tools.mcp.redaction import Redaction
from workers.tools.mcp.schema_repair import RepairedSchema, mended
from workers.tools.mcp.tool_list import given_schema
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


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something that a server offers and a bot goes without, wholly or in part."""

    tool: str
    """``<server>_<tool>`` by its own name; or the server alone."""
    reason: str


@dataclass(frozen=True, kw_only=True)
class ToolOffer:
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
