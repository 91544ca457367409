"""Records a trace, without message text, of each turn from the arrival of a message to the delivery of the answer.

Public: ``Traces`` reads the ``Trace`` of a turn and the ``Delivered`` record of its reply, ``rows`` puts them in order.
Begin with ``trace_records``. Scripts write the records within the commit.
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
