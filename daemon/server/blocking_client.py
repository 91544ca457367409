"""A blocking connection to a Redis server with its own protocol (RESP2), for simple uses.

The keeper uses it because it must stay small, ``ensure`` because it asks three things and hangs up, and the built-in
``redis-cli`` because it has to tell a status from a string. Standard library only.
https://redis.io/docs/latest/develop/reference/protocol-spec/
"""

import socket
from pathlib import Path
from typing import BinaryIO, TypeAlias


class Status(bytes):
    """A simple string (``+OK``), as opposed to a value."""


class Refusal(str):
    """An error reply, its first word the kind: ``NOAUTH …``, ``LOADING …``."""

    __slots__ = ()


Reply: TypeAlias = "bytes | int | Refusal | list[Reply] | None"


class BlockingClient:
    """One connection; every read ends within its time-out. Failures of the connection are ``OSError``."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._file: BinaryIO = channel.makefile("rb")

    @classmethod
    def unix(cls, path: str | Path, *, timeout_s: float | None) -> "BlockingClient":
        """Connect to a unix socket."""
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            channel.settimeout(timeout_s)
            channel.connect(str(path))
        except BaseException:
            channel.close()
            raise
        return cls(channel)

    @classmethod
    def tcp(cls, host: str, port: int, *, timeout_s: float | None, tls: bool = False) -> "BlockingClient":
        """Connect to a port; with ``tls`` the server's certificate is checked against the system's authorities."""
        channel = socket.create_connection((host, port), timeout_s)
        try:
            return cls(_secured(channel, host) if tls else channel)
        except BaseException:
            channel.close()
            raise

    def patient(self) -> "BlockingClient":
        """This connection without a time-out from now on: for a person, who can interrupt a blocking command."""
        self._channel.settimeout(None)
        return self

    def __enter__(self) -> "BlockingClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self._channel.close()

    def call(self, *words: str | bytes) -> Reply:
        """Send one command and return its reply; a refused command returns a ``Refusal``."""
        return self.calls(words)[0]

    def calls(self, *commands: tuple[str | bytes, ...]) -> list[Reply]:
        """Send the commands together and return their replies."""
        self._channel.sendall(b"".join(_encoded(words) for words in commands))
        return [self.receive() for _ in commands]

    def receive(self) -> Reply:
        """The next reply, or the next message of a subscription or MONITOR."""
        line = self._line()
        kind, text = line[:1], line[1:]
        if kind == b"$":
            return self._value(int(text))
        if kind == b"*":
            return None if text == b"-1" else [self.receive() for _ in range(int(text))]
        if kind == b":":
            return int(text)
        if kind == b"+":
            return Status(text)
        if kind == b"-":
            return Refusal(text.decode("utf-8", "replace"))
        raise ConnectionError("the server does not use the Redis protocol")

    def _line(self) -> bytes:
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionResetError("the server closed the connection")
        return line[:-2]

    def _value(self, size_bytes: int) -> bytes | None:
        if size_bytes < 0:
            return None
        value = self._file.read(size_bytes + 2)
        if len(value) < size_bytes + 2:
            raise ConnectionResetError("the server closed the connection")
        return value[:-2]


def _secured(channel: socket.socket, host: str) -> socket.socket:
    import ssl  # noqa: PLC0415 - 5 MB that the keeper never needs

    return ssl.create_default_context().wrap_socket(channel, server_hostname=host)


def _encoded(words: tuple[str | bytes, ...]) -> bytes:
    parts = [f"*{len(words)}\r\n".encode()]
    for word in words:
        # surrogateescape: an argument of the command line may be any bytes.
        value = word if isinstance(word, bytes) else word.encode("utf-8", "surrogateescape")
        parts += [b"$%d\r\n" % len(value), value, b"\r\n"]
    return b"".join(parts)
