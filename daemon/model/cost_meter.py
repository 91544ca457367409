"""What a call cost: as the provider counted it, or else as we do, at the prices of the configuration."""

from collections.abc import Sequence

from anyio import to_thread
from msgspec.structs import replace

from daemon.config.prices import PricesConfig
from daemon.config.schema import ModelConfig
from daemon.errors import ContextOverflow, ModelRefused, ModelTimeout, ModelUnavailable
from daemon.model.chat_model import Answer, Request, Usage
from daemon.tokens import calibration, load

NANO_PER_TOKEN = 1_000
"""Billionths of a currency's unit that a token costs at a price of 1 for a million tokens."""


class Meter:
    """Accounts for the calls of one model."""

    def __init__(self, config: ModelConfig) -> None:
        self._name = config.name
        self._server = config.base_url
        self._prices = config.prices

    async def read(self, answer: Answer, request: Request) -> Answer:
        """``answer`` with its usage complete and priced; what the provider counted calibrates our own counts."""
        usage = answer.usage
        if usage.estimated:
            usage = await self._estimate(answer, request)
        else:
            calibration(self._name, self._server).learn(request.tokens, usage.tokens_in)
        return replace(answer, usage=priced(usage, self._prices))

    async def _estimate(self, answer: Answer, request: Request) -> Usage:
        tokenizer = await load(self._name)

        def count_prompt() -> int:
            messages = sum(map(tokenizer.count_message, request.messages))
            return messages + sum(tokenizer.count(tool.decode()) for tool in request.tools)

        calls = (text for call in answer.tool_calls for text in (call.name, call.arguments))
        said = "\n".join((answer.reasoning, answer.text, *calls)).strip()
        tokens_in = request.tokens or await to_thread.run_sync(count_prompt)
        return Usage(tokens_in=tokens_in, tokens_out=await tokenizer.acount(said), estimated=True)


def is_charged(error: BaseException, said: Sequence[str] = ()) -> bool:
    """Whether a provider charges for a call that ended so, after it had ``said`` something.

    It does not if it refused the request, or could not be reached. Of a call that was cut short it never says.
    """
    if isinstance(error, ModelRefused | ContextOverflow):
        return False
    return bool(said) or isinstance(error, ModelTimeout) or not isinstance(error, ModelUnavailable)


def priced(usage: Usage, prices: PricesConfig) -> Usage:
    """``usage`` with what it costs."""
    cached = usage.cached_in * (prices.input if prices.cached_input is None else prices.cached_input)
    written = usage.written_in * (prices.input if prices.cache_write is None else prices.cache_write)
    fresh = (usage.tokens_in - usage.cached_in - usage.written_in) * prices.input
    cost = fresh + written + cached + usage.tokens_out * prices.output
    return replace(
        usage,
        cost_nano=round(cost * NANO_PER_TOKEN),
        cached_nano=round(cached * NANO_PER_TOKEN),
        currency=prices.currency,
    )
