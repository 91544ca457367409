"""Calls of the model that writes summaries, each with a payer, a deadline, a circuit breaker and accounting."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from copy import copy
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple, TypeVar

import anyio
import msgspec
import structlog
from anyio import to_thread

from daemon.config import ConsolidationConfig, ModelConfig
from daemon.errors import UNREADABLE, CallSkipped, ContextOverflow, InvalidAnswer, ModelError, ModelTimeout
from daemon.metrics import SUMMARY_CALLS, SUMMARY_SECONDS
from daemon.model import Answer, Chunk, Model, Request
from daemon.tokens import THREAD_SIZE
from daemon.usage import Amount, LimitReached, Payer
from workers.consolidation.summary.log_rendering import Line
from workers.consolidation.summary.summary_request import Background, Turn, chunks, joined
from workers.paid_calls import needs_of, paid

# A circuit breaker for a model that failed repeatedly. Its calls are skipped, except for occasional tests.

_log = structlog.get_logger()


class ModelBreaker:
    """Counts a model's failures in a row; from ``failures_max`` on, only one call every ``probe_s`` goes through."""

    def __init__(
        self, *, failures_max: int, probe_s: float, model: str = "", now: Callable[[], float] = anyio.current_time
    ) -> None:
        self._failures_max = failures_max
        self._probe_s = probe_s
        self._model = model
        self._now = now
        self._failures = 0
        self._probe_at = 0.0
        self.answered_tokens = 0
        """Size of the largest request that was answered: the size of a smaller one is no reason to fail."""

    @property
    def is_open(self) -> bool:
        """Whether calls are skipped."""
        return self._failures >= self._failures_max

    def enter(self) -> None:
        """Begin a call. Whoever is let through an open breaker finds out for all others.

        Raises:
            CallSkipped: not now.
        """
        if not self.is_open:
            return
        left_s = self._probe_at - self._now()
        if left_s > 0:
            text = (
                f"model {self._model!r} failed {self._failures} times in a row, so it is not called for "
                f"another {left_s:.0f} s"
            )
            raise CallSkipped(text, retry_after_s=left_s)
        # Moved on now and not when the call ends: it may be cancelled, and others come meanwhile.
        self._probe_at = self._now() + self._probe_s

    def succeeded(self, tokens: int = 0) -> None:
        """A call with a request of ``tokens`` brought what it was to bring."""
        self.answered_tokens = max(self.answered_tokens, tokens)
        if self.is_open:
            _log.info("breaker.closed", model=self._model)
        self._failures = 0

    def failed(self) -> None:
        """A call brought nothing that can be used."""
        self._failures += 1
        self._probe_at = self._now() + self._probe_s
        if self._failures == self._failures_max:
            _log.warning("breaker.opened", model=self._model, count=self._failures)


_breakers: dict[tuple[str, str], ModelBreaker] = {}


def breaker_of(model: ModelConfig, config: ConsolidationConfig) -> ModelBreaker:
    """The breaker of a model; one a process for each address and name."""
    key = (model.base_url, model.name)
    if key not in _breakers:
        _breakers[key] = ModelBreaker(
            failures_max=config.breaker_failures, probe_s=config.breaker_probe_s, model=model.name or "offline"
        )
    return _breakers[key]


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


class SummaryCalls:
    """Asks a model for something that is read out of its answer."""

    def __init__(
        self, model: Model, config: ModelConfig, *, breaker: ModelBreaker, deadline_s: float, purpose: str
    ) -> None:
        """Nothing is asked yet; ``config`` names the model, ``purpose`` stands in the metrics."""
        self._model = model
        self._config = config
        self.payer: Payer | None = None
        self._breaker = breaker
        self._deadline_s = deadline_s
        self._purpose = purpose

    def paid_by(self, payer: Payer) -> "SummaryCalls":
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
            text = f"the model did not respond within {self._deadline_s:g} s (consolidation.call_deadline_s)"
            raise ModelTimeout(text) from error
        raise InvalidAnswer("the model's stream ended without an answer")

    def _count(self, outcome: str) -> None:
        SUMMARY_CALLS.labels(self._purpose, outcome).inc()


# Keeps the finished parts of a turn that takes several requests, so that a later failure loses none of them.


@dataclass(kw_only=True)
class Taken:
    """The result of the parts so far."""

    background: Background
    """With memory and continuity as they have become."""
    entries: list[str] = field(default_factory=list[str])
    reason: str = ""
    rejected: str = ""
    rejection: str = ""
    model: str = ""


class Begun(NamedTuple):
    """A turn of which some parts are finished."""

    parts: list[list[Line]]
    limit_tokens: int
    """The largest part."""


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """As it is stored."""

    name: str
    """Digest of all parts, and of what the first request showed beside them: the parts of other text are of no use."""
    limit_tokens: int
    done: int
    taken: Taken


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Record).decode

Keep = Callable[[bytes], Awaitable[None]]
"""Stores a record in the place of the one before."""


class PaidParts:
    """The finished parts of one turn at a time."""

    def __init__(self, stored: bytes = b"", keep: Keep | None = None) -> None:
        """``stored`` is the record that ``keep`` stored last, empty if there is none."""
        self._keep = keep
        try:
            self._record = _decode(stored) if stored else None
        except UNREADABLE:  # of another release
            self._record = None

    def begun(self, turns: Sequence[Turn], background: Background) -> Begun | None:
        """The parts of ``turns``, if some of them are finished."""
        record = self._record
        if record is None:
            return None
        parts = chunks(joined(turns), record.limit_tokens)
        return Begun(parts, record.limit_tokens) if _name(parts, background) == record.name else None

    def taken(self, parts: Sequence[Sequence[Line]], background: Background) -> tuple[Taken, int]:
        """The result of the finished parts, and their number."""
        record = self._record
        if record is None or _name(parts, background) != record.name:
            return Taken(background=background), 0
        return msgspec.convert(msgspec.to_builtins(record.taken), Taken), record.done

    async def keep(
        self, parts: Sequence[Sequence[Line]], background: Background, taken: Taken, *, done: int, limit_tokens: int
    ) -> None:
        """Store that the first ``done`` of ``parts`` came to ``taken``."""
        if self._keep:
            name = _name(parts, background)
            stored = _encode(_Record(name=name, limit_tokens=limit_tokens, done=done, taken=taken))
            self._record = _decode(stored)
            await self._keep(stored)


def _name(parts: Sequence[Sequence[Line]], background: Background) -> str:
    texts = [[line.text for line in part] for part in parts]
    return blake2b(_encode((background, texts)), digest_size=16).hexdigest()
