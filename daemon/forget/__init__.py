"""Forgetting: what a person wants gone, found and removed wherever it stands, in every tier.

``matches_of`` looks, ``Asking`` remembers what was shown and orders the job, ``Forgetting`` is the job, ``stores_for``
gives what all of them work on.
"""

from daemon.forget.asking import Asking, Choice, Pending, choice_of
from daemon.forget.forgetting import Forgetting
from daemon.forget.host import scopes_with, stores_for
from daemon.forget.order import KIND, Order, Search
from daemon.forget.said import matches_text, report_text
from daemon.forget.searching import Match, Matches, extent_of, matches_of
from daemon.forget.work import TIERS, Stores

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
