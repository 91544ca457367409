"""Serving HTTP: sockets, a server inside a task group, bodies of bounded size."""

from channels.http.http_server import serving
from channels.http.protocol import Server
from channels.http.server_socket import FIRST_PORT, address_of, listen, peer_of, read_body

__all__ = ["FIRST_PORT", "Server", "address_of", "listen", "peer_of", "read_body", "serving"]
