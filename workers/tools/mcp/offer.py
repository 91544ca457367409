"""What a tool server offers and gives back, as tools and results of ours."""

import re
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import mcp_types
import msgspec
import structlog

from daemon.config import McpConfig
from workers.tools.arguments import Checker
from workers.tools.mcp.stars import Stars
from workers.tools.read_file import IMAGE_MAX_BYTES, IMAGES
from workers.tools.registry import NAME_MAX_CHARS, Tool, ToolContext
from workers.tools.result import Image, Result, failure

TOOLS_MAX = 128
"""Tools of one server that a model is told of."""

DESCRIPTION_MAX_CHARS = 2_000
SCHEMA_MAX_BYTES = 16_384

SPARE_S = 15.0
"""What a call may take longer than its server: opening it, and looking whether it is alive."""

SEEN = frozenset({*IMAGES.values(), "image/webp"})
"""Pictures that models can see."""

Call = Callable[[str, Mapping[str, Any], ToolContext], Awaitable[mcp_types.CallToolResult]]
"""Calls a tool of the server by the server's own name."""

_NAME = re.compile(r"[a-zA-Z0-9_-]+")

_log = structlog.get_logger()


def tools_of(server: str, config: McpConfig, offered: Iterable[mcp_types.Tool], call: Call) -> tuple[Tool, ...]:
    """Those of the offered tools that the configuration allows and a model can be told of."""
    allowed = [tool for tool in offered if not config.tools or tool.name in config.tools]
    for name in sorted(set(config.tools) - {tool.name for tool in allowed}):
        _log.warning("tools.missing", tool=f"{server}_{name}"[:200], reason="the server does not offer it")
    if len(allowed) > TOOLS_MAX:
        _log.warning("tools.missing", tool=server, reason=f"more than {TOOLS_MAX} are offered", count=len(allowed))
    return tuple(_tools(server, config, allowed[:TOOLS_MAX], call))


def _tools(server: str, config: McpConfig, offered: Iterable[mcp_types.Tool], call: Call) -> Iterator[Tool]:
    for tool in offered:
        name = f"{server}_{tool.name}"
        if problem := _problem(name, tool):
            _log.warning("tools.missing", tool=name[:200], reason=problem)
            continue
        hints = tool.annotations
        yield Tool(
            name=name,
            description=(tool.description or tool.title or "")[:DESCRIPTION_MAX_CHARS],
            parameters=tool.input_schema,
            run=_run(tool.name, call, Stars(config)),
            repeatable=bool(hints and (hints.read_only_hint or hints.idempotent_hint)),
            timeout_s=config.timeout_s + SPARE_S,
        )


def _problem(name: str, tool: mcp_types.Tool) -> str:
    """Why a model cannot be told of a tool; empty when it can."""
    if len(name) > NAME_MAX_CHARS or not _NAME.fullmatch(name):
        return f"models take names of at most {NAME_MAX_CHARS} letters, digits, _ and -"
    try:
        if len(msgspec.json.encode(tool.input_schema)) > SCHEMA_MAX_BYTES:
            return f"its schema is larger than {SCHEMA_MAX_BYTES:,} bytes"
        Checker(tool.input_schema)
    except (ValueError, TypeError, RecursionError) as error:
        return str(error)
    return ""


def _run(name: str, call: Call, stars: Stars) -> Callable[[Mapping[str, Any], ToolContext], Awaitable[Result]]:
    async def run(arguments: Mapping[str, Any], context: ToolContext) -> Result:
        result = result_of(await call(name, arguments, context))
        return replace(result, text=stars.over(result.text))

    return run


def result_of(found: mcp_types.CallToolResult) -> Result:
    """What the model reads of a server's result."""
    images: list[Image] = []
    texts = [text for block in found.content if (text := _text(block, images))]
    if not texts and not images and found.structured_content is not None:
        texts = [msgspec.json.encode(found.structured_content).decode()]
    text = "\n".join(texts) or ("(nothing)" if not images else f"{len(images)} pictures")
    return failure(text) if found.is_error else Result(text=text, images=tuple(images))


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
