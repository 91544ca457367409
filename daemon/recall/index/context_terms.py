"""Additional search terms of a passage: its speaker, its heading and its date. Pure."""

import datetime as dt
from functools import lru_cache

from daemon.recall.chunks import Chunk
from daemon.recall.search_terms import indexed

DAYS_KEPT = 4_096
"""Days whose words are kept: more than ten years."""


MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def about(chunk: Chunk) -> str:
    """The terms for FTS5, always the same for the same passage."""
    named = indexed(f"{chunk.speaker} {chunk.heading}") if chunk.speaker or chunk.heading else ""
    return f"{named} {_day(chunk.time[:10])}".strip() if chunk.time else named


@lru_cache(maxsize=DAYS_KEPT)
def _day(date: str) -> str:
    try:
        day = dt.date.fromisoformat(date)
    except ValueError:
        return ""
    return indexed(f"{date} {MONTHS[day.month - 1]} {day.day} {day.year}")
