"""Where texts are cut on their way to a platform: pure, so by properties."""

import re
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from channels.text import beginning, pieces, split
from channels.text.markdown_blocks import blocks
from channels.text.text_split import is_boundary
from tests.steps import grows_evenly
from tests.tables import each_row

WHOLE = (
    "👨‍👩‍👧‍👦",  # a family: four emoji joined to one
    "👍🏽",  # with a colour of skin
    "🇩🇪",  # a flag: two letters
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # Scotland's: letters as tags
    "1\ufe0f\u20e3",  # a key cap
    "e\u0301",
    "ก็",
    "각",
    "क्ष",
    "❤️‍🔥",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A",
    "\r\n",
)
"""What people see as one character each (the last but one as two)."""

ONE = [whole for whole in WHOLE if not whole.endswith("A")]

prose = st.lists(
    st.sampled_from(
        [
            *("word", "a", "我们", "longer-word", "`inline code`", "[a link](https://example.org/x_y)", "**bold**"),
            *ONE,
            *(
                " ",
                " ",
                "\n",
                "\n\n",
                ". ",
                "。",
                "# heading\n",
                "- item\n",
                "| a | b |\n",
                "https://example.org/a?b=c",
            ),
            *("```\n", "```py\n", "~~~\n", "x = 1\n", "    ```\n"),
        ]
    ),
    max_size=80,
).map("".join)
texts = prose | st.text(max_size=200) | st.text(st.sampled_from("ab \n.。我`~#|"), max_size=200)


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


lengths = st.sampled_from([len, utf16])


def bare(text: str) -> str:
    """What remains without blanks and without the lines that open and close code."""
    return "".join(re.sub(r"^[ \t]*(`{3,}|~{3,}).*$", "", text, flags=re.MULTILINE).split())


@given(texts, st.integers(2, 60), lengths)
@settings(max_examples=120)
def test_no_part_is_too_long_or_blank(text, longest, length):
    assert all(0 < length(part) <= longest and part.strip() for part in split(text, longest, length))


@given(texts.filter(lambda text: "```" not in text and "~~~" not in text), st.integers(2, 60), lengths)
@settings(max_examples=120)
def test_joined_the_parts_are_the_text_but_for_blank_stretches(text, longest, length):
    at = 0
    for part in split(text, longest, length):
        found = text.index(part, at)
        assert not text[at:found].strip()
        at = found + len(part)
    assert not text[at:].strip()


@given(prose, st.integers(70, 160), lengths)
@settings(max_examples=120)
def test_with_code_nothing_is_added_but_lines_that_open_and_close_it(text, longest, length):
    assert bare("\n".join(split(text, longest, length))).replace("`", "").replace("~", "") == bare(text).replace(
        "`", ""
    ).replace("~", "")


@each_row("before", ["word " * 15 + "abcde", "word " * 15 + "abcd ", "x" * 80, "x" * 79 + " ", "x" * 76 + "````"])
def test_what_stands_within_a_line_opens_no_code_in_the_next_part(before: str) -> None:
    text = f"{before}```py x\ny = 1\n"
    _, second = split(text, 80)

    assert not next(iter(blocks(second))).fence
    assert "".join(split(text, 80)) == text


def test_code_that_is_cut_within_a_line_is_not_closed_by_what_stands_in_it() -> None:
    text = "```py\n" + "x" * 62 + "```\nx = 1\n```\n"
    first, second = split(text, 72)

    assert first == "```py\n" + "x" * 61 + "\n```"
    assert second == "```py\nx```\nx = 1\n```\n"


@given(texts)
def test_blocks_cover_the_text(text):
    found = list(blocks(text))

    assert "".join(text[block.begin : block.end] for block in found) == text
    assert all(block.begin < block.end for block in found)


@given(texts, st.integers(1, 60), st.integers(1, 4), lengths)
def test_the_same_text_gives_the_same_pieces(text, longest, parts_max, length):
    once = pieces(text, longest, length, parts_max=parts_max)

    assert once == pieces(text, longest, length, parts_max=parts_max)
    assert len(once) <= parts_max


@given(texts, st.integers(8, 60), st.integers(1, 4), lengths)
def test_what_takes_too_many_parts_is_a_beginning_and_the_whole(text, longest, parts_max, length):
    found = pieces(text, longest, length, parts_max=parts_max)

    if len(split(text, longest, length)) > parts_max:
        [piece] = found
        assert piece.document == text
        assert length(piece.text) <= longest
    else:
        assert [piece.text for piece in found] == split(text, longest, length)
        assert not any(piece.document for piece in found)


@given(texts, st.integers(4, 60), lengths)
def test_a_beginning_fits_and_begins_the_text(text, longest, length):
    begun = beginning(text, longest, length)

    assert length(begun) <= longest
    assert begun == text or begun.endswith("…") or not text.strip()


@each_row("whole", ONE)
@each_row("longest", range(24, 40))
def test_what_people_see_as_one_character_is_cut_nowhere(whole, longest):
    for before in range(8):
        text = "x" * before + whole * 30
        for part in split(text, longest, utf16):
            assert part.strip("x").replace(whole, "") == ""


@each_row("whole", ONE)
def test_a_character_made_of_several_has_boundaries_around_it_alone(whole):
    text = f"a{whole}b"

    assert [at for at in range(len(text) + 1) if is_boundary(text, at)] == [0, 1, len(text) - 1, len(text)]


def test_flags_side_by_side_are_parted_between_them():
    text = "🇩🇪🇫🇷🇮🇹"

    assert [at for at in range(7) if is_boundary(text, at)] == [0, 2, 4, 6]


@given(st.text(max_size=60))
def test_a_mark_is_never_parted_from_what_it_stands_on(text):
    for at in range(1, len(text)):
        if unicodedata.category(text[at]) in ("Mn", "Me"):
            assert not is_boundary(text, at)


def test_a_character_longer_than_a_part_is_cut_all_the_same():
    assert "".join(split("e" + "\u0301" * 100, 10)) == "e" + "\u0301" * 100


@each_row(
    ("text", "parts"),
    [
        ("one two three", ["one two ", "three"]),
        ("first line\n\nsecond", ["first ", "line\n\n", "second"]),
        ("aaaaa\n\nbbb ccc", ["aaaaa\n\n", "bbb ccc"]),
        ("a. bbbbbbbbbbbb", ["a. bbbbbbb", "bbbbb"]),
        ("aaaaaa. bb cc", ["aaaaaa. ", "bb cc"]),
        ("我我我我我我。我我我我", ["我我我我我我。", "我我我我"]),
    ],
)
def test_it_is_cut_at_the_best_place_that_keeps_parts_long(text: str, parts: list[str]) -> None:
    assert split(text, 10) == parts


def test_paragraphs_lists_and_tables_are_kept_whole_where_they_fit():
    paragraph, items, table = (
        "word " * 8 + "end.\n\n",
        "- one\n- two\n- three\n\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    )
    text = paragraph + items + table + paragraph

    parts = split(text, 60)

    assert "".join(parts) == text
    assert all(any(block in part for part in parts) for block in (paragraph, items, table))


def test_a_heading_stays_with_what_it_stands_above():
    text = "word " * 8 + "end.\n\n## Next\n\nThis is what it is about.\n"

    assert split(text, 60)[1].startswith("## Next\n\nThis")


def test_code_that_fits_is_kept_whole():
    code = "```py\n" + "x = 1\n" * 6 + "```\n"
    text = "Some words before it, which are many enough.\n\n" + code + "\nand after\n"

    assert any(code in part for part in split(text, 60))


def test_code_that_has_to_be_cut_is_closed_and_opened_again():
    code = "".join(f"line {number}\n" for number in range(30))

    parts = split(f"Look:\n\n```python\n{code}```\n\nDone.", 100)

    assert parts[0].startswith("Look:\n\n```python\nline 0\n")
    assert all(part.count("```") == 2 for part in parts[:-1])
    assert all(part.startswith("```python\nline") and part.rstrip().endswith("```") for part in parts[1:-1])
    assert re.findall(r"line \d+", "".join(parts)) == [f"line {number}" for number in range(30)]
    assert "Done." in parts[-1]
    assert all(len(part) <= 100 for part in parts)


@each_row("before", ["", "# Tides\n\n", "Here are the tides:\n"])
def test_a_table_that_has_to_be_cut_repeats_its_head(before: str) -> None:
    head = "| day | high |\n|---|:-:|\n"
    rows = [f"| {day} | {day} o'clock |\n" for day in range(40)]

    first, *others = split(f"{before}{head}{''.join(rows)}\nand so on", 200)

    assert first.startswith(f"{before}{head}")
    tables = [part for part in others if "o'clock" in part]
    assert len(tables) > 3
    assert all(part.startswith(head) for part in tables)
    body = [line for part in (first, *others) for line in part.removeprefix(before).removeprefix(head).splitlines()]
    assert body == ["".join(row).rstrip() for row in rows] + ["", "and so on"]


def test_links_and_inline_code_are_not_cut():
    link, code = "[the documents](https://example.org/a/b_c?d=e)", "`some code with blanks in it`"
    text = f"{'word ' * 11}{link} {'word ' * 9}{code} {'word ' * 9}"

    parts = split(text, 80)

    assert "".join(parts) == text
    assert any(link in part for part in parts)
    assert any(code in part for part in parts)


@each_row(
    "some",
    [
        *(
            "word ", "a", "line\n", "p\n\n", "```\nx = 1\nx = 1\n", "```\nx\n```\n", "👨‍👩‍👧‍👦", "e\u0301", "\u0301",
            "[",
        ),
        *("`a", "[a](", "https://", "# h\n", "`", "~~~\n```\n"),
    ],
)  # fmt: skip
def test_a_long_text_is_cut_in_steps_that_grow_with_it(some):
    """What grows with the square of a text takes minutes for the longest, so that the test does not end."""
    assert grows_evenly(lambda size: split(some * (size // len(some)), 400, utf16), 4_000)
    assert grows_evenly(lambda size: pieces(some * (size // len(some)), 400, utf16, parts_max=5), 4_000)

    parts = split(some * (100_000 // len(some)), 4_096, utf16)

    assert all(utf16(part) <= 4_096 for part in parts)
    assert len(pieces(some * (100_000 // len(some)), 4_096, utf16, parts_max=5)) == 1
