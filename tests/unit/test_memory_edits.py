"""A person's edit of a memory that has moved on: the person's text, and below it all that came since."""

from hypothesis import given
from hypothesis import strategies as st

from daemon.memory.text_diff import edited
from tests.tables import each_row

texts = st.lists(st.sampled_from(["# Ann", "- tea", "- Rome", "- a cat", "- a dog", "", "  ", "- a cat "])).map(
    "\n".join
)


@given(texts, texts)
def test_an_edit_of_the_current_text_is_taken_as_it_is(text: str, of: str) -> None:
    assert edited(text, of=of, current=of) == text


@given(texts, texts, texts)
def test_a_persons_text_stays_and_every_line_that_came_since_is_there_once_more_at_most(
    text: str, of: str, current: str
) -> None:
    result = edited(text, of=of, current=current)

    assert result.startswith(text.rstrip())
    lines = {line.strip() for line in result.splitlines()}
    known = lines | {line.strip() for line in of.splitlines()} | {""}
    assert {line.strip() for line in current.splitlines()} <= known
    below = {line.strip() for line in result[len(text.rstrip()) :].splitlines() if line.strip()}
    assert below.isdisjoint({line.strip() for line in (*of.splitlines(), *text.splitlines())} - {""})


@given(texts, texts, texts)
def test_what_was_merged_once_is_not_merged_again(text: str, of: str, current: str) -> None:
    result = edited(text, of=of, current=current)

    assert edited(result, of=of, current=current).strip() == result.strip()


@each_row(
    ("text", "current", "expected"),
    [
        ("- coffee\n", "- tea\n- a cat\n", "- coffee\n\n- a cat\n"),
        ("- coffee", "- tea", "- coffee"),
        ("", "- tea\n\n\n\n- a cat\n\n\n- a dog", "- a cat\n\n- a dog\n"),
        ("- a cat\n", "- tea\n- a cat  \n", "- a cat\n"),
        ("- coffee\n\n\n", "# Ann\n  - a cat\n", "- coffee\n\n# Ann\n  - a cat\n"),
    ],
)
def test_what_came_since_stands_below_what_the_person_wrote(text: str, current: str, expected: str) -> None:
    assert edited(text, of="- tea\n", current=current) == expected
