"""Answers ``/usage``: today's usage of a person and of a chat, and the remaining limits."""

from collections.abc import Iterator

from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import BotConfig, EachConfig
from daemon.usage import KINDS, Amount, Limits, Room, UsageBook, User, currencies_of, day_of, left_of, second_of
from daemon.wording import Language
from daemon.wording import text as say


async def spending(bus: Bus, user: User, bot: BotConfig, clock: Clock, *, for_admin: bool = False) -> str:
    """The answer, in the bot's language; costs in the currencies of its models' prices.

    ``for_admin``: with what all people of the bot used together.

    Raises:
        BusUnavailable: Redis is away.
    """
    now = clock.now()
    day, second = day_of(now, bot.time_zone), second_of(now, bot.time_zone)
    used = await UsageBook(bus).of(user, day, currencies=currencies_of(bot))
    room = await Limits(bus).look(user, bot.limits.messages_per_minute) if bot.limits.any_messages else None
    lines = (*_lines(bot, used, second, for_admin=for_admin), *_rooms_line(bot, room))
    return say("usage", bot.language, lines="\n".join(lines))


def _lines(bot: BotConfig, used: tuple[Amount, Amount, Amount], second: int, *, for_admin: bool) -> Iterator[str]:
    for whose, amount in zip(KINDS, used, strict=True):
        lefts = [left.text(bot.language) for left in left_of(bot, whose, "", amount, second=second)]
        if whose != "bot":
            yield _line(f"usage_{whose}", bot.language, amount, lefts)
        elif for_admin:
            yield _line("usage_total", bot.language, amount, lefts)
        else:
            yield from (say("usage_bot", bot.language, left=left) for left in lefts)


def _line(key: str, language: Language, amount: Amount, lefts: list[str]) -> str:
    """One account: messages, tokens with the cached share of the input, cost, and what is left of each limit."""
    tokens = say("usage_tokens", language, count=f"{amount.tokens:,}")
    if amount.cached_share is not None:
        tokens += say("usage_cached", language, share=f"{amount.cached_share:.0%}")
    cost = say("usage_cost", language, cost=amount.costs()) if amount.costs() else ""
    if cost and amount.cached_costs():
        cost += say("usage_cached_cost", language, cost=amount.cached_costs())
    more = "".join((cost, *(say("usage_more", language, left=left) for left in lefts)))
    return say(key, language, messages=amount.messages, tokens=tokens, more=more)


def _rooms_line(bot: BotConfig, room: Room | None) -> Iterator[str]:
    if room is not None:
        yield say("usage_room", bot.language, rooms=", ".join(_rooms(bot, room, bot.limits.messages_per_minute)))


def _rooms(bot: BotConfig, room: Room, limits: EachConfig) -> Iterator[str]:
    for key, left, limit in (
        ("person", room.person, limits.person),
        ("chat", room.chat, limits.chat),
        ("bot", room.bot, limits.bot),
    ):
        if limit:
            yield say(f"usage_room_{key}", bot.language, left=left, limit=limit)
