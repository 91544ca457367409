"""Reminders: a text that is still to be said, and what a person chose for all of them."""

from collections.abc import Collection

from daemon.bus import pairs
from daemon.forget.forget_context import Work
from daemon.reminders import member_of, reminder_from


async def forget_reminders(work: Work, session: str, *, people: Collection[str] = ()) -> None:
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


async def forget_preferences(work: Work, *, bot: str, people: Collection[str]) -> None:
    """What a person chose for all reminders of a bot. Raises BusUnavailable."""
    redis, key = work.stores.bus, work.stores.bus.keys.preferences(bot)
    for person in people:
        if await redis.call("HEXISTS", key, person):
            work.found("reminders", [key])
            if not work.looks:
                await redis.call("HDEL", key, person)
