"""Summaries: the requests about older messages, and the interpretation of the model's answers. Nothing is written.

``Summarizer`` sums up a range, ``Flush`` holds the silent turn before it; both ask through a ``Breaker``.
"""

from workers.consolidation.summary.flush_request import Flush, FlushAnswer
from workers.consolidation.summary.log_rendering import raw_entry
from workers.consolidation.summary.summarize import Summarizer, Summary
from workers.consolidation.summary.summary_calls import breaker_of

__all__ = ["Flush", "FlushAnswer", "Summarizer", "Summary", "breaker_of", "raw_entry"]
