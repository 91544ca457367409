"""Fetching one web page: each hop's host is resolved once, checked, and connected to by the address that was checked.

Nothing is sent but the address: no cookies, no credentials, no referrer. Bodies are bounded before and after
decompression.
"""

import zlib
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from email.message import Message

import anyio
import httpx2
import msgspec

from daemon.config import WebToolsConfig
from daemon.errors import ConfigError, ToolError
from daemon.proxies import http_client
from daemon.version import __version__
from workers.tools.web.address_check import Resolve, checked_addresses, resolved, url_of

AGENT = "Millpond"
"""The name in robots.txt."""
HEADERS = {
    "User-Agent": f"{AGENT}/{__version__}",
    "Accept": "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.1",
    "Accept-Encoding": "gzip",
}
REDIRECTS_MAX = 5
ADDRESSES_MAX = 3
"""IP addresses of a host that are tried."""
CONNECT_TIMEOUT_S = 5.0
"""For each of them."""
GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
"""Python's ``zlib.decompressobj``: reads both headers."""

Allow = Callable[[httpx2.URL], Awaitable[None]]
"""Raises ToolError if an address may not be fetched."""


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """What a server answered."""

    url: str
    """The address at the end of all redirects."""
    status: int
    media_type: str
    """In small letters, without parameters; empty: not named."""
    charset: str
    """As the server named it; empty: not named."""
    body: bytes
    is_cut: bool
    """Whether the body was longer."""


class Fetcher:
    """Fetches pages as one bot's section says."""

    def __init__(self, config: WebToolsConfig, *, resolve: Resolve = resolved) -> None:
        self._config = config
        self._resolve = resolve

    async def get(self, address: str, *, allow: Allow | None = None) -> Fetched:
        """The page at an address, through its redirects; ``allow`` is asked about each.

        Raises:
            ToolError: there is none that may be read, within ``timeout_s``.
        """
        with anyio.move_on_after(self._config.timeout_s):
            url = url_of(address)
            for _ in range(REDIRECTS_MAX + 1):
                if allow is not None:
                    await allow(url)
                found = await self._answer(url)
                if isinstance(found, Fetched):
                    return found
                url = url_of(str(found))
            raise ToolError(f"The page redirects more than {REDIRECTS_MAX} times.")
        raise ToolError(f"The page did not load within {self._config.timeout_s:g} s.")

    async def _answer(self, url: httpx2.URL) -> Fetched | httpx2.URL:
        """A page, or the address that a redirect names."""
        addresses = await checked_addresses(url, self._config.private_hosts, self._resolve)
        for address in addresses[:ADDRESSES_MAX]:
            try:
                return await self._asked(url, address)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
            except httpx2.HTTPError as error:
                raise ToolError(f"The connection to {url.host} was interrupted: {type(error).__name__}.") from error
            except ConfigError as error:
                raise ToolError(str(error)) from error
        raise ToolError(f"The server at {url.host} cannot be reached.")

    async def _asked(self, url: httpx2.URL, address: str) -> Fetched | httpx2.URL:
        # The name is resolved nowhere else: neither by the library nor by a proxy, which might find another address.
        direct = url.copy_with(host=address)
        headers = {**HEADERS, "Host": url.netloc.decode("ascii")}
        timeout = httpx2.Timeout(self._config.timeout_s, connect=min(CONNECT_TIMEOUT_S, self._config.timeout_s))
        options = {"timeout": timeout, "follow_redirects": False}
        async with (
            http_client(str(url), httpx2.AsyncClient, **options) as client,
            client.stream("GET", direct, headers=headers, extensions={"sni_hostname": url.host}) as response,
        ):
            if response.has_redirect_location:
                return _joined(url, response.headers["Location"])
            kind = Message()
            kind["Content-Type"] = response.headers.get("Content-Type", "")
            body, is_cut = await _body(response, self._config.page_max_bytes)
            return Fetched(
                url=str(url),
                status=response.status_code,
                media_type=kind.get_content_type() if response.headers.get("Content-Type") else "",
                charset=str(kind.get_param("charset", "")),
                body=body,
                is_cut=is_cut,
            )


def _joined(url: httpx2.URL, location: str) -> httpx2.URL:
    try:
        return url.join(location)
    except (httpx2.InvalidURL, ValueError) as error:
        raise ToolError(f"The page redirects to an invalid address: {error}") from error


async def _body(response: httpx2.Response, max_bytes: int) -> tuple[bytes, bool]:
    """The decompressed body, ``max_bytes`` at most, and whether there is more."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise ToolError(f"The server compressed the page in a format that was not requested: {encoding[:20]}.")
    unpacker = None if encoding in ("identity", "") else zlib.decompressobj(GZIP_OR_ZLIB)
    body, received = bytearray(), 0
    async with aclosing(response.aiter_raw()) as pieces:
        async for piece in pieces:
            received += len(piece)
            room = max_bytes + 1 - len(body)
            try:
                body += piece[:room] if unpacker is None else unpacker.decompress(piece, room)
            except zlib.error as error:
                raise ToolError("The page does not match the compression format that the server specified.") from error
            if len(body) > max_bytes or received > max_bytes:
                return bytes(body[:max_bytes]), True
    return bytes(body), False


# Whether a site's robots.txt lets a page be fetched (RFC 9309).

SERVER_ERRORS = 500
"""From this status on the site cannot say, and then everything is forbidden (RFC 9309, 2.3.1.4)."""

FOUND = range(200, 300)


def rules_of(answer: Fetched) -> str:
    """The text of a robots.txt; an empty one allows everything.

    Raises:
        ToolError: the site cannot say.
    """
    if answer.status >= SERVER_ERRORS:
        raise ToolError("The site's robots.txt cannot be read right now, so Millpond does not fetch the site's pages.")
    return answer.body.decode("utf-8", "replace") if answer.status in FOUND else ""


def check_allowed(rules: str, address: str) -> None:
    """Raise ToolError for a page that the rules forbid."""
    from protego import Protego  # noqa: PLC0415 - an extra

    if not Protego.parse(rules).can_fetch(address, AGENT):
        raise ToolError("The site's robots.txt does not allow programs to fetch this page.")
