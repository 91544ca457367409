"""Dead letters: messages that could not be answered and replies that could not be delivered."""

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from daemon.bus.connection import Bus
from daemon.bus.publish import longest_deadline_s
from daemon.bus.resp_replies import pairs
from daemon.bus.script import load_script
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


@dataclass(frozen=True, kw_only=True)
class DeadLetter:
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
                f"dead letter {name!r} was not found. `millpond queue dead list` shows the names of all dead letters."
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
                f"dead letter {letter.name} cannot be replayed: the dead letter and its message belong to "
                "different sessions"
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
