"""The gate in front of every call that costs something: it reserves what the call may use, and notes what it has used.

Without a limit of a day's tokens or money nothing is reserved: then whoever does the work notes all of it at its end.
"""

import itertools
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import anyio

from daemon.clock import Clock
from daemon.config import BotConfig, ModelConfig, PricesConfig
from daemon.errors import BusError, ContextOverflow, ModelRefused, ModelTimeout, ModelUnavailable
from daemon.model import Answer, Chunk, CutOff, Model, OnlyThought, Request, TextChunk, Usage, priced
from daemon.tokens import ESTIMATE_BYTES, calibration, estimate
from daemon.usage import Allowance, Amount, Estimate, Ledger, LimitReached, Note, Refusal, User, day_of
from workers.accounts import account

LOOK_S = 0.25
"""How often is looked whether the calls in progress have left room."""

MARGIN_S = 30.0
"""How much longer than its call a reservation lasts: what a call used is noted after its end, perhaps in an outage."""


@dataclass(frozen=True, kw_only=True)
class Payer:
    """Who pays for the calls of one piece of work."""

    ledger: Ledger
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
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

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

    async def stream(
        self, model: Model, config: ModelConfig, request: Request, used: dict[str, Amount], *, wait_s: float
    ) -> AsyncGenerator[Chunk, None]:
        """As ``Model.stream`` of ``model``, which ``config`` names, as one call. Raises also as ``call``."""
        async with (
            self.call(needs_of(request, config), used, wait_s=wait_s) as charge,
            aclosing(paid(model, config, request, charge)) as chunks,
        ):
            async for chunk in chunks:
                yield chunk

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
        await self.ledger.note(Note(name=name, user=self.user, day=day, used=charge))


async def paid(
    model: Model, config: ModelConfig, request: Request, charge: dict[str, Amount]
) -> AsyncGenerator[Chunk, None]:
    """As ``Model.stream`` of ``model``, which ``config`` names; what the call used is added to ``charge``.

    A call that is cut short counts as its prompt and what had come of the answer: its provider never says.
    """
    said: list[str] = []
    try:
        async with aclosing(model.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    said.append(chunk.text)
                elif isinstance(chunk, Answer):
                    account(charge, chunk)
                yield chunk
    except (CutOff, OnlyThought) as error:
        account(charge, error.answer)
        raise
    except BaseException as error:
        if not charge and _costs(error, said):
            account(charge, _unfinished(request, config, "".join(said)))
        raise


def needs_of(request: Request, config: ModelConfig) -> Estimate:
    """What a request may use at most, whichever model of the chain answers it."""
    tokens_in = _prompt_tokens(request, config)
    prices = [each.prices for each in config.chain]
    dearest = PricesConfig(input=max(each.input for each in prices), output=max(each.output for each in prices))
    return Estimate(
        model=config.name,
        tokens_in=tokens_in,
        tokens_out=request.max_completion_tokens,
        nano_in=priced(Usage(tokens_in=tokens_in), dearest).cost_nano,
        nano_out=priced(Usage(tokens_out=request.max_completion_tokens), dearest).cost_nano,
        currency=config.prices.currency,
        lasts_s=sum(each.call_timeout_s for each in config.chain) + MARGIN_S,
    )


def _prompt_tokens(request: Request, config: ModelConfig) -> int:
    tokens = request.tokens or sum(map(len, (*request.messages, *request.tools))) // ESTIMATE_BYTES
    return round(tokens * calibration(config.name, config.base_url).factor)


def _costs(error: BaseException, said: Sequence[str]) -> bool:
    """Whether a provider charges for a call that ended so: not if it refused the request, or could not be reached."""
    if isinstance(error, ModelRefused | ContextOverflow):
        return False
    return bool(said) or isinstance(error, ModelTimeout) or not isinstance(error, ModelUnavailable)


def _unfinished(request: Request, config: ModelConfig, said: str) -> Answer:
    """What is known of an answer that was cut short."""
    usage = Usage(tokens_in=_prompt_tokens(request, config), tokens_out=estimate(said), estimated=True)
    return Answer(text=said, usage=priced(usage, config.prices), model=config.name)
