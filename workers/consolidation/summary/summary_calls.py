"""Calls of the model that writes summaries, each with a payer, a deadline, a circuit breaker and accounting."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from copy import copy
from typing import TypeVar

import anyio
from anyio import to_thread

from daemon.config import ModelConfig
from daemon.errors import CallSkipped, ContextOverflow, InvalidAnswer, ModelError, ModelTimeout
from daemon.metrics import SUMMARY_CALLS, SUMMARY_SECONDS
from daemon.model import Answer, Chunk, Model, Request
from daemon.tokens import THREAD_SIZE
from daemon.usage import Amount, LimitReached, Payer
from workers.consolidation.summary.model_breaker import Breaker
from workers.paid_calls import needs_of, paid

T = TypeVar("T")

BUSY_S = 5.0
"""How long a call waits for other calls that may use up a limit; a summary is put off for so long, too."""
ABOUT = 0.9
"""Share of a request's size: full requests differ by no more than that, and take a model about as long."""
SPENT_S = 600.0
"""How long a summary is put off when a limit is used up: until the next day, when somebody may have raised it."""


class CallUnpaid(CallSkipped):
    """A limit of a day's tokens or money keeps the model from being called. The summary waits."""

    def __init__(self, error: LimitReached) -> None:
        super().__init__(str(error), retry_after_s=SPENT_S if error.refusal.used_up else BUSY_S)


class Calls:
    """Asks a model for something that is read out of its answer."""

    def __init__(self, model: Model, config: ModelConfig, *, breaker: Breaker, deadline_s: float, purpose: str) -> None:
        """Nothing is asked yet; ``config`` names the model, ``purpose`` stands in the metrics."""
        self._model = model
        self._config = config
        self.payer: Payer | None = None
        self._breaker = breaker
        self._deadline_s = deadline_s
        self._purpose = purpose

    def paid_by(self, payer: Payer) -> "Calls":
        """The same, within the limits of ``payer``."""
        calls = copy(self)
        calls.payer = payer
        return calls

    def has_answered(self, tokens: int) -> bool:
        """Whether the model has answered a request of about ``tokens``, or a larger one."""
        return self._breaker.answered_tokens >= tokens * ABOUT

    async def ask(self, request: Request, read: Callable[[Answer], T], used: dict[str, Amount]) -> T:
        """What ``read`` finds in the answer, which is read in a thread when it is long; ``used`` is added to.

        Raises:
            CallSkipped: the model failed too often lately, or a limit is used up.
            BusError: Redis is away or refused, so limits are unknown.
            ModelError: it gave no answer in time, or none that ``read`` can use.
        """
        began = time.monotonic()
        try:
            self._breaker.enter()
            answer = await self._answer(request, used)
            size = len(answer.text) + sum(len(call.arguments) for call in answer.tool_calls)
            found = await to_thread.run_sync(read, answer) if size > THREAD_SIZE else read(answer)
        except CallSkipped:
            self._count("skipped")
            raise
        except ContextOverflow:
            # It says nothing of how the model is: a smaller request may follow at once.
            self._count("overflow")
            raise
        except ModelError:
            self._breaker.failed()
            self._count("failed")
            raise
        self._breaker.succeeded(request.tokens)
        self._count("done")
        SUMMARY_SECONDS.observe(time.monotonic() - began)
        return found

    async def _answer(self, request: Request, used: dict[str, Amount]) -> Answer:
        if self.payer is None:
            return await self._within(paid(self._model, self._config, request, used))
        try:
            async with self.payer.call(needs_of(request, self._config), used, wait_s=BUSY_S) as charge:
                return await self._within(paid(self._model, self._config, request, charge))
        except LimitReached as error:
            raise CallUnpaid(error) from error

    async def _within(self, stream: AsyncGenerator[Chunk, None]) -> Answer:
        try:
            with anyio.fail_after(self._deadline_s):
                async with aclosing(stream) as chunks:
                    async for chunk in chunks:
                        if isinstance(chunk, Answer):
                            return chunk
        except TimeoutError as error:
            text = f"the model did not answer within {self._deadline_s:g} s (consolidation.call_deadline_s)"
            raise ModelTimeout(text) from error
        raise InvalidAnswer("the model's stream ended without an answer")

    def _count(self, outcome: str) -> None:
        SUMMARY_CALLS.labels(self._purpose, outcome).inc()
