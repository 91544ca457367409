"""Approvals of commands: a turn asks for one and waits, an administrator decides, and the command runs once.

Redis holds neither the command nor anything else of the conversation.
"""

import hashlib
import re
from typing import Literal

import msgspec

from daemon.bus import Bus, load_script

APPROVE = load_script(__file__, "approve.lua")
DECIDE = load_script(__file__, "decide.lua")

REMEMBERED_S = 86_400.0
"""How long a decision is known beyond the time in which it could be made."""

ID_CHARS = 8
"""Of an ID, hexadecimal digits: short enough to type."""

_is_id = re.compile(f"[0-9a-f]{{{ID_CHARS}}}").fullmatch


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """How far an approval has come."""

    status: str
    """``asked`` (just now), ``waiting``, ``run`` (whoever asked is to run the command), ``started`` (by another one),
    ``denied`` or ``expired``."""
    by: str
    """Who decided, ``<channel instance>:<sender>``."""
    left_s: float
    """How long it can still be decided."""


class Approvals:
    """The approvals of one database. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def ask(self, approval_id: str, *, bot: str, call: str, within_s: float, asker: str) -> Approval:
        """Ask for an approval, or learn of it. One ``asker`` is told to run the command, also if it asks again."""
        status, by, left_ms = await self._bus.run(
            APPROVE,
            [self._bus.keys.approval(approval_id)],
            [bot, call, round(within_s * 1000), round(REMEMBERED_S * 1000), asker],
        )
        return Approval(status=status.decode(), by=by.decode(), left_s=int(left_ms) / 1000)

    async def decide(
        self, approval_id: str, verdict: Literal["approved", "denied"], *, bot: str, by: str, at: str
    ) -> tuple[str, str]:
        """Decide; ``done``, ``none`` or why it cannot be decided any more, and the name of the call.

        ``at`` is the stream ID of the decision: the same again is ``done`` again.
        """
        if not _is_id(approval_id):
            return "none", ""
        status, call = await self._bus.run(DECIDE, [self._bus.keys.approval(approval_id)], [bot, verdict, by, at])
        return status.decode(), call.decode()

    async def left_s(self, approval_id: str, *, bot: str) -> float:
        """How long a command of ``bot`` can still be decided; 0 if it does not wait."""
        state, whose, ends = await self._bus.call("HMGET", self._bus.keys.approval(approval_id), "state", "bot", "ends")
        if state != b"waiting" or whose.decode() != bot:
            return 0.0
        seconds, micros = await self._bus.call("TIME")
        return max(0.0, int(ends) / 1000 - int(seconds) - int(micros) / 1_000_000)


def approval_id_of(call: str, command: str) -> str:
    """The ID of the approval of a call's command; the same whenever the call is repeated."""
    return hashlib.blake2b(f"{call}\0{command}".encode("utf-8", "replace"), digest_size=ID_CHARS // 2).hexdigest()
