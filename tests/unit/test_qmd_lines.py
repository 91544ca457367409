"""What QMD is asked, and what its answers are taken for."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from daemon.recall.qmd.index_upkeep import DEBOUNCE_S, LATEST_S, REST_MAX_S, REST_MIN_S, RetryPause, UpdateSchedule
from daemon.recall.qmd.qmd_commands import WORD_MAX_CHARS, WORDS_MAX, QmdResult, asked_words, ranked, typed_lines
from daemon.recall.qmd.qmd_program import Failed
from tests.fakes import qmd
from tests.tables import each_row

PIECES = st.sampled_from(
    (
        *("Anna", "what", "the", "user_id", "v2.3.1", "a/b/c.py", "ann@example.com", "daughter's", "café", "ＣＡＦＥ"),
        *(
            "怎么", "配置代理", "我的女儿", "東京タワー", "서울", "שלום", "สวัสดี", "🦆", "\u0000", "\ud800", "\u202e",
            "\x1b[31m",
        ),
        *(
            '"',
            "'",
            "-",
            "--",
            "-x",
            '-"',
            "*",
            "(",
            "NOT",
            "AND",
            "lex:",
            "vec: y",
            "intent: z",
            "expand: q",
            ":",
            "_",
        ),
        *(" ", "\n", "\r", "\u2028", "\t", "x" * 300),
    )
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=40).map("".join))


@given(TEXTS, st.sampled_from(["search", "vsearch", "query"]))
@example('-"', "vsearch")
@example("lex:\nvec: -x", "query")
@example("x" * 100_000, "query")
@example("猫" * 100_000, "query")
def test_whatever_is_said_becomes_lines_that_qmd_takes(text: str, mode: Any) -> None:
    lines = typed_lines(text, mode)

    assert len(lines.encode()) < 16_000  # an argument of a program has 128 kB at most
    assert "\0" not in lines
    # The fake refuses what QMD refuses, and never comes back from a line without a type.
    found = qmd.lines_of(lines) if lines else []
    kinds = {kind for kind, _ in found}
    assert kinds <= {"search": {"lex"}, "vsearch": {"vec"}, "query": {"lex", "vec"}}[mode]
    words = [word for kind, word in found if kind == "lex"]
    assert len(words) == len(set(words)) <= WORDS_MAX
    assert all(word.split() == [word] and len(word) <= WORD_MAX_CHARS for word in words)


@each_row(
    ("said", "words"),
    [
        ("What is my daughter's name?", ["daughter", "name"]), ("我的女儿叫什么名字", ["女儿", "名字"]),
        ("怎么配置代理", ["配置", "置代", "代理"]), ("the user_id of v2.3.1, please", ["user_id", "v2.3.1"]),
        ("Where was that?", ["where", "that", "was"]), ("!?…", []), ("", []), ("猫", ["猫"]),
    ],
)  # fmt: skip
def test_the_words_that_say_something_are_asked_for(said: str, words: list[str]) -> None:
    assert asked_words(said) == words


def test_what_is_meant_is_asked_as_it_was_said() -> None:
    assert typed_lines("how -fast\nis it?", "vsearch") == "vec: how fast is it?"


def row(name: str, *, by: int = 1, **more: Any) -> dict[str, Any]:
    found = [{"weight": 1, "rrfContribution": 1 / 61}] * by
    return {"file": f"qmd://zqm/{name}.md?index=i", "score": 1, "explain": {"rrf": {"contributions": found}}, **more}


def test_a_search_by_words_scores_how_many_of_them_were_found() -> None:
    rows = [row("a", by=4), row("b", by=2), row("c", by=3)]

    assert ranked(json.dumps(rows).encode(), "search") == [
        QmdResult("a", 1.0),
        QmdResult("b", 0.5),
        QmdResult("c", 0.5),
    ]


def test_the_line_that_counts_double_does_not_make_others_bad_hits() -> None:
    twice = {"rrf": {"contributions": [{"weight": 2, "rrfContribution": 2 / 61}]}}

    assert ranked(json.dumps([row("a", explain=twice), row("b")]).encode(), "search")[1].score == 1.0


def test_a_search_by_meaning_scores_how_near_it_is() -> None:
    rows = [row("a", explain={"vectorScores": [0.25, 0.75]}), row("b", explain={"vectorScores": [0.5]})]

    assert [each.score for each in ranked(json.dumps(rows).encode(), "vsearch")] == [0.75, 0.5]


def test_without_an_explanation_all_that_was_found_counts_the_same() -> None:
    rows = [{"file": "qmd://zqm/a.md", "score": 1}, {"file": "qmd://zqm/b.md", "score": 0.5}]

    assert [each.score for each in ranked(json.dumps(rows).encode(), "search")] == [1.0, 1.0]


@each_row("shown", ["[node-llama-cpp] loading\n{}", "{}[node-llama-cpp] bye\n", "\n{}\n"])
def test_what_is_logged_around_an_answer_is_no_part_of_it(shown: str) -> None:
    # QMD prints with an indent.
    text = json.dumps([row("a")], indent=2) + "\n"

    assert [each.name for each in ranked(shown.replace("{}", text).encode(), "search")] == ["a"]


def test_an_answer_in_one_line_is_one() -> None:
    assert [each.name for each in ranked(json.dumps([row("a")]).encode(), "search")] == ["a"]


def test_an_empty_answer_is_one() -> None:
    assert ranked(b"[node-llama-cpp] loading\n[]\n", "search") == []


ANSWERS = st.one_of(
    st.binary(max_size=200),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.floats(), st.text(max_size=5)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.sampled_from(["file", "score", "explain", "rrf", "vectorScores"]), inner, max_size=4),
        ),
        max_leaves=10,
    ).map(lambda value: json.dumps(value).encode()),
)


@given(ANSWERS, st.sampled_from(["search", "vsearch", "query"]))
@example(b"[" * 100_000, "search")
@example(b'[{"file": "x", "score": 1e999}]', "query")
@example(b'[{"file": "\\ud800", "score": 1}]', "query")
def test_an_answer_is_understood_or_refused(out: bytes, mode: Any) -> None:
    try:
        found = ranked(out, mode)
    except Failed as error:
        assert "results" in str(error)
        return

    assert all(0 <= each.score <= 1 for each in found)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert len({each.name for each in found}) == len(found)


def test_what_fails_is_left_alone_for_longer_and_longer_and_told_once() -> None:
    rest, now = RetryPause(), 1_000.0
    assert rest.is_over(now)

    rests = list[float]()
    for at in range(20):
        assert rest.failed("gone", now) == (at == 0)
        assert not rest.is_over(now)
        rests.append(next(s for s in (REST_MIN_S * 2**n for n in range(9)) if rest.is_over(now + min(s, REST_MAX_S))))
        now += REST_MAX_S

    assert rests == sorted(rests)
    assert rests[0] == REST_MIN_S
    assert rest.failed("broken", now), "another reason is told as well"
    assert rest.worked()
    assert not rest.worked()
    assert rest.failed("gone", now), "and after it has worked the first one again"


def test_a_scope_waits_until_it_is_quiet_but_not_for_ever() -> None:
    wanted = UpdateSchedule()
    wanted.want("ann", 0.0)
    wanted.want("ann", 1.0)

    wanted.want("ann", 2.0, is_new=False)
    assert wanted.next_at() == 1.0 + DEBOUNCE_S
    assert wanted.take(DEBOUNCE_S) == ""
    assert wanted.take(1.0 + DEBOUNCE_S) == "ann"
    assert wanted.take(1e9) == ""

    taken = next(now for now in range(200) if not wanted.want("ann", float(now)) and wanted.take(float(now)))
    assert LATEST_S <= taken <= LATEST_S + 1


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1_000))))
def test_whatever_is_wanted_comes_once(asked: list[tuple[str, float]]) -> None:
    wanted = UpdateSchedule()
    for scope, now in sorted(asked, key=lambda each: each[1]):
        wanted.want(scope, now)

    taken = list(iter(lambda: wanted.take(1e9), ""))

    assert sorted(taken) == sorted({scope for scope, _ in asked})
    assert wanted.next_at() == float("inf")
