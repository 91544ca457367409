"""The gate in front of every call that costs something: it reserves what the call may use, and notes what it has used.

Without a limit of a day's tokens or money nothing is reserved: then whoever does the work notes all of it at its end.
"""

import itertools
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager

import anyio
import msgspec

from daemon.clock import Clock
from daemon.config import BotConfig
from daemon.errors import BusError
from daemon.usage.account import Amount, UsageNote, User, day_of, second_of
from daemon.usage.unsent_usage import UnsentUsage
from daemon.usage.usage_limits import Allowance, Estimate, LimitReached, Refusal

LOOK_S = 0.25
"""How often is looked whether the calls in progress have left room."""


class Payer(msgspec.Struct, frozen=True, kw_only=True):
    """Who pays for the calls of one piece of work."""

    ledger: UnsentUsage
    clock: Clock
    user: User
    """Whose limits the calls take from."""
    bot: BotConfig
    """Of ``user``; its limits."""
    work: str
    """Name of the work, which no other has; its calls are named by it."""
    for_memory: bool = False
    """Whether the calls may use what is reserved for memory."""
    message: str = ""
    """Stream id of the first message that a refusal concerns; its people are told once a day."""
    _numbers: Iterator[int] = msgspec.field(default_factory=lambda: itertools.count(1))

    @property
    def is_limited(self) -> bool:
        """Whether each call is noted by itself."""
        return self.bot.limits.any_daily

    @property
    def _allowance(self) -> Allowance:
        return Allowance.of(self.bot, for_memory=self.for_memory)

    @property
    def day(self) -> str:
        """Which day it is, for the bot."""
        return day_of(self.clock.now(), self.bot.time_zone)

    async def refusal(self) -> Refusal | None:
        """What keeps a call from being made, whatever it needs. Errors as for ``call``."""
        if not self.is_limited:
            return None
        return await self.ledger.reserve(self.user, self.day, self._allowance, message=self.message)

    @asynccontextmanager
    async def call(
        self, needs: Estimate, used: dict[str, Amount], *, wait_s: float
    ) -> AsyncGenerator[dict[str, Amount]]:
        """One call: what it used is put into what this gives, by model, and added to ``used`` afterwards.

        Raises:
            LimitReached: a limit is used up, or for ``wait_s`` the calls in progress might have used it up.
            BusError: Redis is away or refused; the call must not be made.
        """
        name, day = f"{self.work}#{next(self._numbers)}", self.day
        if self.is_limited:
            await self._reserve(name, day, needs, wait_s=wait_s)
        charge: dict[str, Amount] = {}
        try:
            yield charge
        finally:
            for model, amount in charge.items():
                used.setdefault(model, Amount()).add(amount)
            if self.is_limited:
                await self._settle(name, day, charge)

    async def _reserve(self, name: str, day: str, needs: Estimate, *, wait_s: float) -> None:
        until = anyio.current_time() + wait_s
        while True:
            try:
                refusal = await self.ledger.reserve(
                    self.user, day, self._allowance, call=name, estimate=needs, message=self.message
                )
            except (BusError, anyio.get_cancelled_exc_class()):
                # Whether it was reserved is unknown: noted as having used nothing, it is not, nor when it arrives late.
                await self._settle(name, day, {})
                raise
            if refusal is None:
                return
            if refusal.used_up or anyio.current_time() >= until:
                raise LimitReached(refusal)
            await anyio.sleep(LOOK_S)

    async def _settle(self, name: str, day: str, charge: dict[str, Amount]) -> None:
        await self.note(name, charge, day=day)

    async def note(self, name: str, used: Mapping[str, Amount], *, day: str = "") -> None:
        """Note what was ``used``, by model, in the accounts of ``day``, by default today; never raises."""
        second = second_of(self.clock.now(), self.bot.time_zone)
        await self.ledger.note(UsageNote(name=name, user=self.user, day=day or self.day, second=second, used=used))
