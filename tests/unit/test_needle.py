"""What is looked for when something is to be forgotten, and what is left of a text."""

import json
import unicodedata

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from daemon.forget.text_matcher import FORGOTTEN, TextMatcher, core, folded, group_of
from tests.tables import each_row

PIECES = st.sampled_from(
    (
        *("Berlin", "berlin", "ＢＥＲＬＩＮ", "Ber", "lin", "柏林", "柏", "林", "to", "moved", "moved to", "tea", "茶"),
        *("\u200b", "e\u0301", "é", "ﬁ", "\u0338", "ﾞ", "ｶ", '"', "”", FORGOTTEN),
        *(".", "!", "?", "。", "！", "；", ",", " ", "  ", "\n", "\r\n", "\t", "\u3000", "\u2028"),
        *("- ", "1. ", "# ", "[?] ", "[2026-11-20 09:12] ", "USER: "),
    )
)
TEXTS = st.lists(PIECES, max_size=24).map("".join)
NEEDLES = st.sampled_from(
    ["berlin", "Berlin", "柏林", "moved to Berlin", "é", "fi", "lin.", "tea berlin", "ガ", "forgotten"]
)


@given(TEXTS, NEEDLES)
@example("Ber\u200blin", "berlin")
@example("moved to.\n- Berlin", "moved to Berlin")
@example("Berlin\u0338", "berlin")
def test_what_is_left_of_a_text_holds_nothing_of_what_was_looked_for(text: str, needle: str) -> None:
    left = TextMatcher(needle).redacted(text)

    assert TextMatcher(needle).hits(left) == []
    assert TextMatcher(needle).phrase not in folded(left.replace(FORGOTTEN, ""))
    assert TextMatcher(needle).redacted(left) == left


@given(TEXTS, NEEDLES)
def test_a_text_without_it_stays_as_it_is(text: str, needle: str) -> None:
    if not TextMatcher(needle).stands_in(text):
        assert TextMatcher(needle).redacted(text) is text
        assert TextMatcher(needle).hits(text) == []


@given(TEXTS, NEEDLES, st.booleans())
@example("to.\n- Berlin", "to berlin", False)
def test_json_that_is_not_worth_decoding_holds_it_in_no_text(text: str, needle: str, is_within: bool) -> None:
    raw = msgspec.json.encode(text)
    if is_within:  # as what a tool is called with, JSON in a text of JSON
        raw = msgspec.json.encode({"arguments": json.dumps({"text": text})})

    if TextMatcher(needle).hits(text):
        assert TextMatcher(needle).may_stand_in(raw)


def test_plain_json_without_it_is_not_worth_decoding() -> None:
    assert not TextMatcher("in Berlin").may_stand_in(b'{"text":"in Bern"}')
    assert not TextMatcher("\u67cf\u6797").may_stand_in(b'{"text":"in Bern"}')
    assert TextMatcher("in Berlin").may_stand_in(b'{"text":"BERLIN"}')


@given(
    st.lists(st.sampled_from(["I like tea.", "我喜欢茶。", "She said no!", "- a list", "[?] USER: hello"]), max_size=8)
)
def test_lines_that_do_not_hold_it_are_left_as_they_are(lines: list[str]) -> None:
    with_it = [piece for line in lines for piece in (line, "I moved to Berlin.")]

    assert TextMatcher("berlin").redacted("\n".join(with_it)).splitlines() == lines


@given(TEXTS)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(TEXTS, NEEDLES)
def test_choosing_every_unit_leaves_none(text: str, needle: str) -> None:
    chosen = {group_of(hit) for hit in TextMatcher(needle).hits(text)}
    left = TextMatcher(needle, chosen).redacted(text)

    assert not {group_of(hit) for hit in TextMatcher(needle).hits(left)} & chosen


@each_row(
    ("needle", "text", "left"),
    [
        ("berlin", "# Ann\n- lives in Berlin\n- likes tea\n", "# Ann\n- likes tea\n"),
        ("BERLIN", "I moved to Berlin. I like tea.", "I like tea."),
        ("berlin", "I like tea. I moved to Berlin.", "I like tea."),
        ("berlin", "[2026-11-20 09:12] Ann moved to Berlin. She likes tea.", "[2026-11-20 09:12] She likes tea."),
        ("berlin", "[2026-11-20 09:12] Ann moved to Berlin.\n", f"[2026-11-20 09:12] {FORGOTTEN}\n"),
        ("柏林", "我住在柏林。我喜欢茶！柏林很大", "我喜欢茶！"),
        ("ｂｅｒｌｉｎ", "in Berlin", ""),
        ("berlin germany", "in Berlin,\nin Germany. In\tBerlin\nGermany", "in Berlin,\nin Germany.\n"),
        ("car blue", "A blue car. A blue carpet. Cars are blue.", "A blue carpet. Cars are blue."),
        ("user", "[2026-11-20 09:12] USER: hello", "[2026-11-20 09:12] USER: hello"),
        ("hello", "[2026-11-20 09:12] USER: hello\n", f"[2026-11-20 09:12] USER: {FORGOTTEN}\n"),
        ("3.5", "It costs 3.5 euro. Fine.", "Fine."),
        ("first", "1. first\n2. second", "2. second"),
    ],
)
def test_units_go_as_a_whole(needle: str, text: str, left: str) -> None:
    assert TextMatcher(needle).redacted(text) == left


def test_of_several_that_hold_it_those_go_that_were_chosen() -> None:
    text = "- lives in Berlin\n- Berlin is cold\n- likes tea"

    assert TextMatcher("berlin", {group_of("Berlin is cold.")}).redacted(text) == "- lives in Berlin\n- likes tea"


@each_row(
    "same", ["- lives in Berlin", "[2026-11-20 09:12] USER: Lives in  Berlin.", "“lives in Berlin”", "LIVES IN BERLIN"]
)
def test_copies_of_a_sentence_are_known_as_one(same: str) -> None:
    assert group_of(same) == group_of("lives in Berlin")
    assert core(same) == "lives in berlin"


def test_letters_made_of_several_signs_are_found_however_they_are_made() -> None:
    composed, apart = "café", unicodedata.normalize("NFD", "café")

    assert TextMatcher(composed).redacted(f"the {apart}") == TextMatcher(apart).redacted(f"the {composed}") == ""
