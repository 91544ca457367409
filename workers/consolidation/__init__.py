"""Consolidation: older messages become history and memory, and the session's cursor moves past them.

``Consolidator`` does it, under the session's lock: for the role ``consolidation``, which consumes
``session-grew``, for a turn that waits, and for whoever asks.
"""

from workers.consolidation.consolidator import Consolidator, stores_of
from workers.consolidation.kits import Kits
from workers.consolidation.overdue import stand_in
from workers.consolidation.plan import Thresholds, head_messages
from workers.consolidation.want import BACKGROUND, Report, Want

__all__ = [
    "BACKGROUND",
    "Consolidator",
    "Kits",
    "Report",
    "Thresholds",
    "Want",
    "head_messages",
    "stand_in",
    "stores_of",
]
