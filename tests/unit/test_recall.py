"""Recall with a scripted engine: what is looked for, what is left out, how it is written, and that it never hurts."""

import anyio
import msgspec
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from daemon.errors import BusUnavailable
from daemon.model import RUNTIME_CONTEXT
from daemon.recall import Hit, RecallQuery, SearchResults, found_text
from daemon.recall.recall import LOOKED_AGAIN, LOOKED_AT, above
from daemon.recall.search_results import TURN_SNIPPET_CHARS, PromptOverlap, hit_text, hits_text
from tests.limits import HANG_S
from tests.recalllab import ScriptedEngine, a_hit, recaller_of
from tests.tables import each_row

SCOPE = "pond:person:web:ann"
LONG = "What is the name of my daughter who plays the cello?"


def asked(words: str = LONG, *, before: str = "", held: tuple[str, ...] = (), room: int = 1_000) -> RecallQuery:
    return RecallQuery(words=words, before=lambda: before, held=lambda: held, count=len, allowance_tokens=room)


def test_a_hit_is_written_with_its_name_its_place_and_its_score_and_the_snippet_below() -> None:
    hits = [a_hit("The server lives\nin Zurich.", docid="d1", file="memory/MEMORY.md", score=0.871), a_hit("x")]

    assert hits_text(hits) == (
        "- **[d1]** (memory/MEMORY.md) [0.87]\n  The server lives\n  in Zurich.\n"
        "\n"
        "- **[0a1b2c3d]** (memory/HISTORY.md) [1.00]\n  x"
    )


def test_the_time_stands_in_front_unless_the_snippet_tells_it() -> None:
    time = "2026-05-01T09:30:00.000Z"

    assert hit_text(a_hit("likes tea", time=time)).splitlines()[1] == "  [2026-05-01 09:30] likes tea"
    assert hit_text(a_hit("[2026-05-01 09:30] tea", time=time)).splitlines()[1] == "  [2026-05-01 09:30] tea"


@given(st.lists(st.one_of(st.text(), st.sampled_from(["\n\n---\n\n", "## Relevant Memory", RUNTIME_CONTEXT, "\x85"]))))
def test_no_line_of_a_snippet_passes_for_something_else(pieces: list[str]) -> None:
    head, *lines = hit_text(a_hit("".join(pieces))).splitlines()

    assert head.startswith("- **[")
    assert all(line.startswith("  ") and line.strip() for line in lines)
    assert RUNTIME_CONTEXT not in "\n".join(lines)


def test_nothing_found_is_said() -> None:
    assert found_text(SearchResults()) == "No relevant memories found."
    assert found_text(SearchResults(note="Words only.", hits=(a_hit("x"),))).startswith("Words only.\n\n- **[")


@each_row(
    ("snippet", "held"),
    [
        ("I live near the old mill in Bern", True),
        ("[2026-05-01 09:30] ann: I live near the old mill, in Bern.", True),
        ("I live near the old mill in Basel", False),
        ("Ann Marie Bo: I live near the old mill in Bern\nassistant: likes tea!", True),
        ("喜欢用Python，不用JavaScript", True),
        ("喜欢用Rust，不用JavaScript开发后端服务", False),
        ("", False),
        ("2026-05-01 12345678", False),
    ],
)
def test_what_the_prompt_holds_is_known_however_it_is_written_there(snippet: str, held: bool) -> None:
    texts = ["# Memory\n- i live near the OLD MILL in Bern; likes tea", "我喜欢用Python，不用JavaScript。"]

    assert PromptOverlap(texts).holds(snippet) is held


@given(st.text(min_size=1), st.lists(st.text(), max_size=3))
def test_a_text_is_held_by_itself_or_too_short_to_tell(text: str, others: list[str]) -> None:
    telling = any(len(piece.encode()) >= 8 and piece.isalpha() for piece in text.split())

    assert PromptOverlap([*others, text]).holds(text) or not telling or not text.isascii()


@each_row(
    ("words", "before", "queries"),
    [
        (LONG, "My daughter is Mia.", [LONG]),
        ("And the cello?", "My daughter is Mia.", ["And the cello?", "And the cello?\nMy daughter is Mia."]),
        ("And the cello?", "", ["And the cello?"]),
        ("她的女儿", "我喜欢大提琴", ["她的女儿", "她的女儿\n我喜欢大提琴"]),
        ("And what is that?", "My daughter is Mia.", ["And what is that?\nMy daughter is Mia."]),
        ("So what was it that they were, then?", "What?", []),
        ("What did I do yesterday?", "", ["What did I do yesterday?"]),
        ("昨天怎么了？", "", ["昨天怎么了？"]),
        ("?!", "", []),
        ("\ud800", "x-ray", ["\ud800\nx-ray"]),
    ],
)
async def test_few_words_are_looked_for_with_the_last_exchange_and_no_words_not_at_all(
    words: str, before: str, queries: list[str]
) -> None:
    engine = ScriptedEngine()

    await recaller_of(engine).recalled(SCOPE, asked(words, before=before))

    assert [query for _, query, _, _ in engine.asked] == queries


async def test_what_few_words_find_comes_first_and_the_last_exchange_fills_the_rest() -> None:
    engine = ScriptedEngine(a_hit("the cello", docid="cello", score=0.5), a_hit("the rest", docid="rest"))

    async def only_first() -> None:
        engine.found = SearchResults(
            hits=engine.found.hits[:1] if len(engine.asked) == 1 else (rest, *engine.found.hits)
        )

    rest, engine.before = engine.found.hits[1], only_first

    text = await recaller_of(engine).recalled(SCOPE, asked("And the cello?", before="My daughter is Mia."))
    full = await recaller_of(engine, max_results=1).recalled(SCOPE, asked("And the cello?", before="My daughter"))

    assert [line[5:].split("]")[0] for line in text.splitlines() if line.startswith("- **")] == ["cello", "rest"]
    assert full.startswith("- **[rest]")
    assert len(engine.asked) == 3


async def test_what_the_prompt_holds_is_left_out_and_scores_count_from_what_is_left() -> None:
    engine = ScriptedEngine(
        a_hit("the question about my daughter", docid="held"),
        a_hit("Mia plays the cello", docid="first", score=0.3),
        a_hit("her name is Mia Weber", docid="second", score=0.13),
        a_hit("the weather was fine", docid="low", score=0.11),
    )

    text = await recaller_of(engine).recalled(SCOPE, asked(held=("THE QUESTION about my daughter!",)))

    assert [line[5:].split("]")[0] for line in text.splitlines() if line.startswith("- **")] == ["first", "second"]
    assert engine.asked == [(SCOPE, LONG, "query", LOOKED_AT)]


async def test_it_is_looked_further_when_the_prompt_holds_most_of_what_was_found() -> None:
    known = [a_hit(f"what everybody knows, number {number}", docid=f"k{number}") for number in range(40)]
    engine = ScriptedEngine(*known, a_hit("Mia plays the cello", docid="new", score=0.5))

    text = await recaller_of(engine).recalled(SCOPE, asked(held=tuple(hit.snippet for hit in known)))

    assert text == hit_text(engine.found.hits[-1])
    assert [limit for _, _, _, limit in engine.asked] == [LOOKED_AT, LOOKED_AGAIN]


async def test_hits_that_do_not_fit_are_left_out_whole() -> None:
    engine = ScriptedEngine(a_hit("a" * 300, docid="long"), a_hit("b" * 50, docid="short", score=0.9))

    text = await recaller_of(engine).recalled(SCOPE, asked(room=200))

    assert text == hit_text(engine.found.hits[1])
    assert await recaller_of(engine).recalled(SCOPE, asked(room=-5)) == ""


async def test_no_more_than_three_times_as_many_hits_are_shown_as_the_configuration_says() -> None:
    engine = ScriptedEngine(*(a_hit(f"hit number {number}", docid=f"d{number}") for number in range(12)))

    text = await recaller_of(engine, max_results=3).recalled(SCOPE, asked())

    assert text.count("- **[") == 9


async def test_more_hits_than_the_configuration_says_take_no_more_room_than_so_many_long_ones() -> None:
    long, half = "a" * TURN_SNIPPET_CHARS, "b" * (TURN_SNIPPET_CHARS // 2)
    engine = ScriptedEngine(
        *(a_hit(text, docid=f"d{at}") for at, text in enumerate((long, half, long, long, half, half)))
    )

    text = await recaller_of(engine, max_results=3).recalled(SCOPE, asked(room=10_000))

    assert [line[5:7] for line in text.splitlines() if line.startswith("- **")] == ["d0", "d1", "d2", "d4"]


async def test_a_hit_whose_text_a_better_recalled_hit_shows_is_left_out() -> None:
    engine = ScriptedEngine(
        a_hit("Mia plays the cello since May", docid="first"),
        a_hit("since May", docid="shown", score=0.9, shown_by="first"),
        a_hit("her teacher is Ann", docid="other", score=0.8, shown_by="gone"),
    )

    text = await recaller_of(engine).recalled(SCOPE, asked())

    assert [line[5:].split("]")[0] for line in text.splitlines() if line.startswith("- **")] == ["first", "other"]


@given(st.lists(st.floats(0, 1)), st.floats(0, 1))
def test_a_lowest_score_never_leaves_nothing_of_what_was_found_by_words(scores: list[float], least: float) -> None:
    hits = [a_hit("x", score=score) for score in scores]

    assert bool(above(hits, least, relative=True)) == bool(hits)


async def test_vectors_score_by_themselves() -> None:
    engine = ScriptedEngine(a_hit("x", score=0.3))

    assert (await recaller_of(engine).search(SCOPE, "q", mode="vsearch")).hits == ()
    assert (await recaller_of(engine).search(SCOPE, "q", mode="search")).hits == engine.found.hits


async def test_a_turn_asks_nothing_when_recall_is_off_or_nothing_was_said() -> None:
    engine = ScriptedEngine(a_hit("x"))

    assert await recaller_of(engine, enabled=False).recalled(SCOPE, asked()) is None
    assert await recaller_of(engine).recalled(SCOPE, asked(" \n")) is None
    assert engine.asked == []


async def test_the_prompt_is_not_looked_at_when_nothing_was_found() -> None:
    def held() -> tuple[str, ...]:
        raise AssertionError("nobody needs to know")

    quiet = RecallQuery(words=LONG, before=str, held=held, count=len, allowance_tokens=100)

    with capture_logs() as logs:
        assert await recaller_of(ScriptedEngine()).recalled(SCOPE, quiet) == ""
    assert logs == []


@each_row("error", [BusUnavailable("away"), RuntimeError("a bug"), OSError("disk")])
async def test_an_engine_that_fails_leaves_the_turn_without_and_one_line(error: Exception) -> None:
    engine = ScriptedEngine(a_hit("x"))

    async def fail() -> None:
        raise error

    engine.before = fail

    with capture_logs() as logs:
        assert await recaller_of(engine).recalled(SCOPE, asked()) == ""
    assert [line["event"] for line in logs] == ["recall.failed"]


async def test_an_engine_that_hangs_is_waited_for_as_long_as_the_configuration_says() -> None:
    engine = ScriptedEngine(a_hit("x"))
    engine.before = anyio.sleep_forever

    with capture_logs() as logs, anyio.fail_after(HANG_S):
        assert await recaller_of(engine, turn_deadline_s=0.01).recalled(SCOPE, asked()) == ""
        found = await recaller_of(engine, timeout_s=0.01).search(SCOPE, "q")
    assert [line["event"] for line in logs] == ["recall.slow", "recall.slow"]
    assert found == SearchResults(note="The memory search took longer than 0.01 s.")


async def test_a_cancelled_turn_is_cancelled() -> None:
    engine = ScriptedEngine(a_hit("x"))
    engine.before = anyio.sleep_forever

    with anyio.move_on_after(0.01) as scope:
        await recaller_of(engine).recalled(SCOPE, asked())

    assert scope.cancelled_caught


async def test_a_search_has_the_mode_and_the_number_that_are_asked_for() -> None:
    engine = ScriptedEngine(*(a_hit(str(number)) for number in range(200)))
    recaller = recaller_of(engine, backend="qmd")

    usual = await recaller.search(SCOPE, "q")
    most = await recaller.search(SCOPE, "q", mode="vsearch", limit=1_000)

    assert (len(usual.hits), len(most.hits)) == (5, 100)
    assert [(mode, limit) for _, _, mode, limit in engine.asked] == [("search", 5), ("vsearch", 100)]


def test_hits_are_as_they_are_printed() -> None:
    assert msgspec.json.decode(msgspec.json.encode(a_hit("x")), type=Hit) == a_hit("x")
