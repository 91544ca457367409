"""What tests of backups do over and over: a database with some of everything, and another one beside it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from daemon.archive.local_storage import LocalStorage
from daemon.bus import Bus, Keys, open_bus
from daemon.clock import SystemClock
from daemon.config import RedisConfig
from daemon.data import BackupContents, BackupResult, DataCheck, DataReport, RestoreTarget, back_up, restore
from daemon.events import Reply
from daemon.reminders import Reminder
from tests.conftest import Lab, all_keys, an_entry, dump

SESSIONS = ("web:ann", "web:bob:t", "support:7", "support:-100")


async def filled(lab: Lab) -> None:
    """Sessions that were answered, wait, are held, and were asked aside; replies, dead letters, and what is passing."""
    keys = lab.bus.keys
    for session in SESSIONS:
        for number in range(3):
            await lab.publish(f"m{number}", session=session)
    await lab.commit(await lab.claim("web:ann"), go_on=False)
    await lab.commit(await lab.claim("support:7"), go_on=False)
    held = await lab.claim("support:-100")
    await lab.sessions.journal(held, step=0, entries=[a_call(held.begun.head)])
    await lab.publish("s", session="web:bob:t", command="status")
    await lab.publish("stop", session="web:bob:t", command="stop")
    partition = keys.partition("support:7")
    await lab.bus.call("XADD", keys.out(partition, "support"), "*", "reply", a_reply("support:7", 0))
    await lab.bus.call("HSET", keys.sent("support:7", "support:7#0"), "0", "sending 1 0 abc-1")
    await lab.bus.call("PEXPIRE", keys.sent("support:7", "support:7#0"), 600_000)
    await lab.bus.call(
        *("XADD", keys.dead(partition), "*", "session", "support:7", "id", "d1", "reason", "attempts", "attempts", "6"),
        *("message", "{}"),
    )
    await lab.bus.call("HSET", keys.leader(partition, "support"), "fence", 3)
    await lab.bus.call("HSET", keys.people, "pond:person:web:bob", '{"home":"pond:person:web:ann"}')
    await lab.bus.call("HSET", keys.usage("2026-11-20", "bot"), "pond messages", 3, b"\xff raw", b"\xfe\xff")
    await lab.bus.call("PEXPIRE", keys.usage("2026-11-20", "bot"), 600_000)
    for reminder_id, paused in (("k3f9ab", False), ("m7qrst", True)):
        reminder = a_reminder(reminder_id, paused=paused)
        await lab.bus.call("HSET", keys.reminders("web:ann"), reminder_id, reminder.raw)
        if not paused:
            upcoming = keys.upcoming(keys.partition("web:ann"))
            await lab.bus.call("ZADD", upcoming, reminder.due_ms, f"web:ann {reminder_id}")
    await lab.bus.call("HSET", keys.preferences("pond"), "web:ann", '{"zone":"Europe/Berlin"}')
    await lab.bus.call("ZADD", keys.sessions, *[word for name in SESSIONS for word in (1795167733602, name)])


def a_reminder(reminder_id: str, *, paused: bool = False, text: str = "tea", session: str = "web:ann") -> Reminder:
    channel, chat = session.split(":")
    return Reminder(
        id=reminder_id, text=text, due="2099-01-01T08:00:00.000Z", local="2099-01-01T09:00:00", zone="Europe/Berlin",
        paused=paused, bot="pond", channel=channel, chat=chat, sender_id=chat, scope=f"pond:person:{session}",
        made_at="2026-11-20T09:00:00.000Z",
    )  # fmt: skip


def a_call(turn: int) -> Any:
    return an_entry(turn)


def a_reply(session: str, turn: int) -> bytes:
    reply = Reply(id=f"{session}#{turn}", session=session, turn=turn, text="hello", correlation="c")
    return msgspec.json.encode(reply)


def wanted(tmp_path: Path, **more: Any) -> BackupContents:
    """An archive and the workspace of a bot, below a test's folder."""
    return BackupContents(workspaces={"pond": tmp_path / "pond"}, archive=LocalStorage(tmp_path, "transcripts"), **more)


async def backed_up(bus: Bus, tmp_path: Path, name: str = "backup") -> BackupResult:
    return await back_up(bus, wanted(tmp_path), tmp_path / name, clock=SystemClock())


@asynccontextmanager
async def other(bus: Bus, redis: tuple[RedisConfig, Path], *, partitions: int = 1) -> AsyncGenerator[Bus]:
    """Another database of the same server, which is empty, and is emptied at the end."""
    config, data_dir = redis
    prefix = f"{bus.keys.prefix}r"
    config = msgspec.structs.replace(config, prefix=prefix)
    async with open_bus(config, data_dir, restoring=True) as found:
        found.keys = Keys(prefix=prefix, partitions=partitions)
        yield found
        for key in await all_keys(found):
            await found.call("UNLINK", key)


async def restored(bus: Bus, folder: Path, **more: Any) -> None:
    await restore(bus, folder, RestoreTarget(workspace_of=Path, archive=None, **more))


async def contents(bus: Bus) -> dict[str, Any]:
    """Every key without its prefix; what is fixed for the database, and empty streams, left out."""
    found = await dump(bus)
    names = {key.removeprefix(f"{bus.keys.prefix}:"): value for key, value in found.items()}
    return {name: value for name, value in names.items() if name != "meta" and value}


async def checked(bus: Bus, **more: Any) -> DataReport:
    """A look at every rule, without waiting for what may become right."""
    return await DataCheck(bus, None, waits_s=0.0, **more).run()
