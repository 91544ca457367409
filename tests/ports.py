"""Ports for what a test starts later, or again: none that an outgoing connection is given meanwhile."""

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager

GIVEN = range(10_000, 20_000)
"""Below those of outgoing connections (Linux: 32768, macOS: 49152), and of servers that we start (``launch.PORTS``)."""
TRIALS = 100


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses."""
    with socket.socket() as trial:
        return _bound(trial)


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port that one server can listen at, and that nobody else gets for the length of the block."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        yield _bound(held)


def _bound(held: socket.socket) -> int:
    for port in random.sample(GIVEN, TRIALS):
        try:
            held.bind(("127.0.0.1", port))
        except OSError:
            continue
        return port
    raise AssertionError(f"none of {TRIALS} ports between {GIVEN.start} and {GIVEN.stop} is free")
