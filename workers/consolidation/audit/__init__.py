"""The audit of each consolidation: what it kept of the facts and statements in the messages.

``extraction`` finds the items in messages, ``comparison`` looks for them in texts, ``pinned`` keeps the statements that
people asked to be kept. All three are pure. ``auditor`` searches for the rest.
"""

from workers.consolidation.audit.range_auditor import RangeAuditor

__all__ = ["RangeAuditor"]
