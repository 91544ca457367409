import string

from daemon.wording import SENTENCES, text
from tests.tables import each_row


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def test_both_languages_hold_the_same_sentences():
    assert set(SENTENCES["en"]) == set(SENTENCES["zh"])


@each_row("key", SENTENCES["en"])
def test_a_sentence_takes_the_same_values_in_both_languages(key):
    assert placeholders(SENTENCES["en"][key]) == placeholders(SENTENCES["zh"][key])


def test_values_stand_in_their_places_even_with_braces():
    assert text("offline_echo", "en", text="{x} {0}") == "You said: {x} {0}"
    assert text("stopped", "zh") == "[已停止]"


@each_row(
    ("count", "said"),
    [(1, "1 message is queued."), (2, "2 messages are queued."), ("1,640", "1,640 messages are queued.")],
)
def test_a_number_stands_with_its_noun_in_singular_or_plural(count, said):
    assert text("still_setup_fault", "en", count=count).startswith(said)
