"""Which proxy the environment names for an address, and HTTP clients that go through it.

``HTTP_PROXY``, ``HTTPS_PROXY`` and ``ALL_PROXY`` (``http://``, ``socks5://``, ``socks5h://``) name proxies for the
world outside: this machine's own servers and the hosts of ``NO_PROXY`` are reached directly.
"""

import os
import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from daemon.config.config_rules import is_loopback
from daemon.errors import ConfigError

if TYPE_CHECKING:
    import aiohttp

_Client = TypeVar("_Client", bound=httpx2.AsyncClient)


def is_near(address: str) -> bool:
    """Whether a server is on this machine."""
    return is_loopback(urlsplit(address).hostname or "")


def proxy_of(address: str) -> str | None:
    """The proxy for an address; None: it is reached directly.

    Raises:
        ConfigError: the environment names one of a kind that cannot be used.
    """
    there = urlsplit(address)
    host = there.hostname or ""
    if is_loopback(host) or proxy_bypass(host) or _is_excepted(host, there.port):
        return None
    proxies = getproxies()
    found = proxies.get(there.scheme) or proxies.get("all")
    return _checked(found if "://" in found else f"http://{found}") if found else None


def _is_excepted(host: str, port: int | None) -> bool:
    """Whether ``NO_PROXY`` names a host in a form that Python's own reader does not know.

    Those are ``*.example.com``, ``host:port`` and networks as ``10.0.0.0/8``, which many write.
    """
    names = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    return any(_names(name.strip().lower(), host.lower(), port) for name in names.split(","))


def _names(name: str, host: str, port: int | None) -> bool:
    with suppress(ValueError):
        return ip_address(host) in ip_network(name, strict=False)
    bare, _, of_port = name.partition(":")
    bare = bare.removeprefix("*").removeprefix(".")
    return bool(bare) and of_port in ("", str(port)) and f".{host}".endswith(f".{bare}")


def _checked(proxy: str) -> str:
    # Clash and others write it so: https://curl.se/docs/manpage.html has no such scheme, browsers take it as SOCKS 5.
    proxy = proxy.replace("socks://", "socks5h://", 1) if proxy.startswith("socks://") else proxy
    try:
        kind, host = urlsplit(proxy).scheme, urlsplit(proxy).hostname
    except ValueError as error:
        raise ConfigError(
            "the proxy in HTTPS_PROXY or ALL_PROXY does not have a valid address. Write the address as "
            "http://host:port or socks5://host:port."
        ) from error
    if host and kind not in ("http", "https", "socks5", "socks5h"):
        raise ConfigError(
            f"the proxy in the environment has an unsupported scheme, {kind}://. Write HTTPS_PROXY or "
            "ALL_PROXY as http://host:port or socks5://host:port."
        )
    return proxy


def is_socks(proxy: str | None) -> bool:
    """Whether a proxy speaks SOCKS."""
    return proxy is not None and proxy.startswith("socks5")


def http_proxy_of(address: str) -> str | None:
    """The proxy for each of aiohttp's requests to an address; one that speaks SOCKS is its connector's instead."""
    proxy = proxy_of(address)
    return None if is_socks(proxy) else proxy


def connector_of(address: str, *, limit: int = 100, keepalive_s: float = 15.0) -> "aiohttp.TCPConnector":
    """What connects aiohttp to an address, through a SOCKS proxy where the environment names one."""
    import aiohttp  # noqa: PLC0415 - who speaks to no Slack does without

    proxy = proxy_of(address)
    if proxy is None or not is_socks(proxy):
        # A name that is looked up for several at once is looked up in a task of nobody's.
        return aiohttp.TCPConnector(
            limit=limit, keepalive_timeout=keepalive_s, use_dns_cache=False, resolver=aiohttp.ThreadedResolver()
        )
    from aiohttp_socks import ProxyConnector  # noqa: PLC0415 - few need it

    # The proxy looks names up: where one is needed, what is looked up here is often wrong.
    there = proxy.replace("socks5h://", "socks5://", 1)
    return ProxyConnector.from_url(there, rdns=True, limit=limit, keepalive_timeout=keepalive_s)


def http_client(address: str, make: Callable[..., _Client], **options: object) -> _Client:
    """A client for a server, through the proxy that is meant for it.

    Args:
        address: of the server.
        make: the client's class.
        options: of it.

    Raises:
        ConfigError: the environment names a proxy that cannot be used, or a file of certificates that cannot be read.
    """
    # Not from the environment again: it would send what is near through the proxy, too.
    return make(**{"trust_env": False, "proxy": proxy_of(address), "verify": certificates(address), **options})


def certificates(address: str) -> ssl.SSLContext | bool:
    """The trusted certificates for a server; False for plain HTTP.

    Raises:
        ConfigError: the environment names a file of certificates that cannot be read.
    """
    if urlsplit(address).scheme != "https":
        return False
    try:
        return _trusted(os.environ.get("SSL_CERT_FILE", ""), os.environ.get("SSL_CERT_DIR", ""))
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            "the certificates cannot be read: the file or folder in SSL_CERT_FILE or SSL_CERT_DIR was not found or "
            f"cannot be used ({type(error).__name__}). Correct or remove the variable."
        ) from error


@lru_cache(maxsize=2)
def _trusted(_file: str, _folder: str) -> ssl.SSLContext:
    """The certificates that these variables of the environment name, read once a process: that takes 25 ms."""
    return httpx2.create_ssl_context(trust_env=True)
