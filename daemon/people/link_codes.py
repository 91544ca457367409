"""One-time codes by which a person shows that two chats are his: made in one, said in the other.

When a person sends the code, it becomes a link request, which both chats answer. The key ``linking`` contains the
newest code of a person.
"""

import re
import secrets
from typing import Literal

import msgspec

from daemon.bus import Bus, Part, load_script, pairs
from daemon.errors import JobRefused
from daemon.jobs import NotifiedChat
from daemon.people.link_dependencies import name_of
from daemon.printable import one_line

OFFER = load_script(__file__, "offer.lua")
REDEEM = load_script(__file__, "redeem.lua")
ANSWER = load_script(__file__, "answer.lua")
BEGIN = load_script(__file__, "begin.lua")

SIGNS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""No two look alike."""

LENGTH = 8
"""Of 30 signs each: with five tries in ten minutes nobody guesses one."""

VALID_S = 600.0
"""How long a code can be sent, and how long the link request can be answered."""

WRONG_MAX = 5
"""Wrong codes of one person within ``WRONG_S``; then none is looked at."""
WRONG_S = 600.0

NAME_CHARS = 64
"""Longest display name of a person that another person is shown."""

_MARKUP = re.compile(r"[\\`*_~|<>\[\](){}#@/:“”]")
"""Characters that are left out of a name: they could make a link or a mention, or end the name."""

_encode = msgspec.json.Encoder().encode
_decode_tell = msgspec.json.Decoder(NotifiedChat).decode

Refused = Literal["own", "bot", "busy", "old", "wrong", "often"]
Answer = Literal["yes", "no", "gone"]
Answered = Literal["none", "newer", "waits", "both", "over", "no", "rejected"]
"""See ``answer.lua``."""


class Party(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two people of a link request."""

    scope: str
    chat: NotifiedChat
    """The chat in which the code was created or sent."""
    name: str = ""
    """Display name of the person on the platform."""

    @property
    def called(self) -> str:
        """Name and ID as another person is shown them; a person can choose the name, but not the ID in brackets."""
        name = one_line(_MARKUP.sub(" ", self.name))[:NAME_CHARS].strip()
        return f"“{name}” ({name_of(self.scope)})" if name else name_of(self.scope)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A link request, as one of the two people sees it."""

    code: str
    link: str
    """Id of the job that links them."""
    side: Literal["maker", "member"]
    """``maker``: the person who created the code, whose memory stays."""
    own: Party
    other: Party

    @property
    def turned(self) -> "Request":
        """The same request as the other person sees it."""
        side = "member" if self.side == "maker" else "maker"
        return msgspec.structs.replace(self, side=side, own=self.other, other=self.own)


class LinkCodes:
    """The codes of one database. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def offer(self, party: Party, bot: str) -> str:
        """Create a code of the person, valid for ``VALID_S``; empty if the person has an open link request."""
        keys = self._bus.keys
        for _ in range(10):
            code = "".join(secrets.choice(SIGNS) for _ in range(LENGTH))
            link = f"link-{secrets.token_hex(8)}"
            args: list[Part] = [party.scope, bot, _encode(party.chat), party.name, link, code, _ms(VALID_S)]
            made: bytes = await self._bus.run(OFFER, [keys.pair(code), keys.linking(party.scope)], args)
            if made != b"taken":
                return code if made == b"made" else ""
        raise JobRefused("Millpond could not create an unused linking code. Try again.")

    async def redeem(self, said: str, party: Party, *, bot: str, family: list[str]) -> Request | Refused:
        """Use a code, which opens a link request. The same message gives the same result again.

        ``family``: the scopes that share a memory with the sender. The first scope counts the wrong codes.
        """
        keys, code = self._bus.keys, plain(said)
        maker = (await self._bus.call("HGET", keys.pair(code), "maker") or b"").decode()
        status: bytes = await self._bus.run(
            REDEEM,
            [keys.pair(code), keys.tries(family[0]), keys.linking(maker or party.scope), keys.linking(party.scope)],
            [
                *(code, said_by(party.chat), bot, maker),
                *(party.scope, _encode(party.chat), party.name),
                *(WRONG_MAX, _ms(WRONG_S), _ms(VALID_S)),
                *family,
            ],
        )
        if status != b"asked":
            refused: Refused = msgspec.convert(status.decode(), Refused)
            return refused
        return await self._request(code, "member") or "wrong"  # it may have expired since

    async def request_of(self, scope: str) -> Request | None:
        """The newest link request of a person; None if there is no request."""
        code, side = await self._bus.call("HMGET", self._bus.keys.linking(scope), "code", "side")
        return await self._request(code.decode(), "maker" if side == b"maker" else "member") if code else None

    async def _request(self, code: str, side: Literal["maker", "member"]) -> Request | None:
        fields = dict(pairs(await self._bus.call("HGETALL", self._bus.keys.pair(code))))
        if b"maker" not in fields or b"member" not in fields:
            return None
        request = Request(
            code=code,
            link=fields[b"link"].decode(),
            side="maker",
            own=_party(fields, b"maker"),
            other=_party(fields, b"member"),
        )
        return request if side == "maker" else request.turned

    async def answer(self, request: Request, answer: Answer, *, by: NotifiedChat, at_ms: int) -> Answered:
        """Answer a request for its side. The same message gives the same result again.

        ``at_ms``: time at which the message was accepted (server clock).
        """
        args: list[Part] = [request.code, request.side, request.turned.side, answer, said_by(by), at_ms]
        found: bytes = await self._bus.run(ANSWER, self._keys(request), args)
        answered: Answered = msgspec.convert(found.decode(), Answered)
        return answered

    async def begin(self, request: Request, *, by: NotifiedChat) -> None:
        """Close a request after its job was created."""
        await self._bus.run(BEGIN, self._keys(request), [request.code, said_by(by)])

    def _keys(self, request: Request) -> list[str]:
        keys = self._bus.keys
        return [keys.pair(request.code), keys.linking(request.own.scope), keys.linking(request.other.scope)]


def _party(fields: dict[bytes, bytes], side: bytes) -> Party:
    scope, chat, name = (fields[side + part].decode() for part in (b"", b"_chat", b"_name"))
    return Party(scope=scope, chat=_decode_tell(chat), name=name)


def said_by(chat: NotifiedChat) -> str:
    """Session and ID of the message of a chat, which is unique among all messages."""
    return f"{chat.session} {chat.message_id}"


def plain(code: str) -> str:
    """A code as it is kept, whatever a person made of it: case, blanks and dashes do not count."""
    return "".join(sign for sign in code.upper() if sign.isalnum())[: 2 * LENGTH] or "-"


def shown(code: str) -> str:
    """A code as people read it best."""
    return f"{code[: LENGTH // 2]}-{code[LENGTH // 2 :]}"


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
