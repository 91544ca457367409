"""What is remembered, in pieces that are found together."""

import datetime as dt
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from daemon.recall.chunks import (
    CHUNK_TOKENS,
    Chunk,
    history_chunks,
    lines_of,
    memory_chunks,
    message_chunks,
    note_chunks,
    tokens_about,
)
from tests.tables import each_row

PIECES = st.sampled_from(
    (
        *(
            "Ann moved to Lisbon. ",
            "She likes tea! ",
            "我喜欢喝茶。",
            "今天去了图书馆，看到了很多书",
            "word " * 30,
            "x" * 700,
        ),
        *(
            "茶" * 200,
            "a, b; c: ",
            "🎉" * 90,
            ". ",
            "...",
            "!" * 400,
            "\n",
            "\n",
            "\n\n",
            " ",
            "\t",
            "# Ann\n",
            "\n## Work\n",
        ),
        *("```\n", "- ", "[2026-11-20 09:12] ", "\n[2026-11-20 09:13] USER: ", "\n[?] TOOL [tools: a]: ", "\ud800"),
    )
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(TEXTS)
@example("x" * 10_000)
@example("one " * 81)
def test_a_message_is_cut_without_loss(text: str) -> None:
    chunks = message_chunks(text, session="s", index=7, time="2026-11-20T09:12:00.000Z", speaker="Ann")

    assert squeezed("".join(chunk.text for chunk in chunks)) == squeezed(text)
    assert [(chunk.first, chunk.upto, chunk.part) for chunk in chunks] == [(7, 8, part) for part in range(len(chunks))]
    assert all(tokens_about(chunk.text) <= CHUNK_TOKENS and chunk.text.strip() for chunk in chunks)


@given(TEXTS, st.integers(1, 1_000))
def test_the_chunks_of_an_entry_tell_their_lines(text: str, line: int) -> None:
    lines = dict(enumerate(text.strip("\n").split("\n"), line))
    chunks = history_chunks(text, line=line)

    assert [(chunk.first, chunk.part) for chunk in chunks] == sorted({(chunk.first, chunk.part) for chunk in chunks})
    for chunk in chunks:
        place = squeezed("".join(lines[number] for number in range(chunk.first, chunk.upto)))
        assert squeezed(chunk.text) in place
        assert tokens_about(chunk.text) <= CHUNK_TOKENS
    assert max((chunk.upto for chunk in chunks), default=0) < line + lines_of(text)


@given(TEXTS)
def test_every_chunk_of_a_memory_has_a_place_of_its_own(text: str) -> None:
    chunks = memory_chunks(text)

    assert len({(chunk.first, chunk.part) for chunk in chunks}) == len(chunks)
    assert all(squeezed(chunk.text) in squeezed(text) for chunk in chunks)


@given(TEXTS)
def test_cutting_again_gives_the_same(text: str) -> None:
    assert [chunk.docid for chunk in memory_chunks(text)] == [chunk.docid for chunk in memory_chunks(text)]
    assert memory_chunks(text + "\n\n# New\nmore")[: len(memory_chunks(text))] == memory_chunks(text) or "```" in text


def test_a_summary_is_one_chunk_with_its_time() -> None:
    text = "[2026-11-20 09:12] Ann moved to Lisbon.\nShe likes tea."

    assert history_chunks(text, line=5, zone=ZoneInfo("Asia/Shanghai")) == [
        Chunk(
            kind="history",
            file="memory/HISTORY.md",
            first=5,
            upto=7,
            text="Ann moved to Lisbon.\nShe likes tea.",
            time="2026-11-20T01:12:00.000Z",
        )
    ]


def test_the_messages_of_a_raw_entry_are_chunks_with_their_speakers() -> None:
    text = (
        "[2026-11-20 10:00] [RAW] 2 messages\n[2026-11-20 09:12] USER: Hello\nthere\n[?] ASSISTANT [tools: a, b]: Hi\n"
    )
    chunks = history_chunks(text, line=1)

    assert [(c.first, c.upto, c.speaker, c.time[11:16], c.text) for c in chunks] == [
        (2, 4, "user", "09:12", "Hello\nthere"),
        (4, 5, "assistant", "09:12", "Hi"),
    ]


@each_row("text", ["[2026-13-40 09:12] x", "[0001-01-01 00:00] x"])
def test_a_time_that_never_was_is_none(text: str) -> None:
    (chunk,) = history_chunks(text, line=1, time="2026-01-01T00:00:00.000Z", zone=ZoneInfo("Asia/Shanghai"))

    assert chunk.text == "x"
    assert chunk.time == "2026-01-01T00:00:00.000Z"


def test_a_note_stands_in_the_file_of_its_day() -> None:
    (chunk,) = note_chunks("Ann likes tea.", date="2026-11-20", line=3, time="2026-11-20T09:12:00.000Z")

    assert (chunk.kind, chunk.file, chunk.first, chunk.upto) == ("note", "memory/2026-11-20.md", 3, 4)
    assert chunk.time == "2026-11-20T09:12:00.000Z"


def test_the_sections_of_a_memory_have_their_headings() -> None:
    text = "# Ann\n\n- likes tea\n\n## Work ##\n- a baker\n```\n# no heading\n```\n# Places\n## Lisbon\n"
    chunks = memory_chunks(text, file="memory/MEMORY.md@3", time="t")

    assert [(c.first, c.upto, c.heading, c.text) for c in chunks] == [
        (3, 4, "Ann", "- likes tea"),
        (6, 10, "Ann > Work", "- a baker\n```\n# no heading\n```"),
        (10, 11, "Places", "Places"),
        (11, 12, "Places > Lisbon", "Lisbon"),
    ]
    assert {(c.file, c.time, c.kind) for c in chunks} == {("memory/MEMORY.md@3", "t", "memory")}


def test_a_long_line_is_cut_at_its_sentences() -> None:
    sentences = [f"Sentence {number} tells that Ann did something or other in Lisbon." for number in range(20)]
    chunks = message_chunks(" ".join(sentences), session="s", index=0)

    assert len(chunks) > 1
    assert all(chunk.text.startswith("Sentence") and chunk.text.endswith("Lisbon.") for chunk in chunks)


def test_where_an_entry_ends_in_its_file() -> None:
    texts = ["[2026-11-20 09:12] one\ntwo\n", "three", "four\nfive"]
    file = "\n".join(text.strip("\n") + "\n" for text in texts).split("\n")
    line, found = 1, list[Chunk]()
    for text in texts:
        found += history_chunks(text, line=line, time=dt.datetime(2026, 11, 20, tzinfo=dt.UTC).isoformat())
        line += lines_of(text)

    assert [file[chunk.upto - 2] for chunk in found] == ["two", "three", "five"]
