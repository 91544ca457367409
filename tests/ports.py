"""Ports for what a test starts later, or again: none that an outgoing connection is given meanwhile."""

import os
import random
import socket
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

GIVEN = range(10_000, 20_000)
"""Below those of outgoing connections (Linux: 32768, macOS: 49152), and of servers that we start (``launch.PORTS``)."""
WORKERS = 8
"""Test processes side by side at most (``make test``); each has ports of its own, for two may look for one at once."""


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses; not given again before all others were, for it may be used later."""
    with socket.socket() as trial:
        return _bound(trial)


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port that one server can listen at, and that nobody else gets for the length of the block."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        yield _bound(held)


def _shuffled() -> deque[int]:
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    own = GIVEN[worker % WORKERS :: WORKERS]
    return deque(random.SystemRandom().sample(own, len(own)))


_own = _shuffled()


def _bound(held: socket.socket) -> int:
    for _ in range(len(_own)):
        _own.rotate()
        try:
            held.bind(("127.0.0.1", _own[0]))
        except OSError:
            continue
        return _own[0]
    raise AssertionError(f"none of the ports between {GIVEN.start} and {GIVEN.stop} that are this process's is free")
