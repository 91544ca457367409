"""What is shown of a hit: with what stands beside it, and once."""

import datetime as dt
import re
import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from daemon.recall.chunks import message_chunks
from daemon.recall.index.index_store import NOWHERE, FeedPosition, Index
from daemon.recall.index.passages import WIDE_MAX, hits_of
from daemon.recall.index.ranking import ranked
from daemon.recall.search_results import SNIPPET_CHARS, TURN_SNIPPET_CHARS, InPrompt
from daemon.recall.search_terms import query_terms

NOW = dt.datetime(2026, 11, 22, 9, tzinfo=dt.UTC)

WORDS = ("pond", "heron", "rain", "otter", "violin", "geneva", "saffron")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=1, max_size=60)


@given(TEXTS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_nothing_is_shown_beside_one_hit_that_a_better_one_shows(texts: list[list[str]], asked: list[str]) -> None:
    index = Index.in_memory(forgets=0)
    chunks = [
        chunk
        for number, text in enumerate(texts)
        for chunk in message_chunks(
            f"{' '.join(text)} number-{number}.", session="web:ann", index=number, time=NOW.isoformat()
        )
    ]
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))
    query = query_terms(" ".join(asked), NOW)

    hits = index.ask(lambda found: hits_of(found, ranked(found, query, limit=100), limit=100))

    text_of, shown = {chunk.docid: chunk.text for chunk in chunks}, set[str]()
    for hit in hits:
        lines = hit.snippet.split("\n")
        assert text_of[hit.docid] in lines
        assert not shown & {*lines} - {text_of[hit.docid], "…"}
        shown |= {*lines}
    index.close()


def test_searches_that_find_more_and_less_share_their_statements() -> None:
    # A connection keeps each statement, of 23 kB and more.
    index, asked = Index.in_memory(forgets=0), set[str]()
    chunks = [
        chunk
        for number in range(100)
        for chunk in message_chunks(f"pond {number}", session="web:ann", index=number, time=NOW.isoformat())
    ]
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))

    def search(found: sqlite3.Connection, limit: int, words: str) -> int:
        found.set_trace_callback(lambda sql: asked.add(re.sub(r"'[^']*'|\d+", "?", sql)))
        return len(hits_of(found, ranked(found, query_terms(words, NOW), limit=limit), limit=limit))

    for limit in range(1, 60):
        assert index.ask(lambda found, limit=limit: search(found, limit, f"pond {limit}")) > 0

    assert len(asked) < 20
    index.close()


def test_beside_a_question_stands_its_answer_and_nothing_of_another_day() -> None:
    index = Index.in_memory(forgets=0)
    talk = (
        (NOW - dt.timedelta(days=1), "user", "Good night, see you."),
        (NOW, "user", "I have a problem at school."),
        (NOW, "assistant", "What is it?"),
        (NOW, "user", "Our fish died."),
        (NOW + dt.timedelta(days=1), "user", "A new day."),
    )
    chunks = [
        chunk
        for number, (time, speaker, text) in enumerate(talk)
        for chunk in message_chunks(text, session="web:ann", index=number, time=time.isoformat(), speaker=speaker)
    ]
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))

    query = query_terms("Which problem did I have at school?", NOW)
    (hit,) = index.ask(lambda found: hits_of(found, ranked(found, query, limit=30), limit=10))

    assert hit.snippet == "user: I have a problem at school.\nassistant: What is it?\nuser: Our fish died."
    index.close()


def test_a_turn_shows_more_text_beside_a_hit_than_a_search() -> None:
    index = Index.in_memory(forgets=0)
    talk = [f"{number} " + "The heron stands in the reeds and waits. " * 4 for number in range(9)]
    talk[4] = "4 I bought an otter."
    chunks = [
        chunk
        for number, text in enumerate(talk)
        for chunk in message_chunks(text, session="web:ann", index=number, time=NOW.isoformat())
    ]
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))

    def shown(prompt: InPrompt | None) -> str:
        query = query_terms("otter", NOW)
        found = index.ask(lambda found: hits_of(found, ranked(found, query, limit=5), limit=1, prompt=prompt))
        return found[0].snippet

    searched, in_turn = shown(None), shown(InPrompt(file="transcript/web:bob", first=0))

    assert len(searched) <= SNIPPET_CHARS < len(in_turn) <= TURN_SNIPPET_CHARS
    assert [line[0] for line in in_turn.splitlines()] == [*"234567"]
    index.close()


def test_only_the_first_hits_of_a_turn_are_shown_with_text_beside_them() -> None:
    index = Index.in_memory(forgets=0)
    talk = [f"{number} otter" if number % 8 == 0 else f"{number} The heron waits." for number in range(80)]
    chunks = [
        chunk
        for number, text in enumerate(talk)
        for chunk in message_chunks(text, session="web:ann", index=number, time=NOW.isoformat())
    ]
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))
    rows = [(number + 1, 1.0) for number in range(0, 80, 8)]

    def are_wide(prompt: InPrompt | None) -> list[bool]:
        hits = index.ask(lambda found: hits_of(found, rows, limit=10, prompt=prompt, query="Which otter?"))
        return ["\n" in hit.snippet for hit in hits]

    assert are_wide(InPrompt(file="transcript/web:bob", first=0)) == [True] * WIDE_MAX + [False] * (10 - WIDE_MAX)
    assert are_wide(None) == [True] * 10
    index.close()


def test_a_turn_is_told_which_hit_shows_the_text_of_another_unless_only_a_part_of_the_message_is_shown() -> None:
    def shown_by(*texts: str) -> list[tuple[str, bool]]:
        index = Index.in_memory(forgets=0)
        chunks = [
            chunk
            for number, text in enumerate(texts)
            for chunk in message_chunks(text, session="web:ann", index=number, time=NOW.isoformat())
        ]
        index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))
        query, prompt = query_terms("heron otter", NOW), InPrompt(file="transcript/web:bob", first=0)
        hits = index.ask(lambda found: hits_of(found, ranked(found, query, limit=10), limit=10, prompt=prompt))
        index.close()
        text_of = {chunk.docid: chunk.text[:5] for chunk in chunks}
        return [(text_of[hit.docid], bool(hit.shown_by)) for hit in hits]

    assert shown_by("heron otter one", "heron two") == [("heron", False), ("heron", True)]
    before, behind = "We rowed all day. " * 14, " ".join(f"Reed {number} stands high." for number in range(40))
    assert shown_by(f"heron otter one. {before}", f"heron two. {behind}")[1] == ("heron", False)
