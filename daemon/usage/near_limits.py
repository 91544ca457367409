"""The limits of today of all bots, and the people and chats that are closest to them."""

from collections.abc import Mapping
from typing import Literal

import anyio

from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import Config
from daemon.errors import BadSessionKey
from daemon.sessionkey import SessionKey
from daemon.usage.account import Amount, day_of, second_of
from daemon.usage.allowance import KINDS, Whose
from daemon.usage.remaining_limits import Left, daily_limits, left_of
from daemon.usage.usage_book import UsageBook

NEAREST = 20
"""People, or chats, listed for each limit."""

_ACCOUNTS: Mapping[Whose, Literal["person", "session", "bot"]] = {"person": "person", "chat": "session", "bot": "bot"}


async def nearest(bus: Bus, config: Config, clock: Clock) -> list[tuple[str, Left]]:
    """What is left of each limit today: name of the bot and the rest, the most used limit first.

    Raises:
        BusUnavailable: Redis is away.
    """
    found: list[tuple[str, Left]] = []
    async with anyio.create_task_group() as tg:
        for bot in config.bots:
            tg.start_soon(_of_bot, UsageBook(bus), config, clock, bot, found)
    return sorted(found, key=lambda each: -each[1].share)


async def _of_bot(book: UsageBook, config: Config, clock: Clock, bot: str, found: list[tuple[str, Left]]) -> None:
    own, now = config.bots[bot], clock.now()
    day, second = day_of(now, own.time_zone), second_of(now, own.time_zone)
    for whose in KINDS:
        if not any(getattr(limited.each, whose) for limited in daily_limits(own)):
            continue
        accounts = await book.read([day], by=_ACCOUNTS[whose])
        if whose == "bot":
            accounts = {bot: accounts.get(bot, Amount())}
        rows = [
            left
            for name, amount in accounts.items()
            if _belongs(config, bot, whose, name)
            for left in left_of(own, whose, name, amount, second=second)
        ]
        found += [(bot, left) for left in sorted(rows, key=lambda left: -left.share)[:NEAREST]]


def _belongs(config: Config, bot: str, whose: Whose, name: str) -> bool:
    """Whether an account is one of ``bot``: sessions do not name their bot, but their channel does."""
    if whose == "bot":
        return True
    if whose == "person":
        return name.startswith(f"{bot} ")
    try:
        channel = config.channels.get(SessionKey.parse(name).channel)
    except BadSessionKey:
        return False
    return channel is not None and channel.bot == bot
