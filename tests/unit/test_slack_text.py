from hypothesis import given
from hypothesis import strategies as st

from channels.slack.mrkdwn import people_in, plain, unescaped, without_call
from tests.tables import each_row

NAMES = {"U1": "Ann Lee", "W2": "Bo"}


@each_row(
    ("written", "read"),
    [
        ("hello", "hello"),
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("<@U1> and <@W2|bo>", "@Ann Lee and @Bo"),
        ("<@U9|cy> and <@U8>", "@cy and @U8"),
        ("see <#C1|general> and <#C2> and <#C3|>", "see #general and #C2 and #C3"),
        ("<https://x.org/?a=1&amp;b=2>", "https://x.org/?a=1&b=2"),
        ("<https://x.org|the &lt;site&gt;>", "[the <site>](https://x.org)"),
        ("<http://x.org|x.org> <https://X.org/|https://X.org/>", "x.org https://X.org/"),
        ("<mailto:a@x.org|a@x.org> <tel:+123|+1 23>", "a@x.org +1 23"),
        ("<!here> <!channel|@channel> <!everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@frogs> <!subteam^S2>", "@frogs @S2"),
        ("<!date^1392734382^{date}|18 February>", "18 February"),
        ("&lt;@U1&gt; is no mention", "<@U1> is no mention"),
        ("a < b > c <> <\n>", "a < b > c <> <\n>"),
        ("*bold* _it_ `code` :tada:", "*bold* _it_ `code` :tada:"),
        ("half \ud83d", "half ?"),
    ],
)
def test_slacks_writing_reads_as_people_read_it(written, read):
    assert plain(written, NAMES) == read


@each_row(
    ("text", "rest"),
    [
        ("<@U1> hello", "hello"),
        (" <@U1|pond>, hello", "hello"),
        ("<@U1> <@U1>: hello", "hello"),
        ("<@U1>", ""),
        ("<@U12> hello", "<@U12> hello"),
        ("hello <@U1>", "hello <@U1>"),
        ("&lt;@U1&gt; hello", "&lt;@U1&gt; hello"),
    ],
)
def test_a_name_that_a_text_begins_with_is_taken_away(text, rest):
    assert without_call(text, "U1") == rest


def test_the_people_in_a_text_are_found_by_their_ids():
    assert list(people_in("<@U1> <#C1|x> <@W2|bo> <!here> &lt;@U3&gt; <https://x|@U4>")) == ["U1", "W2"]


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@given(st.text())
def test_whatever_a_person_writes_is_read_as_it_was_written(text):
    assert unescaped(escaped(text)) == text
    assert plain(escaped(text)) == text


@given(st.text(alphabet="<>@#!|^&;ltgUC1 ab\n\ud83d", max_size=80))
def test_any_text_can_be_read_and_stored(text):
    plain(text, NAMES).encode()
    list(people_in(text))


@each_row(
    ("mark", "read", "rest"),
    [("<@U1 ", "<@U1 ", "<@U1 "), ("<@U1>", "@U1", ""), ("<", "<", "<"), (" ", " ", " "), ("<@U1>, ", "@U1, ", "")],
)
def test_a_long_text_of_marks_is_read_whole(mark, read, rest):
    """On these shapes an expression that goes back would take minutes."""
    assert plain(mark * 40_000) == read * 40_000
    assert without_call(mark * 40_000, "U1") == rest * 40_000
