"""Forgetting: what a person wants gone, found and removed wherever it stands, in every tier.

``matches_of`` looks, ``ForgetRequests`` remembers what was shown and orders the job, ``ForgetJob`` is the job,
``stores_for`` gives what all of them work on.
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
