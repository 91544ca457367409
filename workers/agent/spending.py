"""Answers ``/usage``: today's usage of a person and of a chat, and the remaining limits."""

from collections.abc import Iterator

from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import BotConfig, EachConfig
from daemon.usage import Amount, Limits, Room, UsageBook, User, day_of
from daemon.wording import text as say


async def spending(bus: Bus, user: User, bot: BotConfig, clock: Clock, *, for_admin: bool = False) -> str:
    """The answer, in the bot's language; costs in the currencies of its models' prices.

    ``for_admin``: with what all people of the bot used together.

    Raises:
        BusUnavailable: Redis is away.
    """
    currencies = sorted({model.prices.currency for model in bot.model.chain})
    day = day_of(clock.now(), bot.time_zone)
    used = await UsageBook(bus).of(user, day, currencies=currencies)
    room = await Limits(bus).look(user, bot.limits.messages_per_minute) if bot.limits.any_messages else None
    return say("usage", bot.language, lines="\n".join(_lines(bot, used, room, for_admin=for_admin)))


def _lines(bot: BotConfig, used: tuple[Amount, Amount, Amount], room: Room | None, *, for_admin: bool) -> Iterator[str]:
    person, chat, of_bot = used
    limits, language = bot.limits.tokens_per_day, bot.language
    shown = [("person", person, limits.person), ("chat", chat, limits.chat)]
    if for_admin:
        shown.append(("total", of_bot, limits.bot))
    for key, amount, limit in shown:
        cost = say("usage_cost", language, cost=amount.costs()) if amount.costs() else ""
        left = say("usage_left", language, **_left(amount, limit)) if limit else ""
        tokens = f"{amount.tokens:,}"
        yield say(f"usage_{key}", language, messages=amount.messages, tokens=tokens, more=cost + left)
    if limits.bot and not for_admin:
        yield say("usage_bot", language, **_left(of_bot, limits.bot))
    if room is not None:
        yield say("usage_room", language, rooms=", ".join(_rooms(bot, room, bot.limits.messages_per_minute)))


def _left(amount: Amount, limit: int) -> dict[str, str]:
    return {"left": f"{max(0, limit - amount.tokens):,}", "limit": f"{limit:,}"}


def _rooms(bot: BotConfig, room: Room, limits: EachConfig) -> Iterator[str]:
    for key, left, limit in (
        ("person", room.person, limits.person),
        ("chat", room.chat, limits.chat),
        ("bot", room.bot, limits.bot),
    ):
        if limit:
            yield say(f"usage_room_{key}", bot.language, left=left, limit=limit)
