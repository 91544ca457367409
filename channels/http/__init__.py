"""Contains the HTTP server: sockets, requests, and bodies of limited size.

Public: ``listen`` opens a socket, ``serving`` runs a ``Server`` in a task group, ``read_body`` reads a request body.
Begin with ``http_server``.
"""

from channels.http.http_server import Server, serving
from channels.http.server_socket import FIRST_PORT, address_of, listen, peer_of, read_body

__all__ = ["FIRST_PORT", "Server", "address_of", "listen", "peer_of", "read_body", "serving"]
