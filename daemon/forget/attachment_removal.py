"""What messages bring along: files, by what they are called, and what was overheard before them in a group."""

from collections.abc import Collection
from typing import Any

import msgspec

from daemon.bus import pairs
from daemon.errors import UNREADABLE
from daemon.events import Inbound, LogEntry, Overheard
from daemon.forget.archive_removal import Buried, Bury
from daemon.forget.forget_context import Work
from daemon.forget.text_matcher import FORGOTTEN
from daemon.inbox import mark_of, speech_mark
from daemon.session import Amendments
from daemon.sessionkey import SessionKey

BURIED = f'"content":"{FORGOTTEN}"'.encode()
"""Stands in a message that was forgotten."""

_decode = msgspec.json.Decoder(Inbound).decode
_decode_entry = msgspec.json.Decoder(LogEntry).decode


def noting(bury: Bury, session: str, marks: set[str]) -> Bury:
    """``bury``, which gathers in ``marks`` what the files of the buried messages of a session are called by.

    The file of a buried answer is the answer as it was spoken.
    Of those that were buried before, too: whoever did that may have come no further.
    """

    def noted(raw: bytes) -> Buried | None:
        buried = bury(raw)
        if buried is not None or BURIED in raw:
            entry = _decode_entry(raw)
            if entry.id:
                marks.add(mark_of(session, entry.id))
            elif entry.answers:
                marks.add(speech_mark(session, entry.turn))
        return buried

    return noted


def is_said_by(words: Overheard, channel: str, people: Collection[str]) -> bool:
    """Whether one of these people, ``<channel>:<sender>`` each, said it."""
    return str(SessionKey(channel=channel, chat=words.sender_id)) in people


async def forget_brought(work: Work, session: str, people: Collection[str]) -> None:
    """Take it out of the messages that wait in a session; they keep their places.

    What a turn has read that is under way comes into the log, where the next pass finds it.

    Raises:
        BusUnavailable: Redis is away.
    """
    bus = work.stores.bus
    keys, amendments = bus.keys.of(session), Amendments(bus, work.stores.config.queue)
    for stream_id in await bus.call("LRANGE", keys.waiting, 0, -1):
        entries: Any = await bus.call("XRANGE", keys.inbox, stream_id, stream_id)
        for _, fields in entries:
            raw = dict(pairs(fields)).get(b"message", b"")
            if b'"overheard":[{' in raw:
                await _forget_in(work, amendments, stream_id, raw, people)


async def _forget_in(work: Work, amendments: Amendments, stream_id: bytes, raw: bytes, people: Collection[str]) -> None:
    try:
        inbound = _decode(raw)
    except UNREADABLE:
        return
    theirs = [words for words in inbound.overheard if is_said_by(words, inbound.channel, people)]
    if not theirs:
        return
    work.found("waiting", [words.text for words in theirs])
    if not work.looks:
        left = tuple(words for words in inbound.overheard if words not in theirs)
        await amendments.put(stream_id, msgspec.structs.replace(inbound, overheard=left))
