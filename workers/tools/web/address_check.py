"""The addresses that tools may connect to: only hosts on the public internet, however an address is written."""

import socket
from collections.abc import Awaitable, Callable, Collection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import anyio
import httpx2

from daemon.errors import ToolError

URL_MAX_CHARS = 2_000

_NAT64 = ip_network("64:ff9b::/96")
"""Addresses that stand for an IPv4 address (RFC 6052)."""

_RESERVED = tuple(map(ip_network, ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))
"""Networks that Python 3.11 takes for public: Azure's server for its own machines, which gives out their secrets; IETF
protocols (RFC 6890), among them Oracle's 192.0.0.192; 6to4 relays (RFC 7526); and documentation (RFC 9637)."""

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
    if any(ip in network for network in _RESERVED):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved
