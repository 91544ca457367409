"""The check of texts finds the habits that ``docs/style.md`` warns of, and only in texts that people read."""

from tests.style.rules import RULES, broken
from tests.style.sample import is_judged, near
from tests.style.texts import Sentence, of_html, of_markdown, of_python, of_script
from tests.tables import each_row

PAGE = """# What it hears

A paragraph of
two lines. It has [a link](https://example.org/who "Who") and `code <name>`.

```sh
Who reads this?
```

    indented code of a page

| key | meaning |
|---|---|
| `a` | What waits here |

1. An item. **Bold** words
   end it.
"""

MODULE = """'''A docstring is not extracted.'''
raise InboundError(f"the session {key.name!r} was not found; list all")
query = "SELECT one FROM two WHERE three"

@click.command()
def send():
    '''Send one message to a session.'''
"""

SCRIPT = """// A comment isn't extracted
h("div.row.wrap", "Start a new conversation", `${n} of ${all ? `all the messages` : ""}`, /['"]/, "Unsettled");
"""

BREAKING = (
    *("What waits is listed.", "Who asks is the owner", "**What it hears**", "That is the one of the group."),
    *("There is none.", "Redis is away.", "The server ends by itself.", "The bot hears everybody.", "Let in a person."),
    *(
        "This was overheard.",
        "It answers aside.",
        "The chat is resting.",
        "The turn has settled.",
        "It sums up the turns.",
    ),
    *("This is seldom said.", "It parts them.", "The job passes again.", "See what waits.", "The model names no tool."),
    *(
        "It tells an id.",
        "It reaches out of here.",
        "Nobody but admins may.",
        "Not just now.",
        "The message was brought.",
    ),
    *("Ask whoever knows.", "It takes the place of a file.", "See what stands there.", "The time ran out."),
    *("Redis is down for a while.", "Use what is there without a key."),
)

PLAIN = (
    *("What is pending?", "The worker waits until the lease expired.", "`what waits` is a key.", "Set it aside."),
    *("{what}: the list was not found.", "What to do", "All but two stay.", "A line stands below its heading."),
    *("Log in to the page.", "Conversations never run out of context.", "The rest of the messages stays."),
)

NOT_DRAWN = (
    ("docs/a.md", "`tests/unit/test_a.py` (`test_one_thing`), `tests/unit/test_b.py` and `tests/canary`."),
    ("docs/a.md", "join_take, join_text, join_end, join_mark or join_switch"),
    ("docs/a.md", "The delays of retries from `leader_term` → `retry_schedule`"),
    ("docs/style.md", 'The sentence "What changed meanwhile counts" is not acceptable.'),
    ("docs/style.md", "hears; is heard; is let in (of messages)"),
    ("daemon/a.py", "Too many messages arrived in the"),
)
"""Cells of code and names, examples of bad sentences and cut strings, which are no prose for a reader to judge."""

DRAWN = (
    ("docs/a.md", "Run `millpond doctor` and `millpond page`."),
    ("docs/style.md", "Put the subject first in each sentence."),
)


def texts(found) -> list[tuple[int, str]]:
    return [(each.line, each.text) for each in found]


def test_a_page_is_split_into_sentences_headings_items_and_cells() -> None:
    assert texts(of_markdown("docs", "docs/a.md", PAGE)) == [
        (1, "What it hears"),
        (3, "A paragraph of two lines."),
        (4, "It has a link and `code <name>`."),
        (12, "key"),
        (12, "meaning"),
        (14, "What waits here"),
        (16, "An item."),
        (16, "Bold words end it."),
    ]


def test_a_module_gives_the_texts_of_its_errors_and_the_help_of_its_commands() -> None:
    assert texts(of_python("errors", "a.py", MODULE)) == [
        (2, "the session {name} was not found; list all"),
        (7, "Send one message to a session."),
    ]


def test_a_script_gives_its_labels_and_texts_without_selectors_and_comments() -> None:
    assert texts(of_script("page", "a.js", SCRIPT)) == [
        (2, "Start a new conversation"),
        (2, "all the messages"),
        (2, "{value} of {value}"),
        (2, "Unsettled"),
    ]
    assert texts(of_html("page", "a.html", '<a aria-label="Go back">\nHome</a>')) == [(1, "Go back"), (2, "Home")]


def test_a_sentence_is_drawn_with_the_heading_option_or_message_that_surrounds_it() -> None:
    module = """
raise SendError(f"The key {key} was rejected. Check the key.")
send = click.option("--key", help="Key of the server.")
"""

    assert [near(each) for each in of_markdown("docs", "docs/a.md", PAGE) if each.line in (4, 12, 14)] == [
        "What it hears › A paragraph of two lines. […]",
        *("What it hears › […]", "What it hears › key › […]"),
        "What it hears › `a` › meaning › […]",
    ]
    assert near([*of_markdown("docs", "docs/a.md", "The keys are:\n\n- Name.\n  - Type.")][-1]) == "The keys are: › […]"
    assert [near(each) for each in of_python("errors", "a.py", module)] == [
        "[…] Check the key.",
        "The key {key} was rejected. […]",
        "--key › […]",
    ]


@each_row("text", BREAKING)
def test_a_habit_is_found(text: str) -> None:
    assert broken(Sentence("docs", "docs/a.md", 1, text))


@each_row("text", PLAIN)
def test_a_plain_sentence_passes(text: str) -> None:
    assert broken(Sentence("docs", "docs/a.md", 1, text)) == []


def test_each_rule_is_broken_by_an_example() -> None:
    found = {rule for text in BREAKING for rule in broken(Sentence("docs", "docs/a.md", 1, text))}

    assert set(RULES) == found


@each_row(("path", "text", "drawn"), [*((*row, False) for row in NOT_DRAWN), *((*row, True) for row in DRAWN)])
def test_prose_is_drawn_for_a_reader_and_code_and_bad_examples_are_not(path: str, text: str, drawn: bool) -> None:
    assert is_judged(Sentence("docs", path, 1, text)) is drawn
