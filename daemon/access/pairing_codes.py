"""One-time codes by which strangers are let in: given to a stranger, used by an administrator."""

import secrets
from typing import Any, Literal

import msgspec

from daemon.access.access_notices import AccessNotice
from daemon.bus import Bus, load_script, pairs
from daemon.errors import UNREADABLE
from daemon.sessionkey import SessionKey
from daemon.wording import Language
from daemon.wording import text as say

OFFER = load_script(__file__, "offer.lua")
REDEEM = load_script(__file__, "redeem.lua", with_parts=("access.part.lua",))

SIGNS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""No two look alike."""

LENGTH = 8
"""Of 30 signs each: with five tries in ten minutes nobody guesses one."""

VALID_S = 3_600.0
"""How long a code can be used: an administrator may have to be found first."""

OPEN_MAX = 100
"""Codes of a channel that may be open at a time: strangers cost nothing to make."""

WRONG_MAX = 5
"""Wrong codes of one administrator within ``WRONG_S``; then none is looked at."""
WRONG_S = 600.0

Refused = Literal["wrong", "often"]


class Stranger(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a code was given."""

    id: str
    name: str
    session: str
    """Where the code was given."""


class _Code(msgspec.Struct, frozen=True, kw_only=True):
    until: float = 0.0
    used: str = ""
    code: str = ""
    name: str = ""
    session: str = ""


_decode = msgspec.json.Decoder(_Code).decode


class PairingCodes:
    """The codes of one channel. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus, channel: str) -> None:
        self._bus = bus
        self._channel = channel

    async def offer(self, stranger: Stranger) -> str:
        """The stranger's code, as people read it best; empty when too many are open already."""
        code = "".join(secrets.choice(SIGNS) for _ in range(LENGTH))
        found: bytes = await self._bus.run(
            OFFER,
            [self._bus.keys.codes(self._channel)],
            [stranger.id, code, stranger.name, stranger.session, round(VALID_S * 1000), OPEN_MAX],
        )
        return _shown(found.decode())

    async def redeem(self, code: str, *, who: str, by: str, time: str, at: str = "") -> Stranger | Refused:
        """Let the stranger in whom ``code`` was given; said again by the same ``who`` it gives the same again.

        ``who``: session and id of the message; ``by``: the administrator, who has so many tries; ``at``: as for
        ``Access.decide``.
        """
        keys = self._bus.keys
        status, *found = await self._bus.run(
            REDEEM,
            [keys.codes(self._channel), keys.access(self._channel), keys.guesses(self._channel, by)],
            [_plain(code), who, WRONG_MAX, round(WRONG_S * 1000), by, time, at, keys.rulings, self._channel],
        )
        if status == b"used":
            name, called, session = (part.decode() for part in found)
            return Stranger(id=name, name=called, session=session)
        return "often" if status == b"often" else "wrong"

    async def open_codes(self) -> int:
        """How many codes could be used just now."""
        return len(await self.strangers())

    async def strangers(self) -> dict[str, Stranger]:
        """The strangers with a code that could be used just now, by code, the newest first."""
        seconds, _ = await self._bus.call("TIME")
        found: Any = await self._bus.call("HGETALL", self._bus.keys.codes(self._channel))
        read = [(name.decode(), code) for name, raw in pairs(found) if (code := _read(raw)) is not None]
        open_ones = [each for each in read if each[1].until > int(seconds) * 1000 and not each[1].used]
        open_ones.sort(key=lambda each: each[1].until, reverse=True)
        return {code.code: Stranger(id=name, name=code.name, session=code.session) for name, code in open_ones}


def welcome(stranger: Stranger, *, code: str, language: Language, correlation: str) -> AccessNotice:
    """What a stranger who was let in is told; say it with a pause of ``VALID_S``, so that it is said once."""
    text, session = say("pair_welcome", language), SessionKey.parse(stranger.session)
    return AccessNotice(session=session, kind="paired", name=_plain(code), text=text, correlation=correlation)


def _read(raw: bytes) -> _Code | None:
    try:
        return _decode(raw)
    except UNREADABLE:
        return None


def _plain(code: str) -> str:
    """A code as it is kept, whatever a person made of it: case, blanks and dashes do not count."""
    return "".join(sign for sign in code.upper() if sign.isalnum())[: 2 * LENGTH] or "-"


def _shown(code: str) -> str:
    return f"{code[: LENGTH // 2]}-{code[LENGTH // 2 :]}" if code else ""
