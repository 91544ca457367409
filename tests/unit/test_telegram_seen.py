"""What the forms of a text come to on a platform as strict as its documentation: nothing refused, no word lost."""

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from channels.telegram.text_forms import TEXT_MAX, TextForm, forms_of
from tests.fakes.telegram import rich
from tests.fakes.telegram.entities import units, wrong_with

MARKS = [
    *("*", "**", "***", "_", "__", "~~", "~", "`", "``", "```", "\n```\n", "\n~~~py\n", "$", "$$", "==", "||", "++"),
    *("<", ">", "</", "/>", "<b>", "<br>", "<!--", "-->", "&", "&amp;", "&#42;", "\\", "\\\\", "\\*", "\\\n"),
    *("[", "](", "](HTTP://X)", "](tg://user?id=1)", "![", "[^", "] ", ")", "(", "{", "}", "!", "|", "#", "@", "/"),
    *("\n", "\n\n", "  \n", "\n# ", "\n###### ", "\n> ", "\n> > ", "\n- ", "\n  - ", "\n1. ", "\n* [ ] ", "\n---\n"),
    *("\n    ", "\t", " ", "\u00a0", "\u200b", "\u202e", "\U0001f600", "\U0001f468\u200d\U0001f469", "e\u0301", "水"),
    *("\n===\n", "\nX\n---\n", ":", "a@b.co", "openai:A@B.CO", "http://X.Y/_Z_", "\r\n", "\0"),
]
WORD = re.compile(r"k[a-j]{3}z")


def _word(number: int) -> str:
    return "k" + "".join(chr(97 + int(digit)) for digit in f"{number:03}") + "z"


@st.composite
def markdowns(draw: st.DrawFn) -> str:
    marks = draw(st.lists(st.lists(st.sampled_from(MARKS), max_size=3).map("".join), min_size=1, max_size=25))
    return "".join(mark + _word(number) for number, mark in enumerate(marks))


def _seen(form: TextForm) -> str | None:
    """What a person sees of it; None when the platform refuses it, as it may a rich message."""
    if not form.rich:
        text, entities = form.fields["text"], form.fields.get("entities", [])
        assert wrong_with(text, entities) == ""
        assert 1 <= units(text) <= TEXT_MAX
        assert text.strip()
        return str(text)
    try:
        found = rich.read(form.fields["rich_message"]["markdown"])
    except rich.Unreadable as error:
        assert "EMAIL" in str(error) or "empty" in str(error)
        return None
    assert found.tags == ()
    return found.text


@settings(max_examples=80)
@given(markdowns())
@example("**kaaaz *kaabz** kaacz*")
@example("> - ```\n> kaaaz\nkaabz")
@example("a $kaaaz$ b <kaabz> ==kaacz== ||kaadz||")
# Pictures, which the platform would fetch, beside backticks that begin or end no code
@example(r"**kaaaz** \`![kaabz](http://x)\` \`<img src=x>\`")
@example("**kaaaz** <https://x/`>\n` kaabz ` ![kaacz](http://x) ` kaadz `")
@example("**kaaaz** `` ` kaabz ` ![kaacz](http://x) ` kaadz `")
@example("|`kaaaz|![kaabz](http://x) `|\n|-|-|\n|`kaacz|![kaadz](http://x) `|")
@example("|`kaaaz\\|`![kaabz](http://x) `|\n|-|")
@example("**kaaaz** `\n<div>\n![kaabz](http://x) `")
@example("<div>\n`\n` ![kaaaz](http://x) `\n</div>\n\n**kaabz**")
@example("> <div>\n    ![kaaaz](http://x)\n\n**kaabz**")
def test_no_form_of_a_text_loses_a_word_or_is_refused(text: str) -> None:
    # What stands behind ``[x]:``, or names the language of code, is no text.
    said = WORD.findall(re.sub(r"(`{3,}|~{3,})[^\n`]*", " ", text))

    for form in forms_of(text):
        seen = _seen(form)
        if seen is not None:
            missing = [word for word in said if word not in seen]
            assert missing == [], (form.rich, seen)
