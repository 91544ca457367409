"""The prompt sizes at which a conversation is flushed and consolidated, and at which a turn waits. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

from daemon.config import MemoryFlushConfig, ModelConfig

RESERVE_SHARE = 4
"""The reserve is at most one part in so many of the window."""

SOFT_SHARE = 2
"""The soft threshold is at most one part in so many of what the reserve leaves."""

FLUSH_GAP_SHARE = 16
"""The flush point lies at least one part in so many of the budget below it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Thresholds:
    """Sizes of a prompt at which something happens; each is below the next, but for the target."""

    target_tokens: int
    """Where a consolidation may stop."""
    flush_point_tokens: int
    consolidation_start_tokens: int
    """Where the background begins."""
    budget_tokens: int
    """Where a turn waits."""

    @classmethod
    def of(cls, model: ModelConfig, flush: MemoryFlushConfig, *, lowered: Callable[[int], int] = int) -> "Thresholds":
        """The thresholds for a model.

        Args:
            model: one that the configuration admits; its budget is at least 1,024 tokens.
            flush: how far before the window's end the flush point lies.
            lowered: what a number of the provider's tokens is in ours, as ``Calibration.lowered``: at least half of it.
        """
        window = model.context_window_tokens
        reserve = min(flush.reserve_floor_tokens, window // RESERVE_SHARE)
        soft = min(flush.soft_threshold_tokens, (window - reserve) // SOFT_SHARE)
        budget = lowered(model.budget_tokens)
        flush_point = min(lowered(window - reserve - soft), budget - budget // FLUSH_GAP_SHARE)
        return cls(
            target_tokens=budget // 2,
            flush_point_tokens=flush_point,
            consolidation_start_tokens=(flush_point + budget) // 2,
            budget_tokens=budget,
        )

    def needs_flush(self, prompt_tokens: int) -> bool:
        """Whether a prompt of this size has passed the flush point."""
        return prompt_tokens >= self.flush_point_tokens

    def needs_consolidation(self, prompt_tokens: int) -> bool:
        """Whether a prompt of this size is consolidated in the background."""
        return prompt_tokens >= self.consolidation_start_tokens

    def overflows(self, prompt_tokens: int) -> bool:
        """Whether a turn with a prompt of this size waits for a consolidation."""
        return prompt_tokens >= self.budget_tokens
