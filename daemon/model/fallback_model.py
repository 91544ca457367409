"""Several models in order: the next is asked when those before gave no answer.

Only before any text was shown: two models' words never stand in one stream. After that the call fails as with one
model, and since a model that failed is asked last for a while, the next attempt begins with another.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

import anyio
import structlog
from msgspec.structs import replace

from daemon.config.schema import ModelConfig
from daemon.errors import ContentFiltered, ModelError, ModelRefused, ModelUnavailable, RateLimited
from daemon.model.chat_model import Answer, Chunk, CutOff, Model, OnlyThought, Request
from daemon.tokens import calibration

REST_S = 30.0
"""How long a model is asked last after a failure; doubled with each further one."""
REST_MAX_S = 600.0

_log = structlog.get_logger()


class FallbackEntry:
    """A model in the order, and how it has done lately."""

    def __init__(self, model: Model, config: ModelConfig) -> None:
        self.model = model
        self._config = config
        self._failures = 0
        self._rests_until = 0.0

    @property
    def rests(self) -> bool:
        """Whether it failed lately."""
        return anyio.current_time() < self._rests_until

    def fits(self, request: Request) -> bool:
        """Whether the prompt is within its budget."""
        return request.tokens <= calibration(self._config.name, self._config.base_url).lowered(
            self._config.budget_tokens
        )

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """As ``Model.stream``, with an answer no longer than its window allows."""
        if self._failures:
            # One call finds out whether it is back; others that come meanwhile do not wait for its time-out too.
            self._rest(REST_S)
        limit = min(request.max_completion_tokens, request.room * self._config.completion_tokens)
        try:
            async with aclosing(self.model.stream(replace(request, max_completion_tokens=limit))) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Answer):
                        self._failures, self._rests_until = 0, 0.0
                    yield chunk
        except ModelError as error:
            self._failed(error)
            raise

    def _failed(self, error: ModelError) -> None:
        _log.warning("model.failed", model=self.model.name, reason=f"{type(error).__name__}: {error.brief}")
        # A bad answer, or a prompt that is too long or filtered, says nothing about the next call.
        if isinstance(error, ModelUnavailable | ModelRefused) and not isinstance(error, ContentFiltered):
            self._failures += 1
            asked_s = error.retry_after_s if isinstance(error, RateLimited) else None
            self._rest(min(REST_MAX_S, asked_s or REST_S * 2 ** min(self._failures - 1, 10)))

    def _rest(self, seconds: float) -> None:
        self._rests_until = anyio.current_time() + seconds


class FallbackModel:
    """A ``Model`` that is several."""

    def __init__(self, rungs: Sequence[FallbackEntry]) -> None:
        self.name = rungs[0].model.name
        """Of the first."""
        self._rungs = tuple(rungs)

    def preferring(self, name: str) -> "FallbackModel":
        """The same models with the one called ``name`` first; what is known of each of them is shared."""
        return FallbackModel(sorted(self._rungs, key=lambda rung: rung.model.name != name))

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """As ``Model.stream``; when none gave an answer, the error of the first one."""
        failures: dict[FallbackEntry, ModelError] = {}
        for rung in self._order(request):
            shown = False
            try:
                async with aclosing(rung.stream(request)) as chunks:
                    async for chunk in chunks:
                        shown = True
                        yield replace(chunk, cut_off=_cut_off(failures)) if isinstance(chunk, Answer) else chunk
            except ModelError as error:
                if shown:
                    raise
                failures[rung] = error
            else:
                return
        raise failures[self._rungs[0]]

    async def aclose(self) -> None:
        """Close the connections of all."""
        for rung in self._rungs:
            await rung.model.aclose()

    def _order(self, request: Request) -> list[FallbackEntry]:
        """All that the prompt fits, the first one in any case; those that failed lately come last."""
        first, *others = self._rungs
        asked = [first, *(rung for rung in others if rung.fits(request))]
        return sorted(asked, key=lambda rung: rung.rests)


def _cut_off(failures: Mapping[FallbackEntry, ModelError]) -> tuple[Answer, ...]:
    return tuple(error.answer for error in failures.values() if isinstance(error, CutOff | OnlyThought))
