"""Promise 2, watched from outside: who lost a session's lease or lock, or an outbox's lease, writes nothing any more.

A log alone cannot show it. Two workers that answer the same messages write the same turn, the position lets only one of
them through, and which of them it was is not on record; who was entitled to write it is known here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tests.chaos.outcomes import Book, Place

ARGUMENTS = 2  # words of an EVALSHA before the number of its keys, that number not counted
PACKED = {"claim.lua": 8, "commit.lua": 7, "marks.lua": 7}
"""Scripts that do the same for several: which argument is that of each, packed in one list."""

AHEAD, STEP_KEYS, FIELDS = 3, 2, 8
"""Keys of ``marks.lua`` before those of its steps, and the keys and arguments of each step."""

BEGINS = ("sending", "asking", "looked")  # steps that may mark a part

SHARED_KEYS, COMMIT_KEYS = 6, 7  # keys of ``commit.lua`` before those of its turns, and of each turn

COMMIT_ARGS = 14
"""Packed arguments of each turn; the ids that follow, whose number is the last but one, are not counted."""

LEASED = {"journal.lua": (0, 0), "marks.lua": (0, 0), "settle.lua": (1, 1), "note.lua": (1, 0)}
"""Scripts of who holds a lease or a lock: which of their keys that is, and which of their arguments is his nonce."""

REMEMBERING = ("apply.lua", "append.lua", "digest.lua", "set_back.lua")
"""Scripts that write a memory; session, fence and nonce are their first arguments."""


_Call = tuple[str, Sequence[bytes], Sequence[bytes], Sequence[Any]]
"""A script, its keys, its arguments, and what is packed in one of them."""


@dataclass(frozen=True)
class _Step:
    """One step of ``marks.lua``."""

    what: str
    mark: str
    place: Place


class Witness:
    """Sees commands and answers; remembers who was granted which fence, who wrote after a higher one, and all marks."""

    def __init__(self, names: Mapping[bytes, str]) -> None:
        """``names``: name of each script by its hash."""
        self._names = names
        self._fences: dict[tuple[bytes, bytes], int] = {}
        self._highest: dict[bytes, int] = {}
        self._begun: dict[tuple[bytes, ...], int] = {}
        self.stale: list[str] = []
        """Writes by somebody who had lost the lease."""
        self.book = Book()
        """What was said of the parts of replies."""

    def asked(self, command: Sequence[bytes]) -> None:
        call = self._call(command)
        if call is None:
            return
        if call[0] == "marks.lua":
            for step in _steps(call):
                if step.what in BEGINS:
                    self.book.asked[step.mark] = step.place
        # A repeated call may be answered "done" because of the first one: only that one says anything.
        for key, _ in _holders(call):
            name = key, *command
            self._begun[name] = -1 if name in self._begun else self._highest.get(key, 0)

    def answered(self, command: Sequence[bytes], reply: Any) -> None:
        call = self._call(command)
        if call is None:
            return
        kind, keys, args, packed = call
        if kind == "claim.lua" and isinstance(reply, list):
            for number, (status, *begun) in enumerate(reply):
                if status == b"claimed":
                    self._granted(keys[3 + 3 * number], packed[2 * number + 1].encode(), begun[0])
        elif kind == "lead.lua" and isinstance(reply, list) and reply[0] == b"held":
            self._granted(keys[0], args[0], reply[1])
        elif kind == "lock.lua" and isinstance(reply, list) and reply[0] == b"locked":
            self._granted(keys[1], args[1], reply[1])
        elif kind == "open.lua" and isinstance(reply, list) and reply[0] == b"open":
            # A memory knows of a lock from when it was opened under it.
            self._granted(_memory(keys, args), args[2], int(args[1]))
        elif kind == "marks.lua" and isinstance(reply, list):
            self._enter(call, command, reply)
        else:
            replies = reply if kind == "commit.lua" and isinstance(reply, list) else [reply]
            for (key, nonce), said in zip(_holders(call), replies, strict=False):
                self._judge(kind, key, nonce, command, said)

    def _granted(self, key: bytes, nonce: bytes, fence: int) -> None:
        self._fences[key, nonce] = fence
        self._highest[key] = max(self._highest.get(key, 0), fence)

    def _enter(self, call: _Call, command: Sequence[bytes], reply: Sequence[Any]) -> None:
        _, (leader, *_), args, _ = call
        for step, status in zip(_steps(call), reply[::2], strict=True):
            if status in (b"send", b"unknown"):
                self.book.leaders[step.place] = args[0].decode()
            elif status == b"noted":
                self.book.noted.add(step.place)
        if b"send" in reply[::2]:
            self._judge("marks.lua", leader, args[0], command, b"done")

    def _judge(self, kind: str, session: bytes, nonce: bytes, command: Sequence[bytes], reply: Any) -> None:
        status = reply[0] if isinstance(reply, list) else reply
        granted, highest = self._fences.get((session, nonce)), self._begun.get((session, *command), -1)
        if status in (b"done", b"next") and granted is not None and highest > granted:
            script = kind.removesuffix(".lua")
            self.stale.append(f"{session.decode()}: a {script} under fence {granted} after fence {highest} was granted")

    def _call(self, command: Sequence[bytes]) -> _Call | None:
        """What is called, if it is one of the scripts; None for everything else."""
        if command[0].upper() != b"EVALSHA" or command[1] not in self._names:
            return None
        first, behind = ARGUMENTS + 1, ARGUMENTS + 1 + int(command[ARGUMENTS])
        kind, args = self._names[command[1]], command[behind:]
        packed = msgspec.msgpack.decode(args[PACKED[kind]]) if kind in PACKED else ()
        return kind, command[first:behind], args, packed


def _holders(call: _Call) -> list[tuple[bytes, bytes]]:
    """The key of each lease or lock that a call needs, and the nonce by which it claims to hold it."""
    kind, keys, args, packed = call
    if kind in REMEMBERING:
        return [(_memory(keys, args), args[2])]
    if kind != "commit.lua":
        return [(keys[key], args[nonce]) for key, nonce in [LEASED[kind]]] if kind in LEASED else []
    found, at = list[tuple[bytes, bytes]](), 0
    for session in keys[SHARED_KEYS::COMMIT_KEYS]:
        found.append((session, packed[at + 1].encode()))
        at += COMMIT_ARGS
        at += packed[at - 2]
    return found


def _memory(keys: Sequence[bytes], args: Sequence[bytes]) -> bytes:
    return keys[0] + b" for " + args[0]


def _steps(call: _Call) -> list[_Step]:
    _, keys, _, packed = call
    each = [packed[at : at + FIELDS] for at in range(0, len(packed), FIELDS)]
    return [_step(sent_key, args) for sent_key, args in zip(keys[AHEAD::STEP_KEYS], each, strict=True)]


def _step(sent_key: bytes, args: Sequence[Any]) -> _Step:
    what, _, part, number, mark, _, _, _ = args
    return _Step(what, mark, Place(reply=sent_key.decode().partition(":sent:")[2], part=part, number=number))
