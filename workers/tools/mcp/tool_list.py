"""Repairs lists of tools, because the library refuses all tools of a server if one of them is wrong.

What is wrong with a tool is for ``offer`` to see: its schema is handed on as it came.
"""

from collections.abc import Mapping
from contextvars import Context
from types import TracebackType
from typing import Any, Protocol, cast

import anyio
import mcp_types
from mcp.shared.message import SessionMessage

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
    return [_tool(cast("dict[str, Any]", each)) for each in listed if isinstance(each, dict)]


def _tool(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is made use of; the schema of results is not, and the library would hold results against it."""
    name = given.get("name")
    texts = {key: given[key] for key in ("title", "description") if isinstance(given.get(key), str)}
    tool = {"name": name if isinstance(name, str) else "", **texts, "inputSchema": _schema(given.get("inputSchema"))}
    hints = given.get("annotations")
    if isinstance(hints, dict):
        known = cast("dict[str, object]", hints)
        tool["annotations"] = {key: known[key] for key in _HINTS if isinstance(known.get(key), bool)}
    return tool


def _schema(given: object) -> dict[str, Any]:
    schema = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    known, required = schema.get("properties", {}), schema.get("required", [])
    if schema.get("type") == "object" and isinstance(known, dict) and isinstance(required, list):
        return schema
    return {"type": "object", GIVEN: given}
