"""What is found first, of many chunks that have the words of a question."""

import datetime as dt

from daemon.recall.chunks import message_chunks
from daemon.recall.index.passages import hits_of
from daemon.recall.index.ranking import ranked
from daemon.recall.index.store import NOWHERE, Fed, Index
from daemon.recall.words import query_terms

NOW = dt.datetime(2026, 11, 22, 9, tzinfo=dt.UTC)
DAYS = 320
"""On each of them something was cooked."""


def test_a_day_that_is_named_is_found_among_hundreds_of_others_with_the_same_words() -> None:
    first = NOW - dt.timedelta(days=DAYS)
    chunks = [
        chunk
        for day in range(DAYS)
        for chunk in message_chunks(
            f"Cooked dish-{day} tonight.",
            session="web:ann",
            index=day,
            time=(first + dt.timedelta(days=day)).isoformat(),
        )
    ]
    index = Index.in_memory(forgets=0)
    index.feed("log", NOWHERE, Fed(1, "last"), lambda _, write: write.chunks.extend(chunks))
    wanted = dt.date(2026, 3, 4)
    number = (wanted - first.date()).days

    query = query_terms(f"What did I cook on {wanted:%Y-%m-%d}?", NOW)
    hits = index.ask(lambda found: hits_of(found, ranked(found, query, limit=30), limit=10))
    week = query_terms("What did I cook in the first week of the year? In January 2026?", NOW)
    several = index.ask(lambda found: hits_of(found, ranked(found, week, limit=30), limit=10))

    assert f"dish-{number} " in hits[0].snippet
    assert all(hit.time.startswith("2026-01") for hit in several)
    index.close()
