"""Traces: how each turn went, from the oldest message that it answers to the delivery of its reply. No text is in one.

``Trace`` is written by the script that commits the turn, ``Delivered`` by the one that marks parts as sent, so that
neither costs a round trip; ``Traces`` reads both.
"""

from daemon.traces.trace_records import (
    KEPT_MAX,
    KEPT_MS,
    Delivered,
    FoundTrace,
    Span,
    Trace,
    Traces,
    Unavailable,
    encode,
    ms_of,
)
from daemon.traces.trace_view import Row, rows, told, used_by, why_missing

__all__ = [
    "KEPT_MAX",
    "KEPT_MS",
    "Delivered",
    "FoundTrace",
    "Row",
    "Span",
    "Trace",
    "Traces",
    "Unavailable",
    "encode",
    "ms_of",
    "rows",
    "told",
    "used_by",
    "why_missing",
]
