"""Vectors that the people of a scope pay for. This module does not need numpy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from daemon.config import EmbeddingsConfig
from daemon.model import Usage, is_charged, priced
from daemon.recall.vectors.embedder import plain
from daemon.tokens import estimate
from daemon.usage import Amount, Estimate, Payer

if TYPE_CHECKING:
    from daemon.recall.vectors.server import ServerEmbedder
    from daemon.recall.vectors.unit import Vectors


class PaidEmbedder:
    """A server's model, within the limits of one payer."""

    at_once: None = None

    def __init__(self, embedder: "ServerEmbedder", config: EmbeddingsConfig, payer: Payer) -> None:
        """Closing it closes nothing: ``embedder``, the server's of ``config``, is shared."""
        self._embedder = embedder
        self._config = config
        self._payer = payer
        self.name, self.batch, self.quick = embedder.name, embedder.batch, embedder.quick

    @property
    def dims(self) -> int:
        """As ``Embedder.dims``."""
        return self._embedder.dims

    async def embed(self, texts: Sequence[str], *, limit_s: float) -> "Vectors":
        """As ``Embedder.embed``.

        Raises:
            LimitReached: a limit is used up; nothing was asked.
            BusError: Redis is away or refused.
        """
        tokens_in = sum(estimate(plain(text)) for text in texts)
        cost = priced(Usage(tokens_in=tokens_in), self._config.prices)
        needs = Estimate(
            model=self._config.model,
            tokens_in=tokens_in,
            nano_in=cost.cost_nano,
            currency=cost.currency,
            lasts_s=self._config.timeout_s,
        )
        async with self._payer.call(needs, {}, wait_s=0.0) as charge:
            try:
                vectors, counted = await self._embedder.counted(texts, limit_s=limit_s)
            except BaseException as error:
                if is_charged(error):
                    charge[needs.model] = self._amount(tokens_in, estimated=True)
                raise
            charge[needs.model] = self._amount(counted or tokens_in, estimated=not counted)
        return vectors

    async def aclose(self) -> None:
        """Do nothing."""

    def _amount(self, tokens: int, *, estimated: bool) -> Amount:
        cost = priced(Usage(tokens_in=tokens), self._config.prices)
        costs_nano = {cost.currency: cost.cost_nano} if cost.cost_nano else {}
        return Amount(calls=1, tokens_in=tokens, estimated=int(estimated), costs_nano=costs_nano)
