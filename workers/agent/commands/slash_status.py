"""Answers ``/status`` and ``/whoami``: the state of a conversation, and the IDs in it."""

from collections.abc import Iterator

from daemon.access import is_admin, person_of
from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import BotConfig, EachConfig
from daemon.errors import ContextOverflow
from daemon.events import Inbound
from daemon.process import Process
from daemon.session import SessionState
from daemon.usage import KINDS, Amount, BucketLevel, Limits, UsageBook, User, currencies_of, day_of, left_of, second_of
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.prompt.prompt_preview import portions
from workers.agent.turn_progress import Kit

# Answers ``/usage``: today's usage of a person and of a chat, and the remaining limits.


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


def _rooms_line(bot: BotConfig, room: BucketLevel | None) -> Iterator[str]:
    if room is not None:
        yield say("usage_room", bot.language, rooms=", ".join(_rooms(bot, room, bot.limits.messages_per_minute)))


def _rooms(bot: BotConfig, room: BucketLevel, limits: EachConfig) -> Iterator[str]:
    for key, left, limit in (
        ("person", room.person, limits.person),
        ("chat", room.chat, limits.chat),
        ("bot", room.bot, limits.bot),
    ):
        if limit:
            yield say(f"usage_room_{key}", bot.language, left=left, limit=limit)


async def status(process: Process, kit: Kit, state: SessionState, asking: Inbound, *, now_ms: int) -> str:
    """Where a conversation stands, for its people; times are the server's.

    Raises:
        BusUnavailable: Redis is away.
    """
    return say(
        "status",
        kit.language,
        model=kit.model.name,
        context=await _context(process, kit, state, asking),
        head=state.head,
        cursor=state.cursor,
        waiting=state.waiting,
        doing=_doing(state, kit.language, now_ms),
    )


async def _context(process: Process, kit: Kit, state: SessionState, asking: Inbound) -> str:
    try:
        parts = await portions(process, kit, state, asking)
    except ContextOverflow:
        return say("status_overflow", kit.language, budget=f"{kit.prompts.rules_now().budget_tokens:,}")
    used = parts["budget"] - parts["free"]
    return say("status_context", kit.language, used=f"{used:,}", **{name: f"{n:,}" for name, n in parts.items()})


def _doing(state: SessionState, language: Language, now_ms: int) -> str:
    if state.worker and state.lease_ms > now_ms:
        return say("status_running", language, seconds=_seconds(now_ms - state.since_ms))
    if state.retry_at_ms > now_ms:
        return say("status_parked", language, seconds=_seconds(state.retry_at_ms - now_ms))
    return say("status_queued" if state.waiting else "status_idle", language)


def _seconds(ms: int) -> int:
    return max(0, round(ms / 1000))


def whoami(bot: BotConfig, state: SessionState, asking: Inbound, *, scope: str) -> str:
    """Who asks, as configuration, commands and accounts name them; ``scope`` is whose memory it is."""
    language = bot.language
    return say(
        "whoami",
        language,
        person=person_of(asking),
        name=say("whoami_name", language, name=asking.sender_name) if asking.sender_name else "",
        channel=asking.channel,
        chat=f"{asking.chat}:{asking.thread}" if asking.thread else asking.chat,
        session=state.session,
        scope=scope,
        admin=say("yes" if is_admin(bot, asking) else "no", language),
    )
