"""The reminders of a database: keeping, changing and firing them. Each is one script, and harmless when it is repeated.

A reminder stands in the hash ``reminders`` of its session; unless it is paused, ``upcoming`` of the session's partition
has the time of its next occurrence. Only ``fire.lua`` fires it, by the server's clock.
"""

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from daemon.bus import Bus, load_script, longest_deadline_s, pairs
from daemon.config import QueueConfig
from daemon.reminders.reminder import Reminder, moment_of, ms_of, reminder_from

ALLOW = load_script(__file__, "allow.lua")
CHANGE = load_script(__file__, "change.lua")
CREATE = load_script(__file__, "create.lua")
FIRE = load_script(__file__, "fire.lua")
OVERDUE = load_script(__file__, "overdue.lua")

ASKED_TTL_S = 604_800.0
"""How long is remembered that a call asked for a reminder: a week, longer than a turn can be put off."""

COUNTED_TTL_S = 172_800.0
"""How long the proactive turns of a day are known: two days, so that the day is over in every time zone."""

PAGE = 500
"""Reminders of a partition that one look fires; the next look follows at once when there are more."""

Created = Literal["created", "again", "stale", "foreign", "full", "taken"]
"""See ``create.lua``."""

Fired = Literal["fired", "gone", "early", "full"]
"""See ``fire.lua``."""

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, kw_only=True)
class Tenure:
    """The turn that asks for a reminder: nothing is kept once it has lost its lease."""

    session: str
    nonce: str
    turn: int
    """The head at which it began."""


class StoredReminder(msgspec.Struct, frozen=True, kw_only=True):
    """A reminder as it was read."""

    session: str
    id: str
    raw: bytes
    reminder: Reminder | None
    """None: what stands there cannot be read."""

    @property
    def member(self) -> str:
        """Its member of ``upcoming``."""
        return member_of(self.session, self.id)


class OverdueReminders(msgspec.Struct, frozen=True, kw_only=True):
    """What is to fire in a partition."""

    now: dt.datetime
    """By the server's clock."""
    reminders: Sequence[StoredReminder]
    next_s: float | None
    """Seconds until the next one; None: there is none."""
    is_more: bool
    """Whether others are overdue too."""


def member_of(session: str, reminder_id: str) -> str:
    """How ``upcoming`` names a reminder; neither part holds a space."""
    return f"{session} {reminder_id}"


class Reminders:
    """Reads and changes reminders. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus, config: QueueConfig) -> None:
        self._bus = bus
        self._config = config

    async def now(self) -> dt.datetime:
        """The time of the server's clock, UTC."""
        seconds, micro = await self._bus.call("TIME")
        return moment_of(int(seconds) * 1000 + int(micro) // 1000)

    async def create(self, reminder: Reminder, *, asked_as: str, at_most: int, tenure: Tenure | None = None) -> Created:
        """Keep a reminder, once for ``asked_as``; when this returns ``created`` or ``again``, it will fire.

        ``at_most``: so many a chat may have.
        """
        bus, session = self._bus, reminder.session
        keys, partition = bus.keys, bus.keys.partition(session)
        near = tenure is not None and keys.partition(tenure.session) == partition
        master = bus.master
        status: bytes = await bus.run(
            CREATE,
            [
                keys.session(tenure.session if near and tenure else session),
                keys.session(session),
                keys.reminders(session),
                keys.upcoming(partition),
                self._asked(session, asked_as),
            ],
            [
                tenure.nonce if near and tenure else "",
                tenure.turn if tenure else 0,
                reminder.scope,
                round(ASKED_TTL_S * 1000),
                reminder.id,
                reminder.raw,
                reminder.due_ms,
                at_most,
                member_of(session, reminder.id),
            ],
        )
        await bus.replicated(master)
        created: Created = msgspec.convert(status.decode(), Created)
        return created

    async def of(self, session: str) -> list[StoredReminder]:
        """The reminders of a session, the next one first; those that cannot be read last."""
        found: Any = await self._bus.call("HGETALL", self._bus.keys.reminders(session))
        stored = [_stored(session, name, raw) for name, raw in pairs(found)]
        return sorted(stored, key=lambda each: (each.reminder.due if each.reminder else "~", each.id))

    async def get(self, session: str, reminder_id: str) -> StoredReminder | None:
        """One reminder; None: there is none of this id."""
        raw = await self._bus.call("HGET", self._bus.keys.reminders(session), reminder_id)
        return None if raw is None else _stored(session, reminder_id.encode(), raw)

    async def change(
        self, stored: StoredReminder, to: Reminder | None, *, look_at: dt.datetime | None = None, asked_as: str = ""
    ) -> bool:
        """Make ``stored`` be ``to``; None deletes it. False: it is another one by now, and nothing was changed.

        Args:
            stored: as it was read.
            to: as it is to be.
            look_at: when it fires at the earliest, unless ``due`` says; a paused one never does.
            asked_as: the command that asks for it; see ``deleted_by``.
        """
        bus, partition = self._bus, self._bus.keys.partition(stored.session)
        due: int | str = ""
        if to is not None and not to.paused:
            due = ms_of(look_at) if look_at else to.due_ms
        master = bus.master
        changed: int = await bus.run(
            CHANGE,
            [
                *(bus.keys.reminders(stored.session), bus.keys.upcoming(partition)),
                *([self._asked(stored.session, asked_as)] if asked_as else []),
            ],
            [stored.member, stored.id, stored.raw, to.raw if to else b"", due, round(ASKED_TTL_S * 1000)],
        )
        await bus.replicated(master)
        return bool(changed)

    async def deleted_by(self, session: str, asked_as: str) -> bool:
        """Whether this command deleted a reminder of the session, in whichever worker."""
        return bool(await self._bus.call("EXISTS", self._asked(session, asked_as)))

    def _asked(self, session: str, asked_as: str) -> str:
        return self._bus.keys.said(session, f"{session}#remind-{asked_as}")

    async def look_later(self, stored: StoredReminder, *, now: dt.datetime, seconds: float) -> None:
        """Look again at ``stored`` in so many seconds; it stays as it is, readable or not."""
        keys = self._bus.keys
        await self._bus.run(
            CHANGE,
            [keys.reminders(stored.session), keys.upcoming(keys.partition(stored.session))],
            [stored.member, stored.id, stored.raw, stored.raw, round(ms_of(now) + seconds * 1000)],
        )

    async def overdue(self, partition: int, *, without: Collection[str] = ()) -> OverdueReminders:
        """The reminders of a partition whose time has come, at most ``PAGE``; ``without`` these of ``upcoming``."""
        key, most = self._bus.keys.upcoming(partition), PAGE + len(without)
        now_ms, until_ms, *members = await self._bus.run(OVERDUE, [key], [most])
        found_members = [member.decode() for member in members]
        names = [member.rpartition(" ")[::2] for member in found_members if member not in without][:PAGE]
        reads = [("HGET", self._bus.keys.reminders(session), name) for session, name in names]
        raws = await self._bus.each(reads) if reads else []
        found: list[StoredReminder] = []
        for (session, name), raw in zip(names, raws, strict=True):
            if raw is None:  # a hand has removed it
                await self._bus.call("ZREM", key, member_of(session, name))
            elif isinstance(raw, bytes):
                found.append(_stored(session, name.encode(), raw))
        return OverdueReminders(
            now=moment_of(now_ms),
            reminders=found,
            next_s=None if until_ms < 0 else until_ms / 1000,
            is_more=len(members) == most,
        )

    async def fire(
        self, stored: StoredReminder, reminder: Reminder, following: Reminder | None, *, now: dt.datetime
    ) -> Fired:
        """Have an occurrence begin its turn, and the reminder go on to ``following``; None: it was the last one."""
        session, keys = stored.session, self._bus.keys.of(stored.session)
        config, inbound = self._config, reminder.inbound(now)
        status: bytes = await self._bus.run(
            FIRE,
            [
                *(self._bus.keys.reminders(session), self._bus.keys.upcoming(self._bus.keys.partition(session))),
                *(keys.inbox, keys.ready, keys.due, keys.session, keys.waiting),
            ],
            [
                *(stored.member, stored.id, stored.raw),
                *((following.raw, following.due_ms) if following else (b"", "")),
                *(session, inbound.id, _encode(inbound), reminder.scope),
                *(config.waiting_max, config.partition_max),
                *(round(config.wakeup_s * 1000), round(longest_deadline_s(config) * 1000)),
            ],
        )
        fired: Fired = msgspec.convert(status.decode(), Fired)
        return fired

    async def allow(self, reminder: Reminder, *, day: str, person: int, bot: int) -> Literal["", "person", "bot"]:
        """Count an occurrence among the proactive turns of ``day``; else whose limit of a day is reached."""
        occurrence = f"{member_of(reminder.session, reminder.id)} {reminder.due}"
        status: bytes = await self._bus.run(
            ALLOW,
            [self._bus.keys.proactive(reminder.bot, day)],
            [occurrence, reminder.person, person, bot, round(COUNTED_TTL_S * 1000)],
        )
        whose: Literal["", "person", "bot"] = msgspec.convert(status.decode(), Literal["", "person", "bot"])
        return whose


def _stored(session: str, name: bytes, raw: bytes) -> StoredReminder:
    return StoredReminder(session=session, id=name.decode(errors="replace"), raw=raw, reminder=reminder_from(raw))
