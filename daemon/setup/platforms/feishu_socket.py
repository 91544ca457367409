"""Opening a long connection of Feishu's: of the daemon, and of ``millpond init``, which waits for its owner."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp

from daemon.proxies import connector_of, http_proxy_of

MESSAGE_MAX_BYTES = 4_194_304
"""Largest frame that is read; Feishu cuts larger events into several."""


def socket_session(base_url: str) -> aiohttp.ClientSession:
    """What opens connections; it is sent on to no other server."""
    tracing = aiohttp.TraceConfig()
    tracing.on_request_redirect.append(_refuse_redirect)  # opening a socket has no parameter for it
    connector = connector_of(base_url)
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[tracing])


async def opened(session: aiohttp.ClientSession, url: str) -> Any:
    """A connection to ``url``, a secret.

    Raises:
        aiohttp.ClientError, OSError, ValueError: it is not accepted.
    """
    # A socket begins as a request, and the proxies of the environment are named for these.
    address = url.replace("ws", "http", 1)
    return await session.ws_connect(address, proxy=http_proxy_of(address), max_msg_size=MESSAGE_MAX_BYTES)


def service_of(url: str) -> int:
    """The number of the service in an address, which pings have to name."""
    service = parse_qs(urlsplit(url).query).get("service_id", [""])[0]
    return int(service) if service.isdecimal() and len(service) < 20 else 0


async def _refuse_redirect(_session: object, _context: object, params: aiohttp.TraceRequestRedirectParams) -> None:
    params.response.close()
    raise aiohttp.ClientError("the server redirected the request, which Feishu never does")
