"""Calls of a search to a server that the people of a scope pay for."""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from daemon.clock import Clock
from daemon.config import BotConfig, EmbeddingsConfig, RerankerConfig
from daemon.model import Usage, is_charged, priced
from daemon.tokens import estimate
from daemon.usage import Amount, Estimate, Ledger, Payer, user_of_scope

_T = TypeVar("_T")


def payer_of(bot: BotConfig, scope: str, *, ledger: Ledger | None, clock: Clock, work: str) -> Payer | None:
    """Who pays for a call in ``scope``; None: the bot has no daily limit, or there is no ledger.

    Args:
        bot: of the scope.
        scope: a home.
        ledger: where the calls are noted.
        clock: of the process.
        work: the kind of call, as ``vectors``.
    """
    if ledger is None or not bot.limits.any_daily:
        return None
    return Payer(
        ledger=ledger,
        clock=clock,
        user=user_of_scope(scope),
        bot=bot,
        work=f"{scope}#{work}-{secrets.token_hex(8)}",
        for_memory=True,
    )


async def paid(
    payer: Payer,
    server: EmbeddingsConfig | RerankerConfig,
    texts: Sequence[str],
    call: Callable[[], Awaitable[tuple[_T, int]]],
) -> _T:
    """The result of ``call``, which is noted with its tokens and its price.

    Args:
        payer: who pays.
        server: the called server.
        texts: what is sent.
        call: returns the result, and the tokens that the server counted; 0: it does not say.

    Raises:
        LimitReached: a limit is used up; ``call`` was not started.
        BusError: Redis is away or refused.
    """
    tokens_in = sum(map(estimate, texts))
    cost = priced(Usage(tokens_in=tokens_in), server.prices)
    needs = Estimate(
        model=server.model,
        tokens_in=tokens_in,
        nano_in=cost.cost_nano,
        currency=cost.currency,
        lasts_s=server.timeout_s,
    )
    async with payer.call(needs, {}, wait_s=0.0) as charge:
        try:
            result, counted = await call()
        except BaseException as error:
            if is_charged(error):
                charge[needs.model] = _amount(server, tokens_in, is_estimated=True)
            raise
        charge[needs.model] = _amount(server, counted or tokens_in, is_estimated=not counted)
    return result


def _amount(server: EmbeddingsConfig | RerankerConfig, tokens: int, *, is_estimated: bool) -> Amount:
    cost = priced(Usage(tokens_in=tokens), server.prices)
    costs_nano = {cost.currency: cost.cost_nano} if cost.cost_nano else {}
    return Amount(calls=1, tokens_in=tokens, estimated=int(is_estimated), costs_nano=costs_nano)
