"""The open connections of one server by peer, and which of them has to go when a peer, or all together, have too many.

Closed first is the connection that has waited longest for its own client: for a request, for the rest of one, or until
a response is read. So whoever opens connections and neither sends nor reads on them closes only such connections, and a
client that sends its request at once is answered, also while somebody else floods the server from the same address.
"""

import ipaddress
import resource
from typing import Protocol

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
