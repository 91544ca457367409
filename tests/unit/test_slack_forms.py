from hypothesis import given
from hypothesis import strategies as st

from channels.slack.text_forms import BLOCKS_MAX, MARKDOWN_MAX, length
from channels.text import split

MARKED = st.text(alphabet="ab &<>\n`\U0001f600", max_size=60)


def in_blocks(text: str) -> int:
    """As Slack escapes what it makes blocks of."""
    return len(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def test_a_text_takes_as_much_room_as_it_has_characters_or_more_where_they_are_escaped():
    assert length("a" * 12_000) == 12_000
    assert length("a < b && c > d " * 700) == 10_500 * MARKDOWN_MAX * 29 // 15 // BLOCKS_MAX + 1


@given(MARKED, MARKED, st.integers(1, 2_000))
def test_what_is_as_long_as_a_part_may_be_is_taken_by_slack(text, more, times):
    whole = text * times

    assert (length(whole) <= MARKDOWN_MAX) == (len(whole) <= MARKDOWN_MAX and in_blocks(whole) <= BLOCKS_MAX)
    assert length(whole) <= length(whole + more)  # as ``channels.text.Length`` has to


def test_code_full_of_signs_is_cut_into_parts_that_slack_takes():
    code = "```c\n" + 'if (a < b && c > d) { x = &y; puts("<&>"); }\n' * 1_000 + "```"

    for part in split(code, MARKDOWN_MAX, length):
        assert len(part) <= MARKDOWN_MAX
        assert in_blocks(part) <= BLOCKS_MAX
