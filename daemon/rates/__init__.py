"""Counts events in each minute of the last day, for the charts on the web page.

Public: ``record`` saves the growth of one process's metrics, ``read_history`` adds up all processes.
Begin with ``rate_history``.
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
