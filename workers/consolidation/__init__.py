"""Summarizes older messages into the history and the memory of a person or group.

Public: ``Consolidator`` consolidates a session under its lock and returns a ``ConsolidationReport``, ``Thresholds`` are
the prompt sizes that trigger it.
Begin with ``consolidator`` and ``consolidation_rounds``. ``consolidation_plan`` decides which messages, ``service`` is
the role.
"""

from workers.consolidation.consolidation_kits import Kits
from workers.consolidation.consolidation_plan import Thresholds, head_messages
from workers.consolidation.consolidation_request import BACKGROUND, ConsolidationReport, ConsolidationRequest
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
