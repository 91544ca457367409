"""Additional search terms of a passage: its speaker, heading and date, and the classes of its words. Pure."""

import datetime as dt
from functools import lru_cache

from daemon.recall.chunks import Chunk
from daemon.recall.search_terms import indexed
from daemon.recall.word_classes import classes_of

DAYS_KEPT = 4_096
"""Days whose words are kept: more than ten years."""


MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def about(chunk: Chunk, its_terms: str) -> str:
    """The terms for FTS5, always the same for the same passage, which has ``its_terms``."""
    named = indexed(f"{chunk.speaker} {chunk.heading}") if chunk.speaker or chunk.heading else ""
    day = _day(chunk.time[:10]) if chunk.time else ""
    return " ".join(filter(None, (named, day, *classes_of(its_terms.split()))))


@lru_cache(maxsize=DAYS_KEPT)
def _day(date: str) -> str:
    try:
        day = dt.date.fromisoformat(date)
    except ValueError:
        return ""
    return indexed(f"{date} {MONTHS[day.month - 1]} {day.day} {day.year}")
