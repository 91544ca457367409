"""Promise 2, watched from outside: whoever lost a session's lease writes nothing any more.

A log alone cannot show it. Two workers that answer the same messages write the same turn, the position lets only one of
them through, and which of them it was is not on record; who was entitled to write it is known here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

ARGUMENTS = 2
"""Words of an EVALSHA before the number of its keys, that number not counted."""


class Witness:
    """Sees commands and answers; remembers who was granted which fence, and who wrote after a higher one."""

    def __init__(self, names: Mapping[bytes, str]) -> None:
        """``names``: name of each script by its hash."""
        self._names = names
        self._fences: dict[tuple[bytes, bytes], int] = {}
        self._highest: dict[bytes, int] = {}
        self._begun: dict[tuple[bytes, ...], int] = {}
        self.stale: list[str] = []
        """Writes by somebody who had lost the lease."""

    def asked(self, command: Sequence[bytes]) -> None:
        """A command is about to be sent."""
        call = self._call(command)
        if call is None or call[0] not in ("commit.lua", "journal.lua"):
            return
        # A repeated call may be answered "done" because of the first one: only that one says anything.
        name, session = tuple(command), call[1][0]
        self._begun[name] = -1 if name in self._begun else self._highest.get(session, 0)

    def answered(self, command: Sequence[bytes], reply: Any) -> None:
        """What the server said to it."""
        call = self._call(command)
        if call is None:
            return
        kind, keys, args = call
        if kind == "claim.lua" and isinstance(reply, list):
            for number, (status, *begun) in enumerate(reply):
                if status == b"claimed":
                    self._granted(keys[3 + 3 * number], args[5 + 2 * number], begun[0])
        elif kind in ("commit.lua", "journal.lua"):
            self._judge(kind, keys[0], args[1 if kind == "commit.lua" else 0], command, reply)

    def _granted(self, session: bytes, nonce: bytes, fence: int) -> None:
        self._fences[session, nonce] = fence
        self._highest[session] = max(self._highest.get(session, 0), fence)

    def _judge(self, kind: str, session: bytes, nonce: bytes, command: Sequence[bytes], reply: Any) -> None:
        status = reply[0] if isinstance(reply, list) else reply
        granted, highest = self._fences.get((session, nonce)), self._begun.get(tuple(command), -1)
        if status in (b"done", b"next") and granted is not None and highest > granted:
            script = kind.removesuffix(".lua")
            self.stale.append(f"{session.decode()}: a {script} under fence {granted} after fence {highest} was granted")

    def _call(self, command: Sequence[bytes]) -> tuple[str, Sequence[bytes], Sequence[bytes]] | None:
        """Script, keys and arguments of a script call; None for everything else."""
        if command[0].upper() != b"EVALSHA" or command[1] not in self._names:
            return None
        first, behind = ARGUMENTS + 1, ARGUMENTS + 1 + int(command[ARGUMENTS])
        return self._names[command[1]], command[first:behind], command[behind:]
