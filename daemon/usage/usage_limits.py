"""Limits of what a bot may be used for: tokens and money a day, and messages a minute.

A call reserves what it may use of a day's limits before it is made, over all processes in one script. So one call at
most can pass a limit. ``docs/configuration-bots.md`` says what counts.
"""

from typing import Any, Literal

import msgspec

from daemon.bus import Bus, Part, load_script
from daemon.config import BotConfig, CostConfig, EachConfig
from daemon.errors import MillpondError
from daemon.sessionkey import encode_part
from daemon.usage.account import NANO, User
from daemon.usage.usage_book import KEPT_S, NOTED_S, cost_measure

# What a bot's limits allow a person, a chat and the bot on a day.

Whose = Literal["person", "chat", "bot"]
KINDS: tuple[Whose, ...] = ("person", "chat", "bot")


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of a day; 0: none."""

    tokens: EachConfig
    nano: EachConfig
    """Of money, in billionths of the unit of ``currency``."""
    currency: str

    @classmethod
    def of(cls, bot: BotConfig, *, for_memory: bool = False) -> "Allowance":
        """The limits of ``bot``; but for memory without the share that is reserved for memory."""
        limits = bot.limits
        share = 1.0 if for_memory else 1.0 - limits.reserved_for_memory
        return cls(
            tokens=_times(share, limits.tokens_per_day),
            nano=_times(share * NANO, limits.cost_per_day),
            currency=bot.model.prices.currency,
        )


def _times(factor: float, each: EachConfig | CostConfig) -> EachConfig:
    """Each limit times ``factor``, 1 at least where there is a limit."""
    person, chat, bot = (max(1, round(factor * limit)) if limit else 0 for limit in (each.person, each.chat, each.bot))
    return EachConfig(person=person, chat=chat, bot=bot)


# Selects who warns the administrators of a limit that is nearly used up.

WARN = load_script(__file__, "warn.lua")


async def is_first_warning(bus: Bus, limit: str, day: str, *, by: str) -> bool:
    """Whether ``by`` is the first on ``day`` to warn of ``limit``, a name with spaces; true again for that one.

    Raises:
        BusUnavailable: Redis is away; asking again is safe.
    """
    return bool(await bus.run(WARN, [bus.keys.usage_told(day)], [limit, by, NOTED_S * 1000]))


RESERVE = load_script(__file__, "reserve.lua", with_parts=("reserved.part.lua",))
BUCKET = load_script(__file__, "bucket.lua")

MARGIN_S = 30.0
"""How much longer than its call a reservation lasts: what a call used is noted after its end, perhaps in an outage."""

BUCKET_S = 120.0
"""How long an unused bucket is kept: it has been full for a minute by then."""

_encode = msgspec.json.Encoder().encode


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What a model call may use."""

    model: str
    tokens_in: int
    tokens_out: int = 0
    """At most."""
    nano_in: int = 0
    nano_out: int = 0
    currency: str = ""
    lasts_s: float = 60.0
    """How long the call may take; then its process has died, and its prompt counts as used."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """The limit of a day's tokens or money that keeps a call from being made."""

    whose: Whose
    used_up: bool
    """Else there may be room again when the calls in progress have ended."""
    tell: bool = False
    """Whether this message's people are to be told; later ones of the day were."""


class BucketLevel(msgspec.Struct, frozen=True, kw_only=True):
    """What the buckets of messages hold, as far as there are limits."""

    wait_s: float
    """Until there is room; 0: it was taken."""
    tell: bool
    """Whether this claim is the first that has to wait."""
    chat: int
    person: int
    bot: int


class LimitReached(MillpondError):
    """A limit of a day's tokens or money keeps a call from being made."""

    def __init__(self, refusal: Refusal) -> None:
        keys = "limits.tokens_per_day, limits.cost_per_day"
        if refusal.used_up:
            super().__init__(f"today's limit for the {refusal.whose} has been reached ({keys})")
        else:
            super().__init__(f"the model calls in progress might use up today's limit for the {refusal.whose} ({keys})")
        self.refusal = refusal


class Limits:
    """Looks at the limits of one database's bots."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def reserve(
        self,
        user: User,
        day: str,
        allowance: Allowance,
        *,
        call: str = "",
        estimate: Estimate | None = None,
        message: str = "",
    ) -> Refusal | None:
        """Reserve what a call may use of the limits of ``day``; noting ``call`` replaces it by what was used.

        Args:
            user: whose limits they are.
            day: the bot's.
            allowance: the limits.
            call: its name; nothing is reserved a second time under it, nor when it was noted.
            estimate: what it may use; None: it is only looked whether there is room.
            message: the first message that a refusal concerns; its people are told that a limit is used up.

        Raises:
            BusUnavailable: Redis is away.
        """
        keys, tokens, nano = self._bus.keys, allowance.tokens, allowance.nano
        reservation: tuple[Part, ...] = ("", "", 0)
        if estimate is not None:
            reservation = (call, _encode(_reservation(user, estimate)), round(1000 * (estimate.lasts_s + MARGIN_S)))
        status, whose, tell = await self._bus.run(
            RESERVE,
            [
                keys.usage_noted(day),
                *(keys.usage(day, kind) for kind in ("bot", "person", "session", "model")),
                keys.usage_reserved(day),
                keys.usage_told(day),
            ],
            [
                *reservation,
                *(KEPT_S * 1000, NOTED_S * 1000, cost_measure(allowance.currency), user.session, message),
                *(user.bot, tokens.bot, nano.bot),
                *(user.person, tokens.person, nano.person),
                *(user.session, tokens.chat, nano.chat),
            ],
        )
        if status == b"reserved":
            return None
        return Refusal(whose=whose.decode(), used_up=status == b"spent", tell=bool(tell))

    async def take(
        self, user: User, limits: EachConfig, *, message: str, count: int, claim: str, aside: bool = False
    ) -> BucketLevel:
        """Take room for ``count`` messages of a session, once for each first ``message`` (its stream id).

        Args:
            user: whose messages they are.
            limits: messages a minute.
            message: stream id of the first of them; those of a session rise.
            count: how many are answered together; 0 only looks.
            claim: name of the claim, which tells one that has to wait again from a command that came twice.
            aside: whether it is a command that is answered before messages that wait.

        Raises:
            BusUnavailable: Redis is away; taking the same again is safe.
        """
        keys, bot = self._bus.keys, user.bot
        names = (("chat", user.session), ("person", user.person.partition(" ")[2]), ("bot", bot))
        wait_ms, tell, *left = await self._bus.run(
            BUCKET,
            [keys.bucket(bot, kind, name) for kind, name in names],
            [
                message,
                count,
                claim,
                limits.chat,
                limits.person,
                limits.bot,
                round(BUCKET_S * 1000),
                "aside" if aside else "taken",
            ],
        )
        return BucketLevel(wait_s=wait_ms / 1000, tell=bool(tell), chat=left[0], person=left[1], bot=left[2])

    async def take_call(self, user: User, tools: str, per_minute: int, *, call: str) -> float:
        """Take room for a call of a person, once for each ``call``: 0, or the seconds until there is room.

        Args:
            user: who asks.
            tools: what is called, a bucket for itself.
            per_minute: calls that a person may make; 0: any number.
            call: names it within the session.

        Raises:
            BusUnavailable: Redis is away; taking the same again is safe.
        """
        if not per_minute:
            return 0.0
        # In the place of the chat's bucket: what remembers that this call was counted.
        names = (f"{user.session}:{call}", user.person.partition(" ")[2], "")
        keys = [self._bus.keys.bucket(user.bot, tools, name) for name in names]
        args: list[Part] = ["1-0", 1, call, 0, per_minute, 0, round(BUCKET_S * 1000), "taken"]
        found: list[int] = await self._bus.run(BUCKET, keys, args)
        return found[0] / 1000

    async def look(self, user: User, limits: EachConfig) -> BucketLevel:
        """What room there is, without taking any. Errors as for ``take``."""
        return await self.take(user, limits, message="0-0", count=0, claim="")


def _reservation(user: User, estimate: Estimate) -> dict[str, Any]:
    """As reserved.part.lua has it."""
    return {
        "bot": user.bot,
        "person": user.person,
        "chat": user.session,
        "model": encode_part(estimate.model),
        "tokens": estimate.tokens_in + estimate.tokens_out,
        "nano": estimate.nano_in + estimate.nano_out,
        "tokens_in": estimate.tokens_in,
        "nano_in": estimate.nano_in,
        "cost": cost_measure(estimate.currency),
    }
