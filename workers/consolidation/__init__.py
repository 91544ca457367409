"""Consolidation: older messages become history and memory, and the session's cursor moves past them.

``Consolidator`` does it, under the session's lock: for the role ``consolidation``, which consumes
``session-grew``, for a turn that waits, and for whoever asks.
"""

from workers.consolidation.consolidation_kits import Kits
from workers.consolidation.consolidation_plan import head_messages
from workers.consolidation.consolidation_request import BACKGROUND, ConsolidationReport, ConsolidationRequest
from workers.consolidation.consolidation_thresholds import Thresholds
from workers.consolidation.consolidator import Consolidator, stores_of
from workers.consolidation.grew_reader import stand_in

__all__ = [
    "BACKGROUND",
    "ConsolidationReport",
    "ConsolidationRequest",
    "Consolidator",
    "Kits",
    "Thresholds",
    "head_messages",
    "stand_in",
    "stores_of",
]
