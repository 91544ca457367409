"""Rates: how much all processes did in each minute of the last day, for charts.

Each process records its own numbers, which are the growth of its metrics, with ``record``. ``read_history`` adds up the
numbers of all processes.
"""

from daemon.rates.rate_history import PERIODS, History, Period, Step, read_history
from daemon.rates.recorder import EVERY_S, Recorder, record

__all__ = ["EVERY_S", "PERIODS", "History", "Period", "Recorder", "Step", "read_history", "record"]
