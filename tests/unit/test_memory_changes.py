"""Changes of MEMORY.md beside the runtime context."""

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import each_row
from workers.agent.prompt.history_loader import changes_block, changes_of, most_chars

TEXTS = st.lists(st.sampled_from(["# A", "# B", "- one", "- two", "", "- three"]), max_size=12).map("\n".join)


@each_row(
    "old, new, changes",
    [
        ("", "", ""),
        ("- one", "- one\n\n- two", "+ - two"),
        ("- one\n- two", "- two", "- - one"),
        ("# A\n- one\n# B\n- one", "# A\n- one\n# B\n- one\n- two", "  # B\n+ - two"),
        ("# A\n- one", "# A\n- two\n# C\n- three", "  # A\n- - one\n  # A\n+ - two\n+ # C\n+ - three"),
        ("- one\n- two", "- two\n- one", ""),
    ],
)
def test_changes_are_the_lines_that_went_and_those_that_came_below_their_headings(old: str, new: str, changes: str):
    assert changes_of(old, new) == changes


@given(TEXTS, TEXTS)
def test_changes_turn_the_lines_of_one_version_into_those_of_the_other(old: str, new: str) -> None:
    lines = [line for line in old.splitlines() if line]
    for change in changes_of(old, new).splitlines():
        if change.startswith("- "):
            lines.remove(change[2:])
        elif change.startswith("+ "):
            lines.append(change[2:])

    assert sorted(lines) == sorted(filter(None, new.splitlines()))


def test_no_changes_make_no_section_and_a_small_window_allows_fewer() -> None:
    assert changes_block("", "en") == ""
    assert (most_chars(56_320), most_chars(2_048)) == (4_000, 409)
