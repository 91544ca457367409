"""Search with a reranking server: the best hits of another engine, in the order of their relevance.

A failure of the server costs only the new order: the answer is then that of the other engine, and one line of the log
says why.
"""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import anyio
import structlog
from msgspec.structs import replace

from daemon.clock import Clock
from daemon.config import BotConfig, Config, EmbeddingsConfig, RerankerConfig
from daemon.errors import ModelError, RateLimited, brief
from daemon.memory.memory_files import bot_of
from daemon.model import Usage, is_charged, priced, reranker
from daemon.recall.search_results import Engine, Hit, InPrompt, Mode, SearchResults
from daemon.tokens import estimate
from daemon.usage import Amount, Estimate, LimitReached, Payer, UnsentUsage, user_of_scope

if TYPE_CHECKING:
    from daemon.model.embeddings_client import Reranker


# Calls of a search to a server that the people of a scope pay for.

_T = TypeVar("_T")


def payer_of(bot: BotConfig, scope: str, *, ledger: UnsentUsage | None, clock: Clock, work: str) -> Payer | None:
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


QUERY_MAX_CHARS = 2_000
"""So much of a query is sent. Most reranking models read 512 tokens of the query and a text together."""
TURN_S = 1.0
"""Longest wait in a turn, which waits 2 s for all it recalls."""
AT_ONCE = 4
"""Calls of a process at a time. Other searches keep their order meanwhile, so that no search waits for another."""
PAUSE_S, PAUSE_MAX_S = 60.0, 3_600.0
"""How long a server that failed is not called, unless it says itself when to come back, and the longest such pause."""

_log = structlog.get_logger()


class RerankingEngine:
    """An ``Engine``: hands every search on, and orders the hits of all but searches by words alone."""

    def __init__(self, engine: Engine, config: Config, clock: Clock, *, ledger: UnsentUsage | None = None) -> None:
        """Nothing is opened yet.

        Args:
            engine: finds the hits.
            config: with ``[memory_search.reranker]``.
            clock: of the process.
            ledger: where bots have limits, the calls are noted there.
        """
        self._engine = engine
        self._config = config
        self._clock = clock
        self._ledger = ledger
        self._opening = anyio.Lock()
        self._reranker: Reranker | None = None
        self._calling = 0
        self._paused_until = 0.0
        self._is_failing = False

    @property
    def _server(self) -> RerankerConfig:
        return self._config.memory_search.reranker

    async def search(
        self, scope: str, query: str, *, mode: Mode, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        """As ``Engine.search``."""
        is_resting = self._calling >= AT_ONCE or anyio.current_time() < self._paused_until
        if mode == "search" or is_resting or not query.strip():
            return await self._engine.search(scope, query, mode=mode, limit=limit, prompt=prompt)
        most = max(limit, self._server.candidates)
        found = await self._engine.search(scope, query, mode=mode, limit=most, prompt=prompt)
        first = found.hits[: self._server.candidates]
        ordered = await self._ordered(scope, query, first, limit_s=TURN_S if prompt else self._server.timeout_s)
        return replace(found, hits=(*ordered, *found.hits[len(first) :])[:limit])

    async def aclose(self) -> None:
        """Close the connections."""
        if self._reranker is not None:
            await self._reranker.aclose()

    async def _ordered(self, scope: str, query: str, hits: Sequence[Hit], *, limit_s: float) -> Sequence[Hit]:
        if len(hits) < 2:
            return hits
        self._calling += 1
        try:
            scores = await self._scores(scope, query[:QUERY_MAX_CHARS], [hit.snippet for hit in hits], limit_s=limit_s)
        except ModelError as error:
            self._pause(error)
            return hits
        except LimitReached as error:
            _log.info("reranker.unpaid", reason=brief(error))
            return hits
        finally:
            self._calling -= 1
        if self._is_failing:
            self._is_failing = False
            _log.info("reranker.back", model=self._server.model)
        return in_order(hits, scores)

    async def _scores(self, scope: str, query: str, texts: Sequence[str], *, limit_s: float) -> Sequence[float]:
        async with self._opening:
            if self._reranker is None:
                self._reranker = await reranker(self._server, self._clock)
        server, bot = self._reranker, self._config.bots.get(bot_of(scope))

        async def call() -> tuple[Sequence[float], int]:
            answer = await server.scores_of(query, texts, limit_s=limit_s)
            return answer.scores, answer.tokens

        payer = payer_of(bot, scope, ledger=self._ledger, clock=self._clock, work="rerank") if bot else None
        if payer is None:
            return (await call())[0]
        # The model reads the query beside each text.
        return await paid(payer, self._server, [f"{query}\n{text}" for text in texts], call)

    def _pause(self, error: ModelError) -> None:
        asked_s = error.retry_after_s if isinstance(error, RateLimited) else None
        pause_s = PAUSE_S if asked_s is None else min(max(asked_s, 1.0), PAUSE_MAX_S)
        self._paused_until = anyio.current_time() + pause_s
        if not self._is_failing:
            self._is_failing = True
            _log.warning("reranker.failed", model=self._server.model, reason=brief(error))


def in_order(hits: Sequence[Hit], scores: Sequence[float]) -> list[Hit]:
    """The hits, the most relevant first, with falling scores. Pure.

    The score of a hit stays that of the search, and is at least that of the hits below it: servers do not agree on the
    meaning of a relevance, so that ``min_score`` cannot be compared with it.
    """
    order = sorted(range(len(hits)), key=lambda at: -scores[at])
    found, best = list[Hit](), 0.0
    for at in reversed(order):
        best = max(best, hits[at].score)
        found.append(replace(hits[at], score=best))
    return found[::-1]
