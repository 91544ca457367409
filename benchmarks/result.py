"""What a benchmark gives back."""

import statistics
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Result:
    """One measured figure."""

    name: str
    unit: str
    values: tuple[float, ...]
    """Every single measurement; the median is what counts."""
    floor: float
    """What the same machine did in the same run with as little as possible, same unit."""
    floor_is: str
    limit: float
    """What the median must not exceed."""

    @property
    def median(self) -> float:
        """The figure to quote."""
        return statistics.median(self.values)

    @property
    def worst(self) -> float:
        """The largest value."""
        return max(self.values)

    @property
    def kept(self) -> bool:
        """Whether the median is within the limit."""
        return self.median <= self.limit
