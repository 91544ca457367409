"""Serving HTTP: sockets, a server inside a task group, bodies of bounded size."""

from channels.http.http_server import serving
from channels.http.peers import peer_of
from channels.http.protocol import Server
from channels.http.request_body import read_body
from channels.http.server_socket import FIRST_PORT, address_of, listen

__all__ = ["FIRST_PORT", "Server", "address_of", "listen", "peer_of", "read_body", "serving"]
