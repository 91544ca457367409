"""Fetching one web page: each hop's host is resolved once, checked, and connected to by the address that was checked.

Nothing is sent but the address: no cookies, no credentials, no referrer. Bodies are bounded before and after
decompression.
"""

import socket
import zlib
from collections.abc import Awaitable, Callable, Collection
from contextlib import aclosing
from dataclasses import dataclass
from email.message import Message
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import anyio
import httpx2

from daemon.config import WebToolsConfig
from daemon.errors import ConfigError, ToolError
from daemon.proxies import http_client
from daemon.version import __version__

# Addresses of web pages: only public ones are used, however they are written.

URL_MAX_CHARS = 2_000

_NAT64 = ip_network("64:ff9b::/96")
"""Addresses that stand for an IPv4 address (RFC 6052)."""

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The IP addresses of a host; raises OSError."""


async def resolved(host: str, port: int) -> list[str]:
    """The IP addresses of a host, as this machine knows them. Raises OSError."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def url_of(text: str) -> httpx2.URL:
    """An address that may be fetched, as far as its text tells.

    Raises:
        ToolError: it is no address of a web page.
    """
    if len(text) > URL_MAX_CHARS or not text.isprintable() or " " in text or "\\" in text:
        raise ToolError(f"The address must have no spaces and at most {URL_MAX_CHARS:,} printable characters.")
    try:
        url = httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError) as error:
        raise ToolError(f"The address cannot be read: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ToolError("The address must begin with http:// or https://, followed by a host.")
    if url.port is not None and not 0 < url.port < 65_536:
        raise ToolError("The port in the address must be between 1 and 65535.")
    if url.userinfo:
        raise ToolError("The address contains a user name or password. Leave them out.")
    return url.copy_with(fragment=None)


async def checked_addresses(url: httpx2.URL, private_hosts: Collection[str], resolve: Resolve = resolved) -> list[str]:
    """The IP addresses of an address's host, each of which may be connected to.

    Raises:
        ToolError: the host was not found, or it is not on the public internet.
    """
    host = url.host.removesuffix(".")
    try:
        found = await resolve(host, url.port or (443 if url.scheme == "https" else 80))
    except (OSError, UnicodeError) as error:
        raise ToolError(f"The host {host} was not found. Check the address.") from error
    if host not in private_hosts and not all(map(is_public, found)):
        raise ToolError(f"{host} is not on the public internet, so it cannot be fetched.")
    return found


def is_public(address: str) -> bool:
    """Whether an IP address is on the public internet; one that only leads to another address is not."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or (IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None)
        if inner is not None:
            return is_public(str(inner))
        if ip.sixtofour or ip.teredo or ip.is_site_local:
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


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


@dataclass(frozen=True, kw_only=True)
class Fetched:
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
                return url.join(response.headers["Location"])
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
        raise ToolError("The site's robots.txt cannot be read right now, so its pages must not be fetched.")
    return answer.body.decode("utf-8", "replace") if answer.status in FOUND else ""


def check_allowed(rules: str, address: str) -> None:
    """Raise ToolError for a page that the rules forbid."""
    from protego import Protego  # noqa: PLC0415 - an extra

    if not Protego.parse(rules).can_fetch(address, AGENT):
        raise ToolError("The site's robots.txt does not allow programs to fetch this page.")
