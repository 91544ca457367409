"""The accounts of a person: names are taken out of them; what a bot used in all stays."""

import datetime as dt
from collections.abc import Collection

import anyio

from daemon.bus import pairs
from daemon.forget.forget_context import Work

DAYS_KEPT = 401
"""Days of which there are accounts, and one for the time zones."""


async def forget_in_accounts(work: Work, *, bot: str, people: Collection[str], sessions: Collection[str]) -> None:
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


def _day(work: Work, days_ago: int) -> str:

    return f"{work.stores.clock.now() - dt.timedelta(days=days_ago):%Y-%m-%d}"


async def _forget_fields(work: Work, key: str, names: Collection[str]) -> None:
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
