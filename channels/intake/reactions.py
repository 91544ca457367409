"""People's reactions to messages of the bot's: kept as context of what the bot is asked next. They wake nobody up."""

import msgspec

from channels.arrival import ALL_REACTIONS, Arrival, reaction_id
from channels.intake.group_messages import KEPT_S
from channels.posted_messages import PostedMessages
from daemon.bus import Bus, Part, load_script
from daemon.errors import DamagedData, Trimmed
from daemon.events import LogEntry, Overheard
from daemon.printable import one_line
from daemon.session import SessionReader

REACT = load_script(__file__, "react.lua")

KEPT_MAX = 10
"""Reactions of a chat, the newest: a popular answer does not push out what people say."""

QUOTE_CHARS = 100
"""Of the beginning of the answer that was marked."""

TURN_MAX = 200
"""Messages of a turn among which its answer is looked for; it has at most two for each tool call."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Overheard).decode


class _Answer(msgspec.Struct, frozen=True):
    role: str = ""
    content: str | None = None


_decode_answer = msgspec.json.Decoder(_Answer).decode


class Reactions:
    """The reactions of one channel instance. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus, channel: str) -> None:
        self._bus = bus
        self.posted = PostedMessages(bus, channel)
        self._reader = SessionReader(bus)

    async def keep(self, arrival: Arrival, *, at: str) -> bool:
        """Keep a reaction, if it is to a message of the bot's and not known yet; whether it was kept."""
        reply = await self.posted.reply_of(arrival.chat, arrival.id)
        session, _, turn = reply.rpartition("#")
        if not session:
            return False
        answer = await self._answer(session, int(turn)) if turn.isascii() and turn.isdigit() else ""
        identity = reaction_id(arrival.id, arrival.reaction, arrival.sender.id)
        reaction = Overheard(
            id=identity,
            sender_id=arrival.sender.id,
            sender_name=arrival.sender.name,
            text=line_of(arrival.reaction, answer),
            at=at,
            is_reaction=True,
        )
        keys = [self._bus.keys.overheard(session), self._bus.keys.seen(session, identity)]
        args: list[Part] = [identity, _encode(reaction), KEPT_MAX, round(KEPT_S * 1000)]
        kept: bytes = await self._bus.run(REACT, keys, args)
        return kept == b"kept"

    async def forget(self, arrival: Arrival) -> bool:
        """Forget a reaction that was removed, or all of them; whether there was one that the bot has not read."""
        session = (await self.posted.reply_of(arrival.chat, arrival.id)).rpartition("#")[0]
        if not session:
            return False
        emoji = "" if arrival.reaction == ALL_REACTIONS else arrival.reaction
        gone = reaction_id(arrival.id, emoji, arrival.sender.id)
        key, removed = self._bus.keys.overheard(session), 0
        # The same person may put it there once more.
        await self._bus.call("DEL", self._bus.keys.seen(session, gone))
        for raw in await self._bus.call("ZRANGE", key, 0, -1):
            if _id_of(raw).startswith(gone):
                removed += await self._bus.call("ZREM", key, raw)
        return removed > 0

    async def _answer(self, session: str, turn: int) -> str:
        """The answer of a turn; empty: the log does not contain it any more."""
        try:
            state = await self._reader.state(session)
            upto = min(turn + TURN_MAX, state.head)
            entries = await self._reader.log(session, first=turn, upto=upto, base=state.base)
        except (Trimmed, DamagedData):
            return ""
        return next((_text_of(entry) for entry in reversed(entries) if entry.turn == turn and entry.answers), "")


def line_of(emoji: str, answer: str) -> str:
    """The line about a reaction, as a model reads it; ``answer``: the text that was marked, if it is known."""
    text = _unbracketed(one_line(answer)).replace('"', "'")
    short = text if len(text) <= QUOTE_CHARS else f"{text[: QUOTE_CHARS - 1]}…"
    whose = f'your message: "{short}"' if short else "one of your earlier messages"
    return f"[Reacted with {_unbracketed(emoji)} to {whose}]"


def _unbracketed(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


def _text_of(entry: LogEntry) -> str:
    try:
        return _decode_answer(entry.wire).content or ""
    except msgspec.DecodeError:
        return ""


def _id_of(raw: bytes) -> str:
    try:
        return _decode(raw).id if raw else ""
    except msgspec.DecodeError:
        return ""
