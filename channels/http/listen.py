"""The socket of a web channel: which port it gets, and what is said when it gets none."""

import errno
import socket
from collections.abc import Iterable

import anyio

from daemon.config import WebConfig
from daemon.errors import ConfigError

FIRST_PORT = 8765
"""The port when none is configured, if it is free."""

PORT_TRIES = 50
"""How many ports from ``FIRST_PORT`` on are tried when none is configured."""

BACKLOG = 2048
"""Connections that the kernel holds until they are accepted."""


async def listen(name: str, config: WebConfig) -> socket.socket:
    """A socket that listens where channel ``name`` is configured to.

    Raises:
        ConfigError: the port is taken or not allowed, or the host is none of this machine.
    """
    family, host = await _resolved(name, config.host)
    for port in _ports(config):
        try:
            return _listening(family, host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise ConfigError(_refused(name, config.host, port, error)) from error
    raise ConfigError(_taken(name, config))


def address_of(listening: socket.socket, config: WebConfig) -> str:
    """``http://host:port`` under which ``listening`` is reached, with the host as it was configured."""
    host, port = config.host.strip("[]"), listening.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _ports(config: WebConfig) -> Iterable[int]:
    return range(FIRST_PORT, FIRST_PORT + PORT_TRIES) if config.port is None else [config.port]


async def _resolved(name: str, host: str) -> tuple[socket.AddressFamily, str]:
    try:
        found = await anyio.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"channels.{name}.host: {host!r} is no address of this machine ({error}); 127.0.0.1 always works"
        ) from error
    # "localhost" may be both; clients try IPv4 more often than not.
    family, *_, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    return socket.AddressFamily(family), str(address[0])


def _listening(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    # With its protocol named: asyncio sets TCP_NODELAY only then, and every answer would take 40 ms longer.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        # Two sockets may be bound to one port as long as neither listens: only this call tells whose it is.
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


def _refused(name: str, host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EACCES:
        return f"channels.{name}.port: port {port} needs privileges that this process has not; choose one above 1023"
    return f"channels.{name}.host: cannot listen on {host!r}, port {port}: {error.strerror}; 127.0.0.1 always works"


def _taken(name: str, config: WebConfig) -> str:
    if config.port is None:
        return (
            f"channels.{name}.port: the ports {FIRST_PORT} to {FIRST_PORT + PORT_TRIES - 1} are all taken on "
            f"{config.host}; set another one, or 0 for any that is free"
        )
    return (
        f"channels.{name}.port: port {config.port} on {config.host} is taken by another program; "
        "stop that, set another port, or leave the key out for the next free one"
    )
