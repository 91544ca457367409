"""How versions of a memory are compared for people, and how words are looked for in one. Pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.memory import HistoryEntry, Note, Passage, found_in, passages_of, text_diff
from daemon.memory.text_diff import lines
from tests.tables import each_row

TEXTS = st.lists(st.text(alphabet="ab c\n-小明.", max_size=30), max_size=6).map("\n".join)


def side(found: list[text_diff.Line], *marks: str) -> str:
    """The characters of one of the two texts, without blanks and ends of lines."""
    return "".join("".join(text.split()) for line in found for mark, text in line if mark in marks)


@given(old=TEXTS, new=TEXTS)
def test_both_texts_stand_in_what_changed(old: str, new: str) -> None:
    found = lines(old, new)

    assert side(found, "same", "gone") == "".join(old.split())
    assert side(found, "same", "new") == "".join(new.split())
    assert all(line for line in found)


@given(text=TEXTS)
def test_a_text_that_stayed_has_no_changes(text: str) -> None:
    assert lines(text, text) == [[("same", line)] for line in text.splitlines()]


def test_words_are_compared_within_a_line_and_characters_where_there_are_no_blanks() -> None:
    assert lines("- Ann likes green tea.\nend", "- Ann likes black tea.\nend") == [
        [("same", "- Ann likes "), ("gone", "green"), ("new", "black"), ("same", " tea.")],
        [("same", "end")],
    ]
    assert lines("小明住在上海", "小明住在北京") == [[("same", "小明住在"), ("gone", "上海"), ("new", "北京")]]


@each_row("limit", ["LINES_MAX", "WORDS_MAX"])
def test_what_is_too_long_to_be_compared_went_and_came(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_diff, limit, 1)

    assert lines("green tea", "black tea") == [[("gone", "green tea")], [("new", "black tea")]]


def test_two_texts_that_share_nothing_and_are_long_are_compared_within_a_bound() -> None:
    old, new = (" ".join(f"{word}{n}" for n in range(100_000)) for word in ("a", "b"))

    assert [mark for line in lines(old, new) for mark, _ in line] == ["gone", "new"]


def passages(*texts: str) -> list[Passage]:
    return [Passage(source="memory", text=text) for text in texts]


@given(
    texts=st.lists(st.text(alphabet="ab 小明\n", max_size=20), max_size=8),
    words=st.text(alphabet="ab 小", max_size=6),
    limit=st.integers(1, 9),
)
def test_what_is_found_holds_a_word_and_nothing_that_does_is_missed(texts: list[str], words: str, limit: int) -> None:
    found = found_in(passages(*texts), words, limit=limit)

    def has(text: str) -> bool:
        split = text.replace("小", " 小 ").replace("明", " 明 ").split()
        return any(word in split for word in words.replace("小", " 小 ").split())

    assert len(found) == min(limit, sum(map(has, texts)))
    assert all(has(each.passage.text) and each.score > 0 for each in found)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_a_rare_word_counts_more_than_a_frequent_one_and_case_and_width_count_nothing() -> None:
    texts = passages("tea tea", "tea with herons", "tea again", "TEA", "ＴＥＡ")

    assert found_in(texts, "tea herons", limit=1)[0].passage.text == "tea with herons"
    assert len(found_in(texts, "tea", limit=9)) == 5


def test_a_memory_falls_into_paragraphs_and_points() -> None:
    entry = HistoryEntry(time="t", session="s", first=0, upto=1, kind="raw", text="[2026-11-20 09:00] A")
    note = Note(time="n", date="2026-11-20", session="s", cycle=0, text="B")

    found = passages_of("# Known\n\nA paragraph\nof two lines\n- a point\n- another\n\n\n", [entry], [note])

    assert [(each.source, each.text, each.index) for each in found] == [
        ("memory", "# Known", None),
        ("memory", "A paragraph\nof two lines", None),
        ("memory", "- a point", None),
        ("memory", "- another", None),
        ("history", "[2026-11-20 09:00] A", 0),
        ("notes", "B", None),
    ]
