"""Removes text from all places where Millpond stores it, at a person's request.

Public: ``matches_of`` searches, ``ForgetRequests`` keeps the matches until a person chooses, ``ForgetJob`` removes,
``stores_for`` returns the stores that it changes.
Begin with ``forget_job`` and ``sweep``. ``text_matcher`` decides which sentences go, each ``*_removal`` handles one
tier.
"""

from daemon.forget.forget_context import KIND, TIERS, ForgetOrder, ForgetSearch, ForgetStores, scopes_with, stores_for
from daemon.forget.forget_job import ForgetJob
from daemon.forget.forget_requests import (
    ForgetChoice,
    ForgetRequests,
    Match,
    Matches,
    PendingChoice,
    choice_of,
    extent_of,
    matches_of,
    matches_text,
    report_text,
)

__all__ = [
    "KIND",
    "TIERS",
    "ForgetChoice",
    "ForgetJob",
    "ForgetOrder",
    "ForgetRequests",
    "ForgetSearch",
    "ForgetStores",
    "Match",
    "Matches",
    "PendingChoice",
    "choice_of",
    "extent_of",
    "matches_of",
    "matches_text",
    "report_text",
    "scopes_with",
    "stores_for",
]
