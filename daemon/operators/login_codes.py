"""Codes that are good for one login, and the visitors who used one: browsers, known by a secret in a cookie.

Redis never holds a secret itself, only its SHA-256: whoever reads a dump cannot log in with what stands there.
"""

import hashlib
import secrets

import msgspec

from daemon.bus import Bus, load_script

REDEEM = load_script(__file__, "redeem.lua")
VISIT = load_script(__file__, "visit.lua")

CODE_BYTES = 16
"""Of a code: 128 random bits, which nobody guesses; 22 characters in an address."""

CODE_VALID_S = 600.0
"""How long a link can be used: until somebody has gone from the terminal to the browser."""

SECRET_BYTES = 32
"""Of what a visitor's cookie holds."""

VISITOR_VALID_S = 30 * 86_400.0
"""How long a visitor is known after its last visit, or little less: it is renewed when half of it is over."""

EVERYWHERE = ("//0.0.0.0:", "//[::]:")
"""Addresses that stand for all of a machine's, which no browser can open everywhere."""

SHORT_CHARS = 8
"""Of a visitor's hash, by which the audit tells visitors apart."""


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """A visitor, here again."""

    channel: str
    """The channel instance whose operator it is."""
    person: str
    """The name with which the link was made; empty: none."""
    renewed: bool
    """Whether it is known for longer from now on, so that the cookie has to last longer too."""


class LoginCodes:
    """The codes and visitors of one database. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def offer(self, channel: str, person: str = "") -> str:
        """A new code by which the browser of ``person`` becomes an operator of the channel instance ``channel``."""
        code, whose = secrets.token_urlsafe(CODE_BYTES), f"{channel}\n{person}" if person else channel
        await self._bus.call("SET", self._bus.keys.login(_hash(code)), whose, "PX", round(CODE_VALID_S * 1000))
        return code

    async def redeem(self, code: str, channel: str) -> str:
        """The secret of a new visitor, for whoever has a code of ``channel``; empty when the code is none (any more).

        Whatever becomes of it, the code is used up.
        """
        secret = secrets.token_urlsafe(SECRET_BYTES)
        keys = self._bus.keys
        done: int = await self._bus.run(
            REDEEM,
            [keys.login(_hash(code)), keys.visitor(_hash(secret))],
            [channel, round(VISITOR_VALID_S * 1000)],
        )
        return secret if done else ""

    async def visit(self, secret: str) -> Visit | None:
        """The visitor with this secret; None when there is none, or none any more."""
        key = self._bus.keys.visitor(_hash(secret))
        whose, renewed = await self._bus.run(VISIT, [key], [round(VISITOR_VALID_S * 1000)])
        channel, _, person = whose.decode().partition("\n")
        return Visit(channel=channel, person=person, renewed=bool(renewed)) if channel else None

    async def forget(self, secret: str) -> bool:
        """Know the visitor no longer; False when it was not known."""
        return bool(await self._bus.call("DEL", self._bus.keys.visitor(_hash(secret))))


def link(address: str, code: str) -> str:
    """What a person opens to log in: what stands behind ``#`` reaches no server, and so no log.

    ``address`` is where the channel listens, ``http://host:port``; where that is every address of the machine, the
    link has the one that works on it.
    """
    for everywhere in EVERYWHERE:
        address = address.replace(everywhere, "//localhost:")
    return f"{address}/login#{code}"


def short_id(secret: str) -> str:
    """What a visitor is called where others read it; its secret cannot be had from it."""
    return _hash(secret)[:SHORT_CHARS]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
