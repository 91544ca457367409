"""Dead letters: messages that could not be answered and replies that could not be delivered."""

import datetime as dt
import re
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Literal

import msgspec

from daemon.bus.connection import Bus
from daemon.bus.pipeline_connection import pairs
from daemon.bus.publish import longest_deadline_s
from daemon.bus.script_batch import load_script
from daemon.clock import stamp
from daemon.config import QueueConfig
from daemon.errors import UNREADABLE, InboundError
from daemon.events import Inbound, Reply
from daemon.sessionkey import SessionKey

REPLAY = load_script(__file__, "replay.lua")

PAGE = 100
"""Letters read at once."""

NAME = re.compile(r"(?:(\d{1,5}):)?(\d{1,19}-\d{1,19})")

Outcome = Literal["replayed", "gone", "full", "unknown"]
"""What became of a replay; see ``replay.lua``."""

_decode_message = msgspec.json.Decoder(Inbound).decode
_decode_reply = msgspec.json.Decoder(Reply).decode


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a ``dead`` stream."""

    name: str
    """What a person calls it: its stream id, behind ``<partition>:`` when there are several partitions."""
    partition: int
    stream_id: str
    """Where it stands in ``dead``: ``<ms>-<sequence>``, the time at which it was given up."""
    session: str
    """Empty when what was found did not say."""
    id: str
    """The message's id, or the reply's."""
    reason: str
    attempts: int
    kind: Literal["message", "reply"]
    payload: bytes
    """What was accepted, or what was to be delivered, as it was stored."""

    @property
    def message(self) -> Inbound | None:
        """The message; None if it cannot be read, or if the letter is a reply."""
        try:
            return _decode_message(self.payload) if self.kind == "message" else None
        except UNREADABLE:
            return None

    @property
    def reply(self) -> Reply | None:
        """The reply; None if it cannot be read, or if the letter is a message."""
        try:
            return _decode_reply(self.payload) if self.kind == "reply" else None
        except UNREADABLE:
            return None


class DeadLetters:
    """The dead letters of one database."""

    def __init__(self, bus: Bus, config: QueueConfig) -> None:
        self._bus = bus
        self._config = config

    async def newest(self, *, limit: int) -> list[DeadLetter]:
        """The newest letters of all partitions, oldest first; errors as for ``Bus.call``."""
        found: list[DeadLetter] = []
        for partition in range(self._bus.keys.partitions):
            key = self._bus.keys.dead(partition)
            entries: Any = await self._bus.call("XREVRANGE", key, "+", "-", "COUNT", limit)
            found += [self._letter(partition, stream_id, fields) for stream_id, fields in entries]
        return sorted(found, key=_age)[-limit:]

    async def all(self, *, reason: str | None = None) -> AsyncGenerator[DeadLetter]:
        """All current letters, oldest first within each partition. Letters that arrive later are not included.

        With a ``reason`` those that were given up for it, whatever their reason says more behind a colon.
        """
        for partition in range(self._bus.keys.partitions):
            key = self._bus.keys.dead(partition)
            last: Any = await self._bus.call("XREVRANGE", key, "+", "-", "COUNT", 1)
            first = b"-"
            while last:
                entries: Any = await self._bus.call("XRANGE", key, first, last[0][0], "COUNT", PAGE)
                for stream_id, fields in entries:
                    letter = self._letter(partition, stream_id, fields)
                    if reason in (None, letter.reason, letter.reason.partition(":")[0]):
                        yield letter
                if len(entries) < PAGE:
                    break
                first = b"(" + entries[-1][0]

    async def named(self, name: str) -> list[DeadLetter]:
        """The letters with the name ``<stream id>`` or ``<partition>:<stream id>``. Several can match without a
        partition.

        Raises:
            InboundError: that is no name.
        """
        match = NAME.fullmatch(name)
        if match is None:
            raise InboundError(
                f"dead letter {name!r} was not found. To list the names of all dead letters, run `millpond "
                "queue dead list`."
            )
        partitions = range(self._bus.keys.partitions) if match[1] is None else [int(match[1])]
        found: list[DeadLetter] = []
        for partition in partitions:
            entries: Any = await self._bus.call("XRANGE", self._bus.keys.dead(partition), match[2], match[2])
            found += [self._letter(partition, stream_id, fields) for stream_id, fields in entries]
        return found

    async def replay(self, letter: DeadLetter) -> Outcome:
        """Queue the letter's message again, or send its reply again.

        Raises:
            InboundError: that can never be; the text says why.
            BusUnavailable: Redis is away; replaying it again is safe.
        """
        channel = self._channel(letter)
        keys, partition = self._bus.keys, letter.partition
        status = await self._bus.run(
            REPLAY,
            [
                keys.dead(partition),
                keys.inbox(partition),
                keys.waiting(letter.session),
                keys.session(letter.session),
                keys.ready(partition),
                keys.due(partition),
                keys.out(partition, channel),
            ],
            [
                letter.session,
                letter.stream_id,
                self._config.waiting_max,
                self._config.partition_max,
                round(self._config.wakeup_s * 1000),
                round(longest_deadline_s(self._config) * 1000),
            ],
        )
        outcome: Outcome = status.decode()
        return outcome

    async def drop(self, letter: DeadLetter) -> bool:
        """Delete the letter; False if it was already deleted."""
        return bool(await self._bus.call("XDEL", self._bus.keys.dead(letter.partition), letter.stream_id))

    def _channel(self, letter: DeadLetter) -> str:
        """The channel instance of a letter that can be replayed."""
        found = letter.message or letter.reply
        if found is None:
            raise InboundError(f"dead letter {letter.name} cannot be replayed: its stored message cannot be read")
        if isinstance(found, Inbound) and found.command:
            raise InboundError(
                f"dead letter {letter.name} is a command, so it cannot be replayed. Send the command again."
            )
        session = str(found.session)
        if session != letter.session or self._bus.keys.partition(session) != letter.partition:
            raise InboundError(
                f"dead letter {letter.name} cannot be replayed because its message belongs to a different session"
            )
        return SessionKey.parse(session).channel

    def _letter(self, partition: int, stream_id: bytes, fields: Any) -> DeadLetter:
        values: dict[bytes, bytes] = dict(pairs(fields))
        attempts = values.get(b"attempts", b"")
        return DeadLetter(
            name=f"{partition}:{stream_id.decode()}" if self._bus.keys.partitions > 1 else stream_id.decode(),
            partition=partition,
            stream_id=stream_id.decode(),
            session=values.get(b"session", b"").decode(errors="replace"),
            id=values.get(b"id", b"").decode(errors="replace"),
            reason=values.get(b"reason", b"").decode(errors="replace"),
            attempts=int(attempts) if attempts.isdigit() else 0,
            kind="reply" if b"reply" in values else "message",
            payload=values.get(b"reply", values.get(b"message", b"")),
        )


def _age(letter: DeadLetter) -> tuple[int, int]:
    ms, _, sequence = letter.stream_id.partition("-")
    return int(ms), int(sequence)


# Replaying and dropping dead letters that an operator chooses by name or reason.

REFUSED = "cannot be replayed"
"""What the letters are counted under that stay where they are."""

LetterWork = Callable[[DeadLetters, DeadLetter], Awaitable[str]]
"""Does something with a letter, and says in a word or two what became of it."""


class LetterSelection(msgspec.Struct, frozen=True, kw_only=True):
    """The dead letters that an operator chose, by exactly one of these fields."""

    names: tuple[str, ...] = ()
    reason: str | None = None
    """All that were given up for it; see ``DeadLetters.all``."""
    everything: bool = False


class ReplayOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for the chosen letters."""

    outcomes: Counter[str] = msgspec.field(default_factory=Counter[str])
    """How many came to which end."""
    refused: list[InboundError] = msgspec.field(default_factory=list[InboundError])
    """Why those stay that stay."""


async def one_letter(letters: DeadLetters, name: str) -> DeadLetter:
    """The dead letter with this name.

    Raises:
        InboundError: there is none, or several partitions have one.
    """
    found = await letters.named(name)
    if not found:
        raise InboundError(f"dead letter {name} was not found. The dead letter may have been replayed or deleted.")
    if len(found) > 1:
        names = " or ".join(letter.name for letter in found)
        raise InboundError(f"several dead letters have the name {name}. Use one of these full names: {names}.")
    return found[0]


async def work_off(letters: DeadLetters, choice: LetterSelection, work: LetterWork) -> ReplayOutcome:
    """Process each chosen letter with ``work``. A refused letter does not stop the others.

    Raises:
        BusUnavailable: Redis is away; what was done until then stays done.
    """
    worked = ReplayOutcome()
    for name in choice.names:
        try:
            worked.outcomes[await work(letters, await one_letter(letters, name))] += 1
        except InboundError as error:
            worked.refused.append(error)
    async with aclosing(_all(letters, choice)) as chosen:
        async for letter in chosen:
            try:
                worked.outcomes[await work(letters, letter)] += 1
            except InboundError as error:
                worked.refused.append(error)
    if worked.refused:
        worked.outcomes[REFUSED] = len(worked.refused)
    return worked


async def replayed(letters: DeadLetters, letter: DeadLetter) -> str:
    """Queue a letter's message again, or send its reply again.

    Raises:
        InboundError: it stays a dead letter; the text says why.
    """
    outcome = await letters.replay(letter)
    if outcome == "full":
        raise InboundError(
            f"dead letter {letter.name} was not replayed: too many messages are pending. Replay it later."
        )
    if outcome == "unknown":
        raise InboundError(
            f"dead letter {letter.name} was not replayed: session {letter.session} no longer exists. Send a new "
            f"message."
        )
    return "replayed" if outcome == "replayed" else "already removed"


async def dropped(letters: DeadLetters, letter: DeadLetter) -> str:
    """Delete a dead letter permanently."""
    return "dropped" if await letters.drop(letter) else "already removed"


def time_of(letter: DeadLetter) -> str:
    """The time at which the letter was created: ISO 8601, UTC."""
    return stamp(dt.datetime.fromtimestamp(int(letter.stream_id.partition("-")[0]) / 1000, dt.UTC))


def excerpt_of(letter: DeadLetter, *, most: int) -> str:
    """The beginning of the letter's text, in one line of at most this many characters."""
    found = letter.message or letter.reply
    text = " ".join((found.text if found else "").split())
    line = "".join(char if char.isprintable() else " " for char in text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


async def _all(letters: DeadLetters, choice: LetterSelection) -> AsyncGenerator[DeadLetter]:
    if choice.everything or choice.reason is not None:
        async with aclosing(letters.all(reason=choice.reason)) as found:
            async for letter in found:
                yield letter
