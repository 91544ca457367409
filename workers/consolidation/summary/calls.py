"""Calls of the model that writes summaries, each with a deadline, a circuit breaker and accounting."""

import time
from collections.abc import Callable
from contextlib import aclosing
from typing import TypeVar

import anyio
from anyio import to_thread

from daemon.errors import CallSkipped, ContextOverflow, InvalidAnswer, ModelError, ModelTimeout
from daemon.metrics import SUMMARY_CALLS, SUMMARY_SECONDS
from daemon.model import Answer, CutOff, Model, OnlyThought, Request
from daemon.tokens import THREAD_SIZE
from daemon.usage import Amount
from workers.accounts import account
from workers.consolidation.summary.breaker import Breaker

T = TypeVar("T")


class Calls:
    """Asks a model for something that is read out of its answer."""

    def __init__(self, model: Model, *, breaker: Breaker, deadline_s: float, purpose: str) -> None:
        """Nothing is asked yet; ``purpose`` stands in the metrics."""
        self._model = model
        self._breaker = breaker
        self._deadline_s = deadline_s
        self._purpose = purpose

    async def ask(self, request: Request, read: Callable[[Answer], T], used: dict[str, Amount]) -> T:
        """What ``read`` finds in the answer, which is read in a thread when it is long; ``used`` is added to.

        Raises:
            CallSkipped: the model failed too often lately.
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
        self._breaker.succeeded()
        self._count("done")
        SUMMARY_SECONDS.observe(time.monotonic() - began)
        return found

    async def _answer(self, request: Request, used: dict[str, Amount]) -> Answer:
        try:
            with anyio.fail_after(self._deadline_s):
                async with aclosing(self._model.stream(request)) as chunks:
                    async for chunk in chunks:
                        if isinstance(chunk, Answer):
                            account(used, chunk)
                            return chunk
        except (CutOff, OnlyThought) as error:
            account(used, error.answer)
            raise
        except TimeoutError as error:
            text = f"the model did not answer within {self._deadline_s:g} s (consolidation.call_deadline_s)"
            raise ModelTimeout(text) from error
        raise InvalidAnswer("the model's stream ended without an answer")

    def _count(self, outcome: str) -> None:
        SUMMARY_CALLS.labels(self._purpose, outcome).inc()
