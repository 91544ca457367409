"""Rates: how much all processes did in each minute of the last day, for charts.

Each process records its own numbers, which are the growth of its metrics, with ``record``. ``read_history`` adds up the
numbers of all processes.
"""

from daemon.rates.rate_history import (
    EVERY_S,
    PERIODS,
    Period,
    RateHistory,
    RateRecorder,
    RateStep,
    read_history,
    record,
)

__all__ = ["EVERY_S", "PERIODS", "Period", "RateHistory", "RateRecorder", "RateStep", "read_history", "record"]
