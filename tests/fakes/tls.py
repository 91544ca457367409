"""TLS in front of a server that has none, on loopback."""

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HANDSHAKE = b"\x16"
"""First byte of TLS (RFC 8446 5.1); no command of Redis begins with it."""


def self_signed(folder: Path) -> Path:
    """A file with a certificate of 127.0.0.1 and its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    plain = serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    file = folder / "tls.pem"
    file.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
        + builder.sign(key, hashes.SHA256()).public_bytes(pem)
    )
    return file


@contextmanager
def tls_before(certificate: Path, port: int, server_port: int) -> Iterator[None]:
    """Take TLS on ``port``, and connections without it as they are: sentinels that have none watch the server there."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    def forward(client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(("127.0.0.1", server_port)) as far:
            has_tls = client.recv(1, socket.MSG_PEEK) == HANDSHAKE
            with context.wrap_socket(client, server_side=True) if has_tls else client as near:
                _start(_pass_on, far, near)
                _pass_on(near, far)

    def accept(listener: socket.socket) -> None:
        with suppress(OSError):  # the block has ended
            while True:
                _start(forward, listener.accept()[0])

    with socket.create_server(("127.0.0.1", port)) as listener:
        _start(accept, listener)
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def _start(function: Callable[..., None], *args: object) -> None:
    threading.Thread(target=function, args=args, daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while received := source.recv(65_536):
            target.sendall(received)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
