from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import each_row
from workers.consolidation.summary.log_rendering import Line
from workers.consolidation.summary.summary_request import (
    chunk_ratio,
    chunk_tokens,
    chunks,
    compacted_note,
    is_oversized,
    pieces,
    skipped_mark,
)

WINDOWS = st.integers(4_096, 2_000_000)
SIZES = st.lists(st.integers(0, 300_000), max_size=60)
LINES = SIZES.map(lambda sizes: [Line(str(at), tokens) for at, tokens in enumerate(sizes)])


def test_small_messages_have_the_full_ratio():
    assert chunk_ratio([], 65_536) == 0.4
    assert chunk_ratio([100] * 50, 65_536) == 0.4
    assert chunk_ratio([5_461], 65_536) == 0.4  # 5,461 x 1.2 is just below a tenth


@each_row(("size", "ratio"), [(10_000, 0.4 - 0.24), (9_000, 0.4 - 0.216), (12_000, 0.15), (90_000, 0.15)])
def test_large_messages_make_chunks_smaller(size, ratio):
    """With a window of 100,000."""
    assert chunk_ratio([size] * 3, 100_000) == pytest.approx(ratio)


@each_row(
    ("window", "ratio", "reserve", "tokens"),
    [
        (65_536, 0.4, 16_384, 13_107),
        (200_000, 0.4, 20_000, 60_000),
        (200_000, 0.15, 20_000, 15_000),
        (4_096, 0.4, 0, 1_638),
    ],
)
def test_the_reserve_takes_at_most_half_of_a_chunk(window, ratio, reserve, tokens):
    assert chunk_tokens(window, ratio, reserve) == tokens


def test_a_message_is_oversized_above_half_the_window():
    assert not is_oversized(25_000, 60_000)
    assert is_oversized(25_001, 60_000)


@given(SIZES, WINDOWS, st.integers(0, 20_000))
def test_a_chunk_is_never_nothing_and_never_above_its_share(sizes, window, reserve):
    ratio = chunk_ratio(sizes, window)

    assert 0.15 <= ratio <= 0.4
    assert 0 < chunk_tokens(window, ratio, min(reserve, window // 4)) <= 0.4 * window
    assert not is_oversized(chunk_tokens(window, ratio, 0), window)


@given(LINES, st.integers(1, 100_000))
def test_chunks_hold_every_line_once_in_order_and_keep_to_the_limit(lines, limit):
    found = chunks(lines, limit)

    assert [line for chunk in found for line in chunk] == lines
    for chunk in found:
        assert (
            sum(line.tokens for line in chunk) <= limit or len(chunk) == 1 or not any(line.tokens for line in chunk[1:])
        )


@given(LINES, st.integers(1, 100_000))
def test_no_two_chunks_could_be_one(lines, limit):
    found = chunks(lines, limit)

    for one, following in pairwise(found):
        assert sum(line.tokens for line in one) + following[0].tokens > limit


@given(st.text(st.sampled_from("ab\n")), st.integers(2, 50))
def test_pieces_are_the_whole_text_and_keep_to_the_limit(text, limit):
    found = pieces(text, limit, len)

    assert "".join(piece.text for piece in found) == text.replace("\n", "")
    assert all(piece.tokens <= limit for piece in found)
    if all(len(line) < limit for line in text.split("\n")):
        assert "\n".join(piece.text for piece in found) == text


def test_what_is_skipped_is_counted():
    lines = [Line("a", 30_000), Line("b", 31_000), Line("c", 10)]

    assert skipped_mark(lines[:2]).startswith("[Skipped 2 oversized messages (61000 tokens total)")
    assert compacted_note(lines, 2).startswith(
        "[Session context was compacted: 3 messages, 61010 tokens. 2 oversized messages were excluded"
    )
