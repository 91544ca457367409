"""A reminder as it is stored: one JSON object that reads well in ``redis-cli``."""

import datetime as dt
import hashlib
from typing import Literal

import msgspec

from daemon.bus import Bus
from daemon.clock import stamp
from daemon.errors import UNREADABLE, MillpondError
from daemon.events import ChatKind, Inbound, Reminding
from daemon.sessionkey import SessionKey
from daemon.wording import Language
from daemon.wording import text as say

# Why a reminder cannot be kept, as a sentence in each language.


class ReminderRefused(MillpondError):
    """A reminder cannot be kept as it was asked for. The text says what to do instead."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(say(key, "en", **values))
        self.key, self._values = key, values

    def said(self, language: Language) -> str:
        """The same in a bot's language."""
        return say(self.key, language, **self._values)


Kind = Literal["text", "prompt"]
"""``text``: sent as it is. ``prompt``: answered by the bot in a proactive turn."""

Held = Literal["", "quiet", "person", "bot", "silent", "access", "stopped"]
"""Why a reminder was put off: quiet hours; the daily limit of the person or of the bot; the person has not written for
too long; the person or group is not admitted; the person wants no reminders."""

ID_CHARS = "abcdefghjkmnpqrstvwxyz23456789"
"""No two look alike."""

ID_LENGTH = 6
"""Of 30 characters each: 100 reminders of a chat collide once in 140,000 chats."""

_encode = msgspec.json.Encoder().encode


class Reminder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is said, when, and in which chat."""

    id: str
    kind: Kind = "text"
    text: str
    due: str
    """The next time at which it fires: ISO 8601, UTC."""
    local: str
    """The same on the clock of ``zone``, as it was wished: ``2026-11-27T09:00:00``; this hour may not exist."""
    zone: str
    """IANA name."""
    rule: str = ""
    """A recurrence rule of RFC 5545, or ``cron`` and five fields; empty: it fires once."""
    until: str = ""
    """No occurrence after this: ISO 8601, UTC; empty: no end."""
    left: int = 0
    """Occurrences that are left, the next one counted; 0: no limit."""
    paused: bool = False
    held: Held = ""
    """Why the next occurrence was put off, or why it is paused; empty: it was not."""
    bot: str
    channel: str
    chat: str
    thread: str = ""
    chat_kind: ChatKind = "direct"
    delivery: Literal["pull", "push"] = "pull"
    sender_id: str
    """The person who asked for it."""
    sender_name: str = ""
    scope: str
    """Of the session, so that a session that is gone begins with the same one."""
    made_at: str
    """ISO 8601, UTC."""

    @property
    def session(self) -> str:
        """Key of the session in which it fires."""
        return str(SessionKey(channel=self.channel, chat=self.chat, thread=self.thread))

    @property
    def person(self) -> str:
        """Whose it is, as the configuration names people: ``<channel>:<sender>``, each part percent-encoded."""
        return str(SessionKey(channel=self.channel, chat=self.sender_id))

    @property
    def due_ms(self) -> int:
        """``due`` in milliseconds of the epoch."""
        return ms_of(dt.datetime.fromisoformat(self.due))

    @property
    def raw(self) -> bytes:
        """As it is stored."""
        return _encode(self)

    def inbound(self, now: dt.datetime) -> Inbound:
        """The event that begins its turn; ``now`` is when it fires."""
        return Inbound(
            id=f"reminder-{self.id}-{self.due_ms}",
            bot=self.bot,
            channel=self.channel,
            chat=self.chat,
            thread=self.thread,
            chat_kind=self.chat_kind,
            sender_id=self.sender_id,
            sender_name=self.sender_name,
            text=self.text,
            delivery=self.delivery,
            received_at=stamp(now),
            correlation=f"reminder-{self.id}",
            reminder=Reminding(id=self.id, kind=self.kind, due=self.due, zone=self.zone),
        )


_decode = msgspec.json.Decoder(Reminder).decode


def reminder_from(raw: bytes) -> Reminder | None:
    """The reminder that is stored; None: a hand has spoilt it."""
    try:
        found = _decode(raw)
        dt.datetime.fromisoformat(found.due)
        dt.datetime.fromisoformat(found.local)
    except UNREADABLE:
        return None
    return found


def id_of(*words: str) -> str:
    """An id, always the same for the same words."""
    number = int.from_bytes(hashlib.blake2b("\0".join(words).encode("utf-8", "replace"), digest_size=8).digest(), "big")
    signs: list[str] = []
    for _ in range(ID_LENGTH):
        number, at = divmod(number, len(ID_CHARS))
        signs.append(ID_CHARS[at])
    return "".join(signs)


def ms_of(moment: dt.datetime) -> int:
    """Milliseconds of the epoch."""
    return round(moment.timestamp() * 1000)


def moment_of(ms: int) -> dt.datetime:
    """The time of ``ms`` milliseconds of the epoch, UTC."""
    return dt.datetime.fromtimestamp(ms / 1000, dt.UTC)


# What a person chose for all reminders of a bot: the time zone, and that none may be sent at all.


class Preferences(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The choices of one person."""

    zone: str = ""
    """IANA name; empty: the bot's."""
    stopped: str = ""
    """Since when the person wants no reminders: ISO 8601, UTC; empty: the person wants them."""


NO_PREFERENCES = Preferences()

_decode_preferences = msgspec.json.Decoder(Preferences).decode


async def preferences_of(bus: Bus, bot: str, person: str) -> Preferences:
    """The choices of ``person``, ``<channel>:<sender>``. Raises BusUnavailable."""
    raw: bytes | None = await bus.call("HGET", bus.keys.preferences(bot), person)
    try:
        return _decode_preferences(raw) if raw else NO_PREFERENCES
    except UNREADABLE:
        return NO_PREFERENCES  # a hand has spoilt it


async def prefer(bus: Bus, bot: str, person: str, wanted: Preferences) -> None:
    """Keep the choices of ``person``. Raises BusUnavailable."""
    if wanted == NO_PREFERENCES:
        await bus.call("HDEL", bus.keys.preferences(bot), person)
    else:
        await bus.call("HSET", bus.keys.preferences(bot), person, _encode(wanted))
