"""What tests put into a Millpond before anybody looks: long conversations, dead letters."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from benchmarks.history import Past, lived
from benchmarks.people import people
from daemon.access import Pauses
from daemon.bus import Bus, open_bus
from daemon.config import QueueConfig, RedisConfig
from daemon.events import Inbound, LogEntry
from daemon.session import Commit, SessionReader, Sessions
from daemon.sessionkey import SessionKey

PLANTED_AT_ONCE = 500


@asynccontextmanager
async def bus_of(folder: Path) -> AsyncGenerator[Bus]:
    """The bus of a data directory, whose server is started if need be."""
    async with open_bus(RedisConfig(), folder) as bus:
        yield bus


async def long_conversation(folder: Path, chat: str, *, messages: int, settled: int) -> None:
    """A conversation of the channel ``web``; no agent may be running yet."""
    async with people(folder) as everybody:
        await lived(everybody, [chat], Past(entries=messages - settled, chars=80, settled=settled))


async def said(folder: Path, session: str, *wires: dict[str, object], sender: str = "ann") -> None:
    """Messages that stand in a conversation as they are; no agent may be running yet."""
    async with bus_of(folder) as bus, people(folder) as everybody:
        await everybody.say(SessionKey.parse(session).chat, "hello")
        sessions = Sessions(bus, QueueConfig(), worker="planting")
        claim = await sessions.claim(session)
        assert claim is not None
        entries = tuple(
            LogEntry(
                time="2026-11-20T09:00:00.000Z",
                turn=claim.begun.head,
                tokens=10,
                id=f"planted-{at}" if wire["role"] == "user" else "",
                sender=sender if wire["role"] == "user" else "",
                wire=msgspec.Raw(msgspec.json.encode(wire)),
            )
            for at, wire in enumerate(wires)
        )
        answered = tuple(waiting.stream_id for waiting in claim.begun.waiting)
        commit = Commit(entries=entries, tokens=10 * len(entries), answered=answered)
        await sessions.commit(claim, commit, step=0, go_on=False)


async def dead_letter(folder: Path, session: str, text: str, *, reason: str) -> None:
    """A message of a conversation that there is, given up for ``reason``."""
    key = SessionKey.parse(session)
    inbound = Inbound(
        id=f"dead-{reason}",
        bot="pond",
        channel=key.channel,
        chat=key.chat,
        sender_id=key.chat,
        text=text,
        received_at="2026-11-20T09:00:00.000Z",
        correlation=f"c-{reason}",
    )
    fields = ("session", session, "id", inbound.id, "reason", reason, "attempts", 5)
    async with bus_of(folder) as bus:
        dead = bus.keys.dead(bus.keys.partition(session))
        await bus.call("XADD", dead, "*", *fields, "message", msgspec.json.encode(inbound))


async def queued_message(folder: Path, session: str, text: str) -> None:
    """An accepted message that no worker takes, since its conversation does not list it."""
    key = SessionKey.parse(session)
    inbound = Inbound(
        id=f"queued-{key.chat}",
        bot="pond",
        channel=key.channel,
        chat=key.chat,
        sender_id=key.chat,
        text=text,
        received_at="2026-11-20T09:00:00.000Z",
        correlation=f"c-{key.chat}",
    )
    fields = ("session", session, "id", inbound.id, "message", msgspec.json.encode(inbound))
    async with bus_of(folder) as bus:
        await bus.call("XADD", bus.keys.inbox(bus.keys.partition(session)), "*", *fields)


async def paused_chat(folder: Path, chat: str) -> None:
    """A chat in which an administrator paused the bot."""
    async with bus_of(folder) as bus:
        await Pauses(bus, QueueConfig()).pause("pond", chat, by="ann", time="2026-11-20T09:00:00.000Z")


async def rates(folder: Path) -> None:
    """What two processes did in the last day, with a pause in it, and failures at the end."""
    async with bus_of(folder) as bus:
        newest = await SessionReader(bus).now_ms() // 60_000 - 1
        for back in range(1_440):
            if 20 <= back < 25 or 400 <= back < 700:
                continue
            minute, load = newest - back, 3 + (back * 7) % 11 + (6 if back < 20 else 0)
            for process in ("one", "two"):
                numbers = {
                    "messages": load, "turns done": load, "turns failed": load // 6 if back < 8 else 0,
                    "in": 1_900 * load, "cached": 1_200 * load, "cacheable": 1_900 * load, "out": 160 * load,
                    "cost EUR": 0.0011 * load, "turn_s 1.0": load // 3, "turn_s 2.0": load - 1, "turn_s 5.0": load,
                    "turn_s +Inf": load, "waited_s 0.1": load - 1, "waited_s 0.5": load, "waited_s +Inf": load,
                }  # fmt: skip
                await bus.call(
                    "HSET", bus.keys.rates(minute // 60), f"{minute} {process}", msgspec.json.encode(numbers)
                )
        for hour in range((newest - 1_440) // 60, newest // 60 + 1):
            await bus.call("PEXPIRE", bus.keys.rates(hour), 26 * 3_600_000)


async def many_conversations(folder: Path, number: int) -> None:
    """Conversations of the channel ``web`` with an exchange each, a minute between two of them; the last is newest."""
    async with bus_of(folder) as bus:
        now_ms = await SessionReader(bus).now_ms()
        for first in range(0, number, PLANTED_AT_ONCE):
            commands: list[tuple[str | int | bytes, ...]] = []
            for at in range(first, min(first + PLANTED_AT_ONCE, number)):
                session = f"web:many-{at}"
                words = (("user", f"Question {at}: how wide is it?"), ("assistant", f"Answer {at}"))
                raws = [_entry(role, text, id=f"m{at}" if role == "user" else "") for role, text in words]
                fields = ("base", 0, "head", 2, "tokens", 20, "tokens_start", 20, "scope", "pond:person:web:operator")
                commands += [
                    ("HSET", bus.keys.session(session), *fields),
                    ("RPUSH", bus.keys.log(session), *raws),
                    ("ZADD", bus.keys.sessions, now_ms - 60_000 * (number - at), session),
                ]
            await bus.each(commands)


def _entry(role: str, text: str, **more: str) -> bytes:
    wire = msgspec.Raw(msgspec.json.encode({"role": role, "content": text}))
    return msgspec.json.encode(LogEntry(time="2026-11-20T09:00:00.000Z", turn=0, tokens=10, wire=wire, **more))
