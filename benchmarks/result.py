"""What a benchmark gives back."""

import math
import statistics
from dataclasses import dataclass
from typing import Literal

LimitIs = Literal["at most", "at least", "worst, at most", "worst, at least", "ratio, at most", "ratio, at least"]
"""What is held against the limit: the median, every single value, or how many times the floor the median is."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """One measured figure."""

    name: str
    unit: str
    values: tuple[float, ...]
    """Every single measurement; the median is the figure to quote."""
    floor: float
    """What the same machine did in the same run with as little as possible, same unit; 0: nothing such."""
    floor_is: str
    limit: float
    """In ``unit``, or times the floor when ``limit_is`` speaks of a ratio."""
    limit_is: LimitIs = "at most"

    @property
    def median(self) -> float:
        """The figure to quote."""
        return statistics.median(self.values)

    @property
    def worst(self) -> float:
        """The largest value, or the smallest where more is better."""
        return min(self.values) if self._more_is_better else max(self.values)

    @property
    def ratio(self) -> float:
        """The median in times the floor; without a floor not a number, which keeps no limit."""
        return self.median / self.floor if self.floor else math.nan

    @property
    def kept(self) -> bool:
        """Whether the limit is kept."""
        return self._judged >= self.limit if self._more_is_better else self._judged <= self.limit

    @property
    def limit_text(self) -> str:
        """The limit as a person reads it: ``at most 5 ms``, ``worst at most 25 ms``, ``at least 0.8 x floor``."""
        about, _, direction = self.limit_is.rpartition(", ")
        if about == "ratio":
            return f"{direction} {shown(self.limit)} x floor"
        return f"{about} {direction} {shown(self.limit)} {self.unit}".strip()

    @property
    def _more_is_better(self) -> bool:
        return self.limit_is.endswith("at least")

    @property
    def _judged(self) -> float:
        about = self.limit_is.rpartition(", ")[0]
        return {"worst": self.worst, "ratio": self.ratio}.get(about, self.median)


def shown(figure: float) -> str:
    """A figure as a person reads it: ``0.123``, ``12.3``, ``12,345``."""
    return f"{figure:,.0f}" if abs(figure) >= 1_000 else f"{figure:.3g}"
