"""The audit of each consolidation: what it kept of the facts and statements in the messages.

``extraction`` finds the items in messages, ``comparing`` looks for them in texts, ``pinned`` keeps the statements that
people asked to be kept. All three are pure. ``auditor`` searches for the rest.
"""

from workers.consolidation.audit.audited_range import auditor_of

__all__ = ["auditor_of"]
