"""Messages to the administrators of a bot in their own chats on push channels."""

from contextlib import suppress
from secrets import token_hex

import structlog

from daemon.bus import Bus
from daemon.clock import Clock, stamp
from daemon.config import BotConfig, Config, PushConfig
from daemon.errors import BadSessionKey, BusError
from daemon.events import Choice, Notice, Reply
from daemon.session import SessionNotice, tell
from daemon.sessionkey import SessionKey
from daemon.usage import (
    KINDS,
    RemainingLimit,
    UsageBook,
    User,
    currencies_of,
    daily_limits,
    day_of,
    is_first_warning,
    left_of,
    second_of,
)
from daemon.wording import text as say


async def tell_administrators(  # noqa: PLR0913 - what is told and to whom; a struct would be used here alone
    bus: Bus,
    config: Config,
    clock: Clock,
    bot: BotConfig,
    text: str,
    choices: tuple[Choice, ...] = (),
    *,
    besides: str = "",
) -> None:
    """Send ``text`` to each administrator of ``bot`` who is named with a push channel, except ``besides``.

    Raises:
        BusUnavailable: Redis is away; some of them may have been told.
    """
    for admin in filter(_is_chat, bot.admins):
        channel = SessionKey.parse(admin).channel
        if admin != besides and isinstance(config.channels.get(channel), PushConfig):
            await tell(bus, config.queue, admin, _word(admin, channel, text, choices, stamp(clock.now())))


def _word(session: str, channel: str, text: str, choices: tuple[Choice, ...], now: str) -> SessionNotice:
    name = f"warned-{now}-{token_hex(4)}"
    reply = Reply(id=f"{session}#{name}", session=session, turn=0, text=text, correlation=name, choices=choices)
    return SessionNotice(notice=Notice(kind="parked", text=text, time=now), reply=reply, out_channel=channel)


def _is_chat(admin: str) -> bool:
    """Whether an administrator is named with a channel, so that there is a chat to write to."""
    try:
        SessionKey.parse(admin)
    except BadSessionKey:
        return False
    return True


# Warnings to administrators when a daily limit is nearly used up: once a day for each limit, over all workers.

WARNED_AT = 0.8
"""Used share of a limit at which administrators are told."""

_log = structlog.get_logger()


class LimitWarnings:
    """Of one service of a process."""

    def __init__(self, bus: Bus, config: Config, clock: Clock) -> None:
        """Nothing happens yet."""
        self._bus, self._config, self._clock = bus, config, clock
        self._name = token_hex(8)
        self._told: set[str] = set()
        """Limits, with their days, of which this service has told the administrators."""

    async def look(self, user: User) -> None:
        """Tell the administrators if the newest usage of ``user`` brings a limit close to its end; never raises."""
        bot = self._config.bots.get(user.bot)
        if bot is None or not daily_limits(bot):
            return
        with suppress(BusError):
            now = self._clock.now()
            day, second = day_of(now, bot.time_zone), second_of(now, bot.time_zone)
            amounts = await UsageBook(self._bus).of(user, day, currencies=currencies_of(bot))
            names = (user.person, user.session, user.bot)
            for whose, name, amount in zip(KINDS, names, amounts, strict=True):
                for left in left_of(bot, whose, name, amount, second=second) if name else ():
                    if left.share >= WARNED_AT:
                        await self._warn(user.bot, bot, day, left)

    async def _warn(self, name: str, bot: BotConfig, day: str, left: RemainingLimit) -> None:
        limit = f"{name} {left.limited.setting} {left.whose}"
        known = f"{day} {limit}"
        if known in self._told or not await is_first_warning(self._bus, limit, day, by=self._name):
            return
        self._told.add(known)
        _log.warning("limit.near", bot=name, kind=f"{left.limited.setting}.{left.whose}", ratio=round(left.share, 2))
        try:
            await tell_administrators(self._bus, self._config, self._clock, bot, warning_text(name, bot, left))
        except BusError:
            self._told.discard(known)  # the next turn tells them
            raise


def warning_text(name: str, bot: BotConfig, left: RemainingLimit) -> str:
    """The warning, in the bot's language."""
    return say(
        f"limit_near_{left.whose}",
        bot.language,
        bot=name,
        name=left.name.removeprefix(f"{name} "),
        percent=f"{int(100 * left.share)} %",
        setting=f"limits.{left.limited.setting}.{left.whose}",
        left=left.text(bot.language),
    )
