"""Every way in which a platform, or the way to it, goes wrong."""

import fnmatch
import itertools
import socket
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream

from daemon.testing import Gate


@dataclass(frozen=True)
class Page:
    """A page of something that stands in front of the platform, instead of its answer."""

    code: int = 502
    acted: bool = False
    body: bytes = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


@dataclass(frozen=True)
class Garbled:
    """Done, and answered with 200 and these bytes."""

    body: bytes = b'{"ok":true,"result":'
    acted: bool = True


@dataclass(frozen=True)
class Cut:
    """The connection is cut instead of an answer, by a reset or in the middle of it."""

    acted: bool = True
    half: bool = False  # after half of the answer


@dataclass(frozen=True)
class Hang:
    acted: bool = True
    half: bool = False  # after half of the answer


@dataclass(frozen=True)
class Slow:
    delay_s: float = 0.0
    gate: Gate | None = None  # answered when it is opened
    acted_first: bool = True

    async def wait(self) -> None:
        await anyio.sleep(self.delay_s)
        if self.gate is not None:
            await self.gate.pass_through()


Decide = Callable[[Any], Any]  # from a call, which has a ``method``, to the fault that it meets; None: none


class Faults:
    """What is to go wrong, by method; in the order in which it was asked for."""

    def __init__(self) -> None:
        self._plans: list[tuple[str, Decide]] = []

    def on(self, methods: str, *script: Any, always: Any = None) -> None:
        """Let each call of ``methods`` (``sendMessage``, ``send*``) meet the next of ``script``, then ``always``."""
        plan: Iterator[Any] = itertools.chain(script, itertools.repeat(always))
        self._plans.append((methods, lambda _call: next(plan)))

    def when(self, methods: str, decide: Decide) -> None:
        """Let ``decide`` say what each call of ``methods`` meets, from the call."""
        self._plans.append((methods, decide))

    def clear(self) -> None:
        self._plans.clear()

    def decide(self, call: Any) -> Any:
        found = (decide(call) for methods, decide in self._plans if fnmatch.fnmatchcase(call.method, methods))
        return next((fault for fault in found if fault is not None), None)


def every(number: int, faults: Iterable[Any]) -> Decide:
    """Each ``number``-th call meets one of ``faults``, in turn."""
    turn, calls = itertools.cycle(faults), itertools.count(1)
    return lambda _call: next(turn) if number and next(calls) % number == 0 else None


def reset(stream: SocketStream) -> None:
    """Have a connection end in a reset when it is closed, as when a server dies."""
    raw = stream.extra(SocketAttribute.raw_socket)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
