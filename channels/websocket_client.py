"""WebSockets of platforms that Millpond connects to: opened through the proxy of the environment, never redirected."""

from typing import Literal, TypeAlias

import aiohttp
import anyio

from daemon.errors import SendRefused
from daemon.proxies import connector_of, http_proxy_of

WebSocket: TypeAlias = "aiohttp.ClientWebSocketResponse[Literal[False]]"
"""A connection whose messages are bytes."""


class Redirected(Exception):
    """Millpond never follows a redirect: a request would be made twice, and somewhere else."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def unredirected() -> aiohttp.TraceConfig:
    """Has every request of a session that is sent on end with ``Redirected``."""
    tracing = aiohttp.TraceConfig()
    tracing.on_request_redirect.append(_refuse_redirect)
    return tracing


async def _refuse_redirect(_session: object, _context: object, params: aiohttp.TraceRequestRedirectParams) -> None:
    params.response.close()
    raise Redirected(params.response.status)


def websocket_session(address: str) -> aiohttp.ClientSession:
    """What opens WebSockets at an address; to be closed by the caller."""
    return aiohttp.ClientSession(
        connector=connector_of(address), cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[unredirected()]
    )


async def opened(
    session: aiohttp.ClientSession, address: str, *, platform: str, timeout_s: float, max_bytes: int
) -> WebSocket:
    """A connection to ``address``, which is a secret, for messages of at most ``max_bytes``.

    Raises:
        SendRefused: ``platform`` did not accept it.
    """
    failure = f"{platform} did not accept the connection within {timeout_s:g} s"
    # A WebSocket begins as a request, and the proxies of the environment are named for these.
    url = address.replace("ws", "http", 1)
    with anyio.move_on_after(timeout_s):
        try:
            return await session.ws_connect(
                url,
                proxy=http_proxy_of(url),
                autoping=False,
                autoclose=False,  # with a code of the caller's choice
                max_msg_size=max_bytes,
                decode_text=False,
            )
        except (aiohttp.ClientError, OSError, ValueError, Redirected) as error:
            failure = type(error).__name__
    raise SendRefused(f"the WebSocket cannot be opened: {failure}")
