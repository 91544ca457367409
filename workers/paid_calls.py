"""Model calls that somebody pays for: what each may use, and what it used."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from daemon import metrics
from daemon.config import ModelConfig, PricesConfig
from daemon.events import Inbound
from daemon.model import Answer, Chunk, CutOff, Model, OnlyThought, Request, TextChunk, Usage, is_charged, priced
from daemon.session import Claim
from daemon.tokens import ESTIMATE_BYTES, calibration, estimate
from daemon.usage import Amount, Estimate, User

# The usage of model calls, summed by model, and whose it is.


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
        if not charge and is_charged(error, said):
            account(charge, _unfinished(request, config, "".join(said)))
        raise


def needs_of(request: Request, config: ModelConfig) -> Estimate:
    """What a request may use at most, whichever model of the chain answers it."""
    tokens_in = _prompt_tokens(request, config)
    prices = [each.prices for each in config.chain]
    inputs = [max(each.input, each.cache_write or 0.0) for each in prices]
    dearest = PricesConfig(input=max(inputs), output=max(each.output for each in prices))
    return Estimate(
        model=config.name,
        tokens_in=tokens_in,
        tokens_out=request.max_completion_tokens,
        nano_in=priced(Usage(tokens_in=tokens_in), dearest).cost_nano,
        nano_out=priced(Usage(tokens_out=request.max_completion_tokens), dearest).cost_nano,
        currency=config.prices.currency,
        lasts_s=sum(each.call_timeout_s for each in config.chain),
    )


def _prompt_tokens(request: Request, config: ModelConfig) -> int:
    tokens = request.tokens or sum(map(len, (*request.messages, *request.tools))) // ESTIMATE_BYTES
    return round(tokens * calibration(config.name, config.base_url).factor)


def _unfinished(request: Request, config: ModelConfig, said: str) -> Answer:
    """What is known of an answer that was cut short."""
    usage = Usage(tokens_in=_prompt_tokens(request, config), tokens_out=estimate(said), estimated=True)
    return Answer(text=said, usage=priced(usage, config.prices), model=config.name)
