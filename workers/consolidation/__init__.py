"""Consolidation: older messages become history and memory, and the session's cursor moves past them.

``Consolidator`` does it, under the session's lock: for the role ``consolidation``, which consumes
``session-grew``, for a turn that waits, and for whoever asks.
"""

from workers.consolidation.consolidation_kits import Kits
from workers.consolidation.consolidation_plan import Thresholds, head_messages
from workers.consolidation.consolidation_request import BACKGROUND, Report, Want
from workers.consolidation.consolidator import Consolidator, stores_of
from workers.consolidation.overdue_sessions import stand_in

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
