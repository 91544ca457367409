"""The socket of a server: its port, and the errors if it gets none."""

import errno
import socket
from collections.abc import Iterable

import anyio

from daemon.errors import ConfigError

FIRST_PORT = 8765
"""The port when none is configured, if it is free."""

PORT_TRIES = 50
"""How many ports from ``FIRST_PORT`` on are tried when none is configured."""

BACKLOG = 2048
"""Connections that the kernel holds until they are accepted."""


async def listen(path: str, host: str, port: int | None) -> socket.socket:
    """A socket that listens where the section ``path`` of the configuration says.

    ``port`` may be None, for the next free one from ``FIRST_PORT`` on, or 0, for any that is free.

    Raises:
        ConfigError: the port is taken or not allowed, or the host is none of this machine.
    """
    family, address = await _resolved(path, host)
    for number in _ports(port):
        try:
            return _listening(family, address, number)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise ConfigError(_refused(path, host, number, error)) from error
    raise ConfigError(_taken(path, host, port))


def address_of(listening: socket.socket, host: str) -> str:
    """The address of ``listening``, ``http://host:port``, with the host as configured."""
    host, port = host.strip("[]"), listening.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _ports(port: int | None) -> Iterable[int]:
    return range(FIRST_PORT, FIRST_PORT + PORT_TRIES) if port is None else [port]


async def _resolved(path: str, host: str) -> tuple[socket.AddressFamily, str]:
    try:
        found = await anyio.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"{path}.host: {host!r} is not an address of this machine ({error}). 127.0.0.1 always works."
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


def _refused(path: str, host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EACCES:
        return f"{path}.port: this process does not have the privileges to use port {port}. Choose a port above 1023."
    return f"{path}.host: cannot listen on {host!r}, port {port}: {error.strerror}. 127.0.0.1 always works."


def _taken(path: str, host: str, port: int | None) -> str:
    if port is None:
        last = FIRST_PORT + PORT_TRIES - 1
        return (
            f"{path}.port: ports {FIRST_PORT} to {last} are all in use on "
            f"{host}. Set another port, or set 0 to use any free port."
        )
    return (
        f"{path}.port: port {port} on {host} is in use by another program. Stop that program, set "
        "another port, or remove the key to use the default."
    )
