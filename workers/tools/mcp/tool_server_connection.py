"""A connection to a tool server for one scope, opened on first use and after each failure."""

import logging
import math
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import httpx2
import mcp_types
import structlog
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from daemon.config import McpConfig
from daemon.errors import ToolError, brief
from daemon.model.event_stream import whole_json
from daemon.proxies import certificates, proxy_of
from workers.tools.mcp.redaction import Redaction
from workers.tools.mcp.tool_offer import RepairedLists
from workers.tools.mcp.tool_server_program import ToolServerProgram

OPEN_S = 20.0
"""How long a server may take to be there."""

ALIVE_S = 5.0
"""How long a server that let a call run out of time may take for a sign of life."""

BACK_OFF_MIN_S, BACK_OFF_MAX_S = 1.0, 60.0
"""Rest after the second failure in a row, doubling; after the first one it is opened again at once."""

PAGES_MAX = 20
"""Pages of a list of tools that are read."""

REASON_MAX_CHARS = 300

_log = structlog.get_logger()

# It logs what servers say, line for line; what matters of it becomes an error here.
logging.getLogger("mcp").setLevel(logging.CRITICAL)

Start = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]
"""Runs something in a task group that outlives every call."""


@dataclass(eq=False)
class _Link:
    """One time of being connected. Its task enters and leaves the library's contexts, which must not change tasks."""

    settled: anyio.Event = field(default_factory=anyio.Event)
    """It is open, or it never will be."""
    over: anyio.Event = field(default_factory=anyio.Event)
    client: Client | None = None
    why: str = ""
    """Why it is over."""
    told: str = ""
    """The reason for a log, without words of the server."""

    def end(self, why: str, *, told: str = "") -> None:
        """Have its task close it; who waits for it to open need wait no longer."""
        if not self.why:
            self.why, self.told = why, told or why
        self.client = None
        self.over.set()
        self.settled.set()


class ToolServerConnection:
    """Calls the tools of one server."""

    def __init__(self, name: str, config: McpConfig, *, environment: Mapping[str, str], start: Start) -> None:
        self._name = name
        self._config = config
        self._stars = Redaction(config)
        self._environment = environment
        self._start = start
        self._link: _Link | None = None
        self._failures = 0
        self._retry_at = 0.0
        self._running = 0
        self.used_at = anyio.current_time()
        """When it was last used, by the event loop's clock."""

    @property
    def idle(self) -> bool:
        """Whether no call is running."""
        return self._running == 0

    @property
    def is_open(self) -> bool:
        """Whether calls reach the server."""
        return self._link is not None and self._link.client is not None

    @property
    def failure(self) -> str:
        """Why the connection was lost; empty if it was not, or is being opened again."""
        return self._link.why if self._failures and self._link is not None else ""

    async def tools(self) -> list[mcp_types.Tool]:
        """What the server offers. Errors as for ``call``."""
        found: list[mcp_types.Tool] = []

        async def read(client: Client) -> None:
            cursor: str | None = None
            for _ in range(PAGES_MAX):
                page = await client.list_tools(cursor=cursor)
                found.extend(page.tools)
                cursor = page.next_cursor
                if not cursor:
                    break

        await self._use(read, what="listing its tools", timeout_s=self._config.timeout_s)
        return found

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> mcp_types.CallToolResult:
        """The result of a call.

        Raises:
            ToolError: the server is away, died, refused, did not respond in time, or answered with something else.
        """
        results: list[mcp_types.CallToolResult] = []

        async def ask(client: Client) -> None:
            results.append(await client.call_tool(tool, dict(arguments)))

        await self._use(ask, what=tool, timeout_s=self._config.timeout_s)
        return results[0]

    def close(self) -> None:
        """End it; what is still running gets an error."""
        if self._link is not None:
            self._link.end("the connection was closed")

    async def _use(self, use: Callable[[Client], Coroutine[Any, Any, None]], *, what: str, timeout_s: float) -> None:
        link = self._opened()
        self._running += 1
        try:
            with anyio.move_on_after(timeout_s) as scope:
                await link.settled.wait()
                await self._asked(link, use, what)
            if scope.cancelled_caught:
                await self._look_alive(link)
                text = f"the tool server {self._name} did not respond to {what} within {timeout_s:g} s"
                raise ToolError(text, brief=text)
            self._failures = 0
        finally:
            self._running -= 1
            self.used_at = anyio.current_time()

    async def _asked(self, link: _Link, use: Callable[[Client], Coroutine[Any, Any, None]], what: str) -> None:
        if link.client is None:
            text = f"the tool server {self._name} cannot be used"
            raise ToolError(f"{text}: {link.why}", brief=f"{text}: {link.told}")
        try:
            await use(link.client)
        except MCPError as error:
            if link.over.is_set() or _closed(error):
                self._lost(link, "it stopped")
                text = f"the tool server {self._name} disconnected"
                raise ToolError(
                    f"{text} ({link.why}), so {what} may have been carried out", brief=f"{text}: {link.told}"
                ) from error
            text = f"the tool server {self._name} rejected the call"
            said = self._stars.over(error.message)[:REASON_MAX_CHARS]
            raise ToolError(f"{text}: {said}", brief=text) from error
        except Exception as error:  # the edge to a library that lets out whatever its parts raise
            self._lost(link, type(error).__name__)
            text = f"the tool server {self._name} failed during {what}"
            raise ToolError(f"{text}: {self._reason(error)}", brief=f"{text}: {brief(_inner(error))}") from error

    async def _look_alive(self, link: _Link) -> None:
        """End a server that answers nothing at all any more; one that only takes long goes on with other calls."""
        if link.client is None:
            self._lost(link, f"the tool server was not ready within {self._config.timeout_s:g} s")
            return
        with anyio.move_on_after(ALIVE_S) as scope:
            try:
                await link.client.list_tools()
            except MCPError:
                return  # an answer as well
            except Exception:  # noqa: BLE001 - as above
                self._lost(link, "the server stopped responding")
        if scope.cancelled_caught:
            self._lost(link, "the server stopped responding")

    def _opened(self) -> _Link:
        if self._link is not None and not self._link.over.is_set():
            return self._link
        wait_s = self._retry_at - anyio.current_time()
        if self._link is not None and wait_s > 0:
            link = self._link
            text = f"the tool server {self._name} is unavailable"
            later = f"the next attempt to connect is in {math.ceil(wait_s)} s"
            raise ToolError(f"{text}: {link.why}; {later}", brief=f"{text}: {link.told}")
        self._link = link = _Link()
        self._start(lambda: self._own(link))
        return link

    def _lost(self, link: _Link, why: str, *, told: str = "") -> None:
        if link.over.is_set():
            return
        link.end(why, told=told)
        self._failures += 1
        rest_s = 0.0 if self._failures == 1 else BACK_OFF_MIN_S * 2 ** (self._failures - 2)
        self._retry_at = anyio.current_time() + min(BACK_OFF_MAX_S, rest_s)
        _log.warning("tools.lost", tool=self._name, reason=link.told, attempt=self._failures)

    async def _own(self, link: _Link) -> None:
        """Open the link, and close it when it is over: in one task."""
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + OPEN_S) as scope:
                async with Client(self._transport(link), cache=None) as link.client:
                    scope.deadline = math.inf
                    link.settled.set()
                    await link.over.wait()
            if scope.cancelled_caught:
                self._lost(link, f"the tool server was not ready within {OPEN_S:g} s")
        except Exception as error:  # noqa: BLE001 - as above; a server must not end the worker
            self._lost(link, self._reason(error), told=brief(_inner(error)))
        finally:
            link.end("the connection was closed")

    def _transport(self, link: _Link) -> AbstractAsyncContextManager[Any]:
        if self._config.url:
            return _with_fit_lists(self._over_http())
        environment = {name: secret.reveal() for name, secret in self._config.env.items()}
        command = [os.path.expanduser(self._config.command), *self._config.args]  # noqa: PTH111 - a bare name stays one
        program = ToolServerProgram(
            command=command,
            environment={**environment, **self._environment},
            ended=lambda why: self._lost(link, why),
        )
        return _with_fit_lists(program.running())

    @asynccontextmanager
    async def _over_http(self) -> AsyncGenerator[Any]:
        headers = {"Accept-Encoding": "identity"}
        headers |= {name: secret.reveal() for name, secret in self._config.headers.items()}
        timeout = httpx2.Timeout(OPEN_S, read=self._config.timeout_s)
        url = self._config.url
        transport = BoundedTransport(verify=certificates(url), proxy=proxy_of(url), trust_env=False)
        async with (
            httpx2.AsyncClient(headers=headers, timeout=timeout, transport=transport) as client,
            streamable_http_client(url, http_client=client) as streams,
        ):
            yield streams

    def _reason(self, error: BaseException) -> str:
        """What went wrong, without the groups that task groups wrap it in."""
        error = _inner(error)
        return self._stars.over(f"{type(error).__name__}: {error}")[:REASON_MAX_CHARS]


def _inner(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


@asynccontextmanager
async def _with_fit_lists(transport: AbstractAsyncContextManager[Any]) -> AsyncGenerator[Any]:
    async with transport as (heard, told):
        yield RepairedLists(heard), told


def _closed(error: MCPError) -> bool:
    # The code alone is also what servers use for whatever went wrong in a tool.
    return error.code == mcp_types.CONNECTION_CLOSED and error.message.casefold() == "connection closed"


# An HTTP transport with limits on the size of responses, which the library does not have.

RESPONSE_MAX_BYTES = 32 * 1024 * 1024
"""Largest response of a tool server; a stream of events counts as one."""


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """As the library's own, with a limit."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, whose body raises ``ReadError`` beyond ``RESPONSE_MAX_BYTES``."""
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - an asynchronous transport's is
        bounded = _Bounded(response.stream, request)
        # What is packed is unpacked later; the client asks for none.
        is_packed = response.headers.get("content-encoding", "identity") != "identity"
        response.stream = bounded if is_packed else _Whole(bounded)
        return response


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, request: httpx2.Request) -> None:
        self._stream = stream
        self._request = request
        self._size = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._size += len(chunk)
            if self._size > RESPONSE_MAX_BYTES:
                raise httpx2.ReadError(f"the server sent more than {RESPONSE_MAX_BYTES:,} bytes", request=self._request)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Whole(httpx2.AsyncByteStream):
    """JSON and events line by line, in which no character is cut: neither has a line break within an escape."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun = bytearray()
        async for chunk in self._stream:
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
            if end:
                yield whole_json(bytes(begun + chunk[:end]))
                begun.clear()
            begun += chunk[end:]
        if begun:
            yield whole_json(bytes(begun))

    async def aclose(self) -> None:
        await self._stream.aclose()
