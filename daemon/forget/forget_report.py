"""What people are told: the numbered places in which something stands, and what became of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from daemon.forget.forget_context import TIERS
from daemon.forget.forget_search import Match
from daemon.wording import Language
from daemon.wording import text as say

FAILED_MOST = 10
"""Reasons that are told of what could not be done."""


def matches_text(matches: Sequence[Match], more: int, language: Language, *, how: bool = True) -> str:
    """The list of matches, and ``how`` to choose of them in a chat."""
    lines = [
        say(
            "forget_match",
            language,
            number=number,
            tier=say(f"tier_{match.tier}", language),
            date=match.time[:10] or "?",
            places=say("forget_places", language, count=match.places) if match.places > 1 else "",
            text=match.excerpt,
        )
        for number, match in enumerate(matches, 1)
    ]
    if more:
        lines.append(say("forget_more", language, count=more))
    return "\n".join((*lines, "", say("forget_choose", language)) if how else lines)


def report_text(report: Mapping[str, Any], language: Language, *, for_operator: bool = False) -> str:
    """The result of a job. Reasons of failed steps name folders, addresses and keys: only operators see them."""
    removed: Mapping[str, int] = report["removed"]
    lines = [say("forget_done" if removed else "forget_nothing_left", language)]
    lines += [
        say("forget_removed", language, tier=say(f"tier_{tier}", language), count=removed[tier])
        for tier in TIERS
        if removed.get(tier)
    ]
    failed: Sequence[str] = report["failed"]
    if failed:
        reasons = [f"- {reason}" for reason in failed[:FAILED_MOST]] if for_operator else []
        heading = "forget_failed" if for_operator else "forget_incomplete"
        lines += ["", say(heading, language, count=len(failed)), *reasons]
    backups: Sequence[str] = report["backups"]
    lines += ["", say("forget_untouched", language), *(f"- {path}" for path in backups)]
    return "\n".join(lines)
