"""One-time codes by which a person shows that two chats are his: made in one, said in the other."""

import secrets
from dataclasses import dataclass
from typing import Literal

import msgspec

from daemon.bus import Bus, Part, load_script
from daemon.errors import JobRefused
from daemon.jobs import Tell

OFFER = load_script(__file__, "offer.lua")
REDEEM = load_script(__file__, "redeem.lua")

SIGNS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""No two look alike."""

LENGTH = 8
"""Of 30 signs each: with five tries in ten minutes nobody guesses one."""

VALID_S = 600.0
"""How long a code can be used."""

WRONG_MAX = 5
"""Wrong codes of one person within ``WRONG_S``; then none is looked at."""
WRONG_S = 600.0

_encode = msgspec.json.Encoder().encode
_decode_tell = msgspec.json.Decoder(Tell).decode

Refused = Literal["own", "bot", "wrong", "often"]


@dataclass(frozen=True, kw_only=True)
class Redeemed:
    """What a code stood for."""

    scope: str
    """Of the chat in which it was made."""
    chat: Tell
    link: str
    """Id of the job that links them."""


class Codes:
    """The codes of one database. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def offer(self, scope: str, bot: str, chat: Tell) -> str:
        """A new code for the person of ``scope``, valid for ``VALID_S``."""
        for _ in range(10):
            code = "".join(secrets.choice(SIGNS) for _ in range(LENGTH))
            link = f"link-{secrets.token_hex(8)}"
            args: list[Part] = [scope, bot, _encode(chat), link, round(VALID_S * 1000)]
            if await self._bus.run(OFFER, [self._bus.keys.pair(code)], args) == b"made":
                return code
        raise JobRefused("no unused code was found. Try again.")

    async def redeem(self, code: str, *, who: str, bot: str, family: list[str]) -> Redeemed | Refused:
        """Use a code up; said again by the same ``who`` it gives the same again.

        ``family``: the scopes that share a memory with whoever says it, the first of which counts his tries.
        """
        keys = self._bus.keys
        status, *found = await self._bus.run(
            REDEEM,
            [keys.pair(plain(code)), keys.tries(family[0])],
            [who, bot, WRONG_MAX, round(WRONG_S * 1000), *family],
        )
        if status == b"used":
            scope, chat, link = found
            return Redeemed(scope=scope.decode(), chat=_decode_tell(chat), link=link.decode())
        refused: Refused = msgspec.convert(status.decode(), Refused)
        return refused


def plain(code: str) -> str:
    """A code as it is kept, whatever a person made of it: case, blanks and dashes do not count."""
    return "".join(sign for sign in code.upper() if sign.isalnum())[: 2 * LENGTH] or "-"


def shown(code: str) -> str:
    """A code as people read it best."""
    return f"{code[: LENGTH // 2]}-{code[LENGTH // 2 :]}"
