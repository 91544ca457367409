"""Removes data beside conversations and memories: attachments, group context, reminders, accounts."""

import datetime as dt
from collections.abc import Collection
from typing import Any

import anyio
import msgspec

from daemon.bus import pairs, scan
from daemon.errors import UNREADABLE
from daemon.events import Inbound, LogEntry, Overheard
from daemon.forget.archive_removal import Bury, ReplacedRecord
from daemon.forget.forget_context import ForgetContext
from daemon.forget.text_matcher import FORGOTTEN
from daemon.inbox import mark_of, overheard_mark, speech_mark
from daemon.reminders import member_of, reminder_from
from daemon.session import MessageEdits
from daemon.sessionkey import SessionKey

# What messages bring along: files, by what they are called, and what was overheard before them in a group.

BURIED = f'"content":"{FORGOTTEN}"'.encode()
"""Stands in a message that was forgotten."""

_decode = msgspec.json.Decoder(Inbound).decode
_decode_entry = msgspec.json.Decoder(LogEntry).decode


def noting(bury: Bury, session: str, marks: set[str]) -> Bury:
    """``bury``, which gathers in ``marks`` what the files of the buried messages of a session are called by.

    The file of a buried answer is the answer as it was spoken.
    Of those that were buried before, too: whoever did that may have come no further.
    """

    def noted(raw: bytes) -> ReplacedRecord | None:
        buried = bury(raw)
        if buried is not None or BURIED in raw:
            entry = _decode_entry(raw)
            if entry.id:
                marks.add(mark_of(session, entry.id))
            elif entry.person:
                marks.add(overheard_mark(session, entry.person, entry.time))
            elif entry.answers:
                marks.add(speech_mark(session, entry.turn))
        return buried

    return noted


def is_said_by(words: Overheard, channel: str, people: Collection[str]) -> bool:
    """Whether one of these people, ``<channel>:<sender>`` each, said it."""
    return str(SessionKey(channel=channel, chat=words.sender_id)) in people


async def forget_brought(work: ForgetContext, session: str, people: Collection[str]) -> None:
    """Take it out of the messages that wait in a session; they keep their places.

    What a turn has read that is under way comes into the log, where the next pass finds it.

    Raises:
        BusUnavailable: Redis is away.
    """
    bus = work.stores.bus
    keys, amendments = bus.keys.of(session), MessageEdits(bus, work.stores.config.queue)
    for stream_id in await bus.call("LRANGE", keys.waiting, 0, -1):
        entries: Any = await bus.call("XRANGE", keys.inbox, stream_id, stream_id)
        for _, fields in entries:
            raw = dict(pairs(fields)).get(b"message", b"")
            if b'"overheard":[{' in raw:
                await _forget_in(work, amendments, stream_id, raw, people)


async def _forget_in(
    work: ForgetContext, amendments: MessageEdits, stream_id: bytes, raw: bytes, people: Collection[str]
) -> None:
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


# What was said in a group and is kept as context of what the bot is asked next.

_decode_said = msgspec.json.Decoder(Overheard).decode


async def forget_overheard(work: ForgetContext, session: str, *, people: Collection[str] = ()) -> None:
    """What of it is wanted; with ``people`` all that these said, ``<channel>:<sender>``, and nothing else.

    Raises:
        BusUnavailable: Redis is away.
    """
    bus, channel = work.stores.bus, SessionKey.parse(session).channel
    key = bus.keys.overheard(session)
    found: list[bytes] = await bus.call("ZRANGE", key, 0, -1)
    for raw in filter(None, found):
        try:
            said = _decode_said(raw)
        except UNREADABLE:
            said = Overheard(id="", sender_id="", text=raw.decode(errors="replace"), at="")
        if people and str(SessionKey(channel=channel, chat=said.sender_id)) not in people:
            continue
        hits = (
            [said.text] if people else [hit for text in (said.text, said.sender_name) for hit in work.wanted.hits(text)]
        )
        if hits:
            work.found("overheard", hits, time=said.at)
            if not work.looks:
                # By its whole text: late or repeated it takes away nothing else.
                await bus.call("ZREM", key, raw)


async def forget_overheard_elsewhere(work: ForgetContext, people: Collection[str], *, known: Collection[str]) -> None:
    """As ``forget_overheard``, in groups that are no session yet, since the bot was never asked there."""
    async for names in scan(work.stores.bus, "overheard"):
        for session in set(names).difference(known):
            await forget_overheard(work, session, people=people)


# Reminders: a text that is still to be said, and what a person chose for all of them.


async def forget_reminders(work: ForgetContext, session: str, *, people: Collection[str] = ()) -> None:
    """The reminders of a session that are wanted; with ``people`` all that these asked for, and no others.

    Raises:
        BusUnavailable: Redis is away.
    """
    bus, key = work.stores.bus, work.stores.bus.keys.reminders(session)
    for name, raw in pairs(await bus.call("HGETALL", key)):
        reminder = reminder_from(raw)
        if people and (reminder is None or reminder.person not in people):
            continue
        text = reminder.text if reminder else raw.decode(errors="replace")
        texts = (text, reminder.sender_name) if reminder else (text,)
        hits = [text] if people else [hit for each in texts for hit in work.wanted.hits(each)]
        if hits:
            work.found("reminders", hits, time=reminder.made_at if reminder else "")
            if not work.looks:
                await bus.call("HDEL", key, name)
                upcoming = bus.keys.upcoming(bus.keys.partition(session))
                await bus.call("ZREM", upcoming, member_of(session, name.decode(errors="replace")))


async def forget_preferences(work: ForgetContext, *, bot: str, people: Collection[str]) -> None:
    """What a person chose for all reminders of a bot. Raises BusUnavailable."""
    redis, key = work.stores.bus, work.stores.bus.keys.preferences(bot)
    for person in people:
        if await redis.call("HEXISTS", key, person):
            work.found("reminders", [key])
            if not work.looks:
                await redis.call("HDEL", key, person)


# The accounts of a person: names are taken out of them; what a bot used in all stays.

DAYS_KEPT = 401
"""Days of which there are accounts, and one for the time zones."""


async def forget_in_accounts(
    work: ForgetContext, *, bot: str, people: Collection[str], sessions: Collection[str]
) -> None:
    """Take a person's and its sessions' fields out of every day's accounts.

    Raises:
        BusUnavailable: Redis is away.
    """
    names = {f"{bot} {person}" for person in people} | set(sessions)
    async with anyio.create_task_group() as tg:  # one tick, few pipelines
        for days_ago in range(-1, DAYS_KEPT):
            for kind in ("person", "session", "told", "reserved"):
                key = work.stores.bus.keys.usage(_day(work, days_ago), kind)
                tg.start_soon(_forget_fields, work, key, names)


def _day(work: ForgetContext, days_ago: int) -> str:

    return f"{work.stores.clock.now() - dt.timedelta(days=days_ago):%Y-%m-%d}"


async def _forget_fields(work: ForgetContext, key: str, names: Collection[str]) -> None:
    bus = work.stores.bus
    gone = [
        field
        for field, _ in pairs(await bus.call("HGETALL", key))
        if any(field.decode() == name or field.decode().startswith((f"{name} ", f"{name}#")) for name in names)
    ]
    if gone:
        work.found("usage", [key], count=len(gone))
        if not work.looks:
            await bus.call("HDEL", key, *gone)


# The cache of the web tools: its results may repeat a person's words, and can be fetched again.

PLACES = 256
"""All there are: the first byte of a hash (``workers/tools/web/web_access.py``)."""


async def forget_web_cache(work: ForgetContext) -> None:
    """Remove all of it, unless ``work`` only looks. Raises BusUnavailable."""
    if not work.looks:
        bus = work.stores.bus
        await bus.call("DEL", *map(bus.keys.web, range(PLACES)))
