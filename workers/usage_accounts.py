"""The usage of model calls, summed by model, and whose it is."""

from collections.abc import Mapping

from daemon import metrics
from daemon.events import Inbound
from daemon.model import Answer
from daemon.session import Claim
from daemon.usage import Amount, User


def account(used: dict[str, Amount], answer: Answer) -> None:
    """Add to ``used`` what the calls used that led to ``answer``."""
    for before in answer.cut_off:
        account(used, before)
    usage = answer.usage
    used.setdefault(answer.model, Amount()).add(
        Amount(
            calls=1,
            tokens_in=usage.tokens_in,
            cached_in=usage.cached_in,
            cacheable_in=usage.tokens_in if usage.reports_cached else 0,
            tokens_out=usage.tokens_out,
            estimated=int(usage.estimated),
            costs_nano={usage.currency: usage.cost_nano} if usage.cost_nano else {},
            cached_nano={usage.currency: usage.cached_nano} if usage.cached_nano else {},
        )
    )


def count(used: Mapping[str, Amount]) -> None:
    """Count what was ``used``, by model, for ``/metrics``."""
    for model, amount in used.items():
        metrics.CALLS.labels(model).inc(amount.calls)
        directions = {
            "in": amount.tokens_in,
            "cacheable": amount.cacheable_in,
            "cached": amount.cached_in,
            "out": amount.tokens_out,
        }
        for direction, tokens in directions.items():
            metrics.TOKENS.labels(model, direction).inc(tokens)
        for counter, costs in ((metrics.COST, amount.costs_nano), (metrics.CACHED_COST, amount.cached_nano)):
            for currency, nano in costs.items():
                counter.labels(model, currency).inc(nano / 1e9)


def user_of(claim: Claim, inbound: Inbound) -> User:
    """Whose usage it is: that of the sender of ``inbound``, in the session of ``claim``."""
    return User(bot=inbound.bot, session=claim.session, channel=inbound.channel, sender_id=inbound.sender_id)
