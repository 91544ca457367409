"""A circuit breaker for a model that failed repeatedly. Its calls are skipped, except for occasional tests."""

from collections.abc import Callable

import anyio
import structlog

from daemon.config import ConsolidationConfig, ModelConfig
from daemon.errors import CallSkipped

_log = structlog.get_logger()


class Breaker:
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


_breakers: dict[tuple[str, str], Breaker] = {}


def breaker_of(model: ModelConfig, config: ConsolidationConfig) -> Breaker:
    """The breaker of a model; one a process for each address and name."""
    key = (model.base_url, model.name)
    if key not in _breakers:
        _breakers[key] = Breaker(
            failures_max=config.breaker_failures, probe_s=config.breaker_probe_s, model=model.name or "offline"
        )
    return _breakers[key]
