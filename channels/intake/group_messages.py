"""Messages in groups: whether they address the bot, kept context, and the guard against loops of bots."""

from collections import OrderedDict
from typing import Literal

import msgspec

from channels.arrival import Arrival
from channels.quoted_message import said_with
from daemon.bus import Bus, Part, load_script
from daemon.config import AccessConfig
from daemon.events import Command, Overheard

# What a message is to the bot, by where it was said. Pure.

Place = Literal["asked", "overheard", "nothing"]


def place_of(config: AccessConfig, arrival: Arrival, command: Command) -> Place:
    """Whether the bot is asked, only overhears it, or has nothing to do with it.

    In a direct chat it is always asked; in a group as ``config.groups`` says.
    """
    if arrival.chat_kind == "direct" or config.groups == "all":
        return "asked"
    if config.groups == "off":
        return "nothing"
    return "asked" if arrival.mentioned or command else "overheard"


ALBUMS_KEPT = 1_000
"""Albums that are remembered; their parts arrive within some tenths of a second."""


class AskedAlbums:
    """Albums that address the bot: only one of their parts has the caption that mentions it."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, str], str] = OrderedDict()
        """With the ID of the first part."""

    def place(self, session: str, arrival: Arrival, place: Place) -> Place:
        """What a message is to the bot, ``place`` by itself, as a part of its album."""
        if not arrival.album or place == "nothing":
            return place
        album = (session, arrival.sender.id, arrival.album)
        if place == "asked":
            self._known.setdefault(album, arrival.id)
            if len(self._known) > ALBUMS_KEPT:
                self._known.popitem(last=False)
        return "asked" if album in self._known else place

    def part(self, session: str, arrival: Arrival) -> Arrival:
        """A message without the files of the message that it answers, if the first part of its album brought them."""
        first = (
            self._known.get((session, arrival.sender.id, arrival.album), arrival.id) if arrival.album else arrival.id
        )
        if first == arrival.id:
            return arrival
        return msgspec.structs.replace(
            arrival, attachments=tuple([file for file in arrival.attachments if not file.sender_id])
        )


# What is said in a group and not to the bot: kept for a while, as context of what it is asked next.

OVERHEAR = load_script(__file__, "overhear.lua")
UNHEAR = load_script(__file__, "unhear.lua")

KEPT_MAX = 50
"""Of a group, the newest."""

KEPT_CHARS = 8_000
"""Of all of them together: some 2,000 tokens of a prompt."""

TEXT_CHARS = 2_000
"""Of one of them: a single long one does not push all others out."""

FILES_MAX = 10
"""Of one of them: an album of Telegram or Discord."""

KEPT_S = 86_400.0
"""A day: what is older is no context of what is asked now."""

_encode = msgspec.json.Encoder().encode


class GroupContext:
    """Keeps what was overheard. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def keep(self, session: str, arrival: Arrival, *, at: str) -> bool:
        """Keep what was said; an edit only in the place of what it edits. False when it is not kept."""
        text = _said(arrival)
        if not text:
            return False
        overheard = Overheard(
            id=arrival.id,
            sender_id=arrival.sender.id,
            sender_name=arrival.sender.name,
            text=text,
            at=at,
            attachments=arrival.attachments[:FILES_MAX],
        )
        status: bytes = await self._bus.run(
            OVERHEAR,
            [self._bus.keys.overheard(session)],
            [
                repr(arrival.order),
                arrival.id,
                _encode(overheard),
                KEPT_MAX,
                KEPT_CHARS,
                round(KEPT_S * 1000),
                "edited" if arrival.edited else "",
            ],
        )
        return status == b"kept"

    async def forget(self, session: str, message_id: str, *, sender_id: str = "") -> bool:
        """Somebody has taken it back; whether it was kept. ``sender_id``: only if it was that person's."""
        gone: int = await self._bus.run(UNHEAR, [self._bus.keys.overheard(session)], [message_id, sender_id])
        return gone == 1


def _said(arrival: Arrival) -> str:
    """What an arrival says, in words."""
    # What is no text (half of a character) can be sent nowhere.
    return said_with(arrival.attachments, arrival.text)[:TEXT_CHARS].encode("utf-8", "replace").decode()


# The loop guard: two bots that answer each other would never stop.

ANSWER_BOT = load_script(__file__, "answer_bot.lua")

IN_A_ROW = 5
"""So many messages of bots are answered in a chat before a human has to speak."""

WITHIN_S = 3_600.0
"""After an hour of silence they begin anew."""


class LoopGuard:
    """Counts what bots were answered. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def lets_pass(self, session: str, message_id: str) -> bool:
        """Whether a bot's message is answered."""
        args: list[Part] = [message_id, IN_A_ROW, round(WITHIN_S * 1000)]
        passes: int = await self._bus.run(ANSWER_BOT, [self._bus.keys.bots(session)], args)
        return passes == 1

    async def human(self, session: str) -> None:
        """A human has spoken."""
        await self._bus.call("DEL", self._bus.keys.bots(session))
