"""What tests of reminders do over and over: set one, let its time come, and look at what it became."""

import datetime as dt
from dataclasses import replace
from typing import Any

import msgspec

from daemon.bus import pairs
from daemon.clock import stamp
from daemon.config import AccessConfig, BotConfig, ChannelConfig, Config, RemindersConfig, TelegramConfig, WebConfig
from daemon.events import Inbound
from daemon.process import Process
from daemon.reminders import Reminder, ReminderPlace, ReminderRequest, Reminders, id_of, planned
from daemon.sessionkey import SessionKey
from tests.conftest import Lab
from workers.agent.reminder_sweep import ReminderSweep

SCOPE = "pond:workspace"


def place_of(session: str, **more: Any) -> ReminderPlace:
    """The chat of a session, in which its person writes."""
    key = SessionKey.parse(session)
    fields: dict[str, Any] = {"chat_kind": "direct", "delivery": "pull", "sender_id": key.chat, "scope": SCOPE, **more}
    return ReminderPlace(bot="pond", channel=key.channel, chat=key.chat, thread=key.thread, **fields)


class RemindLab:
    """Reminders of a lab's database."""

    def __init__(self, process: Process, lab: Lab) -> None:
        self.process, self.lab, self.bus = process, lab, lab.bus
        self.reminders = Reminders(lab.bus, lab.queue)

    def with_bot(self, *, rules: RemindersConfig | None = None, **bot: Any) -> Process:
        """A process whose bot is configured so."""
        config = BotConfig(reminders=rules or RemindersConfig(), **bot)
        support = TelegramConfig(bot="pond", access=AccessConfig(policy="open"))
        channels: dict[str, ChannelConfig] = {"web": WebConfig(), "support": support}
        return replace(self.process, config=Config(queue=self.lab.queue, bots={"pond": config}, channels=channels))

    async def met(self, session: str = "web:ann", **more: Any) -> None:
        """The chat exists: its first message was answered."""
        await self.lab.publish(f"first of {session}", session=session, **more)
        await self.lab.commit(await self.lab.claim(session), go_on=False)

    async def set(
        self,
        text: str = "tea",
        *,
        session: str = "web:ann",
        when: str = "20m",
        place: ReminderPlace | None = None,
        **wish: Any,
    ) -> Reminder:
        """Set a reminder, as a confirmed call or command does."""
        chat = place or place_of(session)
        wanted = ReminderRequest(text=text, when=when, zone=wish.pop("zone", "UTC"), **wish)
        now, name = await self.reminders.now(), f"{text} {session}"
        reminder = planned(wanted, chat, reminder_id=id_of(name), now=now)
        assert await self.reminders.create(reminder, asked_as=id_of(name), at_most=100_000) == "created"
        return reminder

    async def time_comes(self, *, ago_s: float = 0.0, session: str = "web:ann") -> None:
        """The time of all reminders of a session came ``ago_s`` ago."""
        now = await self.reminders.now()
        moved = now - dt.timedelta(seconds=ago_s)
        for stored in await self.reminders.of(session):
            assert stored.reminder is not None
            local = moved.replace(tzinfo=None).isoformat()
            assert await self.reminders.change(
                stored, msgspec.structs.replace(stored.reminder, due=stamp(moved), local=local)
            )

    async def sweep(self, process: Process | None = None) -> None:
        """Look for reminders once, as a worker does all the time."""
        await ReminderSweep(process or self.process).look(0)

    async def waiting(self, session: str = "web:ann") -> list[Inbound]:
        """The messages that wait in a session."""
        keys = self.bus.keys.of(session)
        found: list[Inbound] = []
        for stream_id in await self.bus.call("LRANGE", keys.waiting, 0, -1):
            entries = await self.bus.call("XRANGE", keys.inbox, stream_id, stream_id)
            found += [msgspec.json.decode(dict(pairs(fields))[b"message"], type=Inbound) for _, fields in entries]
        return found

    async def kept(self, session: str = "web:ann") -> list[Reminder]:
        """The reminders that a session has."""
        return [stored.reminder for stored in await self.reminders.of(session) if stored.reminder is not None]
