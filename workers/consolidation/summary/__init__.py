"""Requests summaries from a model, and checks the answers.

Public: ``Summarizer`` summarizes a range, ``Flush`` runs the silent turn before it, ``breaker_of`` returns the circuit
breaker of a model.
Begin with ``summarize``.
"""

from workers.consolidation.summary.flush_request import Flush, FlushAnswer
from workers.consolidation.summary.log_rendering import raw_entry
from workers.consolidation.summary.summarize import Summarizer, Summary
from workers.consolidation.summary.summary_calls import breaker_of

__all__ = ["Flush", "FlushAnswer", "Summarizer", "Summary", "breaker_of", "raw_entry"]
