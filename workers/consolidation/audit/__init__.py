"""Checks which facts and statements each summary kept.

Public: ``RangeAuditor`` audits a range.
Begin with ``auditor``. ``fact_extraction`` finds facts, ``pinned_statements`` keeps requested statements.
"""

from workers.consolidation.audit.range_auditor import RangeAuditor

__all__ = ["RangeAuditor"]
