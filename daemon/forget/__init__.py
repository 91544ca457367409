"""Forgetting: what a person wants gone, found and removed wherever it stands, in every tier.

``matches_of`` looks, ``Asking`` remembers what was shown and orders the job, ``Forgetting`` is the job, ``stores_for``
gives what all of them work on.
"""

from daemon.forget.forget_context import TIERS, Stores
from daemon.forget.forget_host import scopes_with, stores_for
from daemon.forget.forget_job import Forgetting
from daemon.forget.forget_order import KIND, Order, Search
from daemon.forget.forget_report import matches_text, report_text
from daemon.forget.forget_requests import Asking, Choice, Pending, choice_of
from daemon.forget.forget_search import Match, Matches, extent_of, matches_of

__all__ = [
    "KIND",
    "TIERS",
    "Asking",
    "Choice",
    "Forgetting",
    "Match",
    "Matches",
    "Order",
    "Pending",
    "Search",
    "Stores",
    "choice_of",
    "extent_of",
    "matches_of",
    "matches_text",
    "report_text",
    "scopes_with",
    "stores_for",
]
