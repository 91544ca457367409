"""The socket of a server, its open connections by peer, and bodies of limited size.

Closed first is the connection that has waited longest for its own client: for a request, for the rest of one, or until
a response is read. So whoever opens connections and neither sends nor reads on them closes only such connections, and a
client that sends its request at once is answered, also while somebody else floods the server from the same address.
"""

import errno
import ipaddress
import resource
import socket
from collections.abc import Iterable
from typing import Protocol

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request

from daemon.errors import ConfigError

# The socket of a server: its port, and the errors if it gets none.

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
            f"{path}.host: {host!r} is not one of this machine's addresses ({error}). 127.0.0.1 always works."
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
        return f"{path}.port: this process is not permitted to listen on port {port}. Choose a port above 1023."
    return f"{path}.host: cannot listen on {host!r}, port {port}: {error.strerror}. 127.0.0.1 always works."


def _taken(path: str, host: str, port: int | None) -> str:
    if port is None:
        last = FIRST_PORT + PORT_TRIES - 1
        return (
            f"{path}.port: ports {FIRST_PORT} to {last} are all in use on {host}. Choose another port, or set the "
            "port to 0 to use any free port."
        )
    return (
        f"{path}.port: port {port} on {host} is in use by another program. Stop that program, choose another "
        "port, or remove this setting to use the default port."
    )


# The open connections of one server by peer, and which of them has to go when a peer, or all together, have too many.

LOOPBACK = "loopback"
"""The peer of all addresses of this machine: a local client can choose any of 127.0.0.0/8 as its own."""

NETWORK_BITS = 64
"""Of an IPv6 address; one client commands all addresses of such a network (RFC 6177)."""

FILES_SHARE = 0.5
"""Of the files that this process may open, the share for one server's connections. The rest is for Redis, models and
files, and for connections that are accepted but not counted yet."""


class Connection(Protocol):
    """A connection of a server."""

    @property
    def waits(self) -> bool:
        """Whether it waits for its client: for a whole request, or until a response is read."""
        ...

    def drop(self) -> None:
        """Close it at once."""


class Peers:
    """The connections of one server."""

    def __init__(self, *, per_peer: int, total: int) -> None:
        """``per_peer`` and ``total``: how many may be open; 0: no limit."""
        self._per_peer = per_peer
        self._total = total
        self._open: dict[str, dict[Connection, None]] = {}
        """By peer; the one that has waited longest comes first."""
        self._peers: dict[Connection, str] = {}

    def opened(self, connection: Connection, peer: str) -> bool:
        """Count a new connection. False if it is one too many, and no other can be closed for it."""
        own = self._open.setdefault(peer, {})
        own[connection] = None
        self._peers[connection] = peer
        if self._per_peer and len(own) > self._per_peer:
            crowd = own
        elif self._total and len(self._peers) > self._total:
            crowd = max(self._open.values(), key=len)
        else:
            return True
        longest = next((each for each in crowd if each.waits), connection)
        if longest is connection:
            return False
        self.closed(longest)
        longest.drop()
        return True

    def moved(self, connection: Connection) -> None:
        """The client of a connection has done something whole: it has not waited yet."""
        if connection in self._peers:
            own = self._open[self._peers[connection]]
            own[connection] = own.pop(connection)

    def closed(self, connection: Connection) -> None:
        """Count a connection no longer; one that is not counted is none."""
        peer = self._peers.pop(connection, None)
        if peer is not None:
            del self._open[peer][connection]
            if not self._open[peer]:
                del self._open[peer]


def peer_of(host: str) -> str:
    """The peer that an address belongs to."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return peer_of(str(address.ipv4_mapped))
        if not address.is_loopback:
            return str(ipaddress.ip_network((address, NETWORK_BITS), strict=False))
    return LOOPBACK if address.is_loopback else str(address)


def connections_max() -> int:
    """How many connections one server of this process may hold."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 0 if files == resource.RLIM_INFINITY else max(1, int(files * FILES_SHARE))


# The body of a request, bounded in size and time.

BODY_TIMEOUT_S = 30.0
"""How long a client may take to send a body."""


async def read_body(request: Request, *, max_bytes: int, advice: str = "", within_s: float = BODY_TIMEOUT_S) -> bytes:
    """The whole body. ``advice`` is a sentence on what to do about a body that is too large.

    Raises:
        HTTPException: 413, it is above ``max_bytes``; 408, it did not arrive in time.
        ClientDisconnect: the client closed the connection.
    """
    if int(request.headers.get("content-length", "0")) > max_bytes:
        raise _too_large(max_bytes, advice)
    pieces: list[bytes] = []
    left = max_bytes
    with anyio.move_on_after(within_s):
        async for piece in request.stream():
            left -= len(piece)
            if left < 0:
                raise _too_large(max_bytes, advice)
            pieces.append(piece)
        return b"".join(pieces)
    raise HTTPException(408, f"The request body did not arrive within {within_s:g} s. Send it again.")


def _too_large(max_bytes: int, advice: str) -> HTTPException:
    return HTTPException(413, f"The request body exceeds the limit of {max_bytes:,} bytes.{advice and f' {advice}'}")
