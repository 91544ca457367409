"""What is found in a message, and what is shown of it."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.transcripts import Piece, SearchWords
from daemon.transcripts.transcript_search import EXCERPT_CHARS, hits
from tests.conftest import an_entry
from tests.tables import each_row


@each_row(
    ("needle", "text", "found"),
    [
        ("tea", "I like TEA.", True), ("tea", "I like coffee.", False), ("like tea", "Tea is what I like.", True),
        ("like tea", "Tea is what I drink.", False), ("python", "我喜欢用Ｐｙｔｈｏｎ", True),
        ("喜欢", "我喜欢用Python", True), ("喜欢 java", "我喜欢用Python，不用JavaScript", True),
        ("strasse", "Hauptstraße 3", True), ("İ", "i̇stanbul", True), ("ﬁn", "the final", True),
    ],
)  # fmt: skip
def test_all_words_are_found_in_any_case_and_width(needle: str, text: str, found: bool) -> None:
    assert bool(SearchWords(needle).excerpt(text)) is found


@given(st.text(max_size=300), st.text(max_size=300), st.sampled_from(["needle", "针", "ﬁßİ"]))
def test_an_excerpt_is_short_and_shows_what_was_found(before: str, after: str, needle: str) -> None:
    excerpt = SearchWords(needle).excerpt(f"{before} {needle} {after}")

    assert excerpt
    assert len(excerpt) <= EXCERPT_CHARS + 2
    assert "\n" not in excerpt
    if before.isascii():
        assert needle in excerpt
    raw = msgspec.json.encode(an_entry(0, text=f"{before} {needle} {after}"))
    assert hits("web:ann", Piece(first=0, upto=1, raws=[raw]), SearchWords(needle)), (
        "no match is skipped before decoding"
    )


def test_nothing_to_look_for_is_refused() -> None:
    with pytest.raises(ValueError, match="is empty"):
        SearchWords(" \n")


def test_calls_results_and_parts_are_looked_at_and_what_is_spoilt_too() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "grep"}}]}
    call["tool_calls"][0]["function"]["arguments"] = '{"pattern": "\\u8336"}'  # type: ignore[index]
    parts = {"role": "user", "content": [{"type": "text", "text": "green 茶"}, {"type": "image_url", "image_url": {}}]}
    raws = [
        msgspec.json.encode(msgspec.structs.replace(an_entry(0), wire=msgspec.Raw(msgspec.json.encode(wire))))
        for wire in (call, parts, {"role": "tool", "tool_call_id": "c", "content": "no 茶 left"})
    ]
    piece = Piece(first=7, upto=11, raws=[*raws, '{"broken 茶'.encode()])

    assert [hit.index for hit in hits("web:ann", piece, SearchWords("茶"))] == [7, 8, 9, 10]
    assert [hit.index for hit in hits("web:ann", piece, SearchWords("grep"))] == [7]
    quoted = msgspec.json.encode(an_entry(0, text='say "tea" twice'))
    assert hits("web:ann", Piece(first=0, upto=1, raws=[quoted]), SearchWords('"tea"'))
