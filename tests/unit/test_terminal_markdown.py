"""Answers of a chat in a terminal: rendered as Markdown for a screen, and reasons why one has not come."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from channels.conversation import reason
from channels.terminal.markdown import COLUMNS_MIN, rendered, wrapped
from channels.terminal.screen import ScreenDraft
from channels.terminal.terminal_style import for_output, look_of
from daemon.printable import printable, printable_json
from daemon.session import SessionState
from tests.tables import each_row

SEQUENCES = re.compile(r"\x1b\[[0-9;]*m")
TABLE = "| Pond | Fish |\n|---|---:|\n| 三米 | 12 |\n| b | `c` |"
LONG_CELL = f"| a | b |\n|---|---|\n| {'fish ' * 5}| {'y' * 50} |"


@each_row(
    "columns, text, lines",
    [
        (80, "# Pond\n\nSome **bold** `code`.", ["Pond", "", "Some bold code."]),
        (20, "one two three four five six", ["one two three four", "five six"]),
        (20, "line one\nline two", ["line one", "line two"]),
        (20, "x" * 30, ["x" * 20, "x" * 10]),
        (20, "Redis 是一个开源的内存数据结构存储系统。", ["Redis 是一个开源的内", "存数据结构存储系统。"]),
        (20, "他们说一二三四五六七。八九", ["他们说一二三四五六", "七。八九"]),
        (20, "- one\n  - two\n- three", [" • one", "    • two", " • three"]),
        (20, "3. c\n4. d", [" 3 c", " 4 d"]),
        (20, "```python\ndef f():\n    return '一二三四五六'\n```", ["  def f():", "      return", "  '一二三四五六'"]),
        (20, "> quote of some words", ["▌ quote of some", "▌ words"]),
        (80, "[pond](http://e.org/a) and ![fish](http://e.org/f)", ["pond (http://e.org/a) and fish (http://e.org/f)"]),
        (80, "<http://e.org> <a@e.org> [**b**](http://e.org)", ["http://e.org a@e.org b (http://e.org)"]),
        (80, "a <b>tag</b> of list<int>\n\n<div>", ["a <b>tag</b> of list<int>", "", "<div>"]),
        (80, TABLE, ["Pond   Fish", "───────────", "三米     12", "b         c"]),
        (20, TABLE, ["Pond   Fish", "───────────", "三米     12", "b         c"]),
        (19, TABLE, ["Pond: 三米", "Fish: 12", "", "Pond: b", "Fish: c"]),
        (80, "> " * 30 + "deep", ["> " * 30 + "deep"]),
        (80, "&#8238;evil\u200b\x1b[2J `\u2028`", ["�evil��[2J �"]),
        (80, "[https://e.org](https://e.com)", ["https://e.org (https://e.com)"]),
        (80, "[e.org\u200b](https://e.com/e.org)", ["e.org� (https://e.com/e.org)"]),
        (
            80,
            "[e.org](https://e.org@e.com) ![e.org](http://e.com)",
            ["e.org (https://e.org@e.com) e.org (http://e.com)"],
        ),
        (80, "[a@e.org](mailto:a@e.com)", ["a@e.org (mailto:a@e.com)"]),
        (80, "[ape.com](http://\u0430\u0440\u0435.com)", ["ape.com (http://xn--80ak6a.com)"]),
        (80, "<http://\u0430\u0440\u0435.com>", ["http://\u0430\u0440\u0435.com (http://xn--80ak6a.com)"]),
        (80, "[a](http://e.org/\u202e)", ["a (http://e.org/%E2%80%AE)"]),
        (80, "", [""]),
    ],
)
def test_an_answer_is_laid_out_for_the_width_of_the_window(columns: int, text: str, lines: list[str]) -> None:
    assert rendered(text, columns=columns, look="bare").split("\n") == lines


def test_a_notice_is_wrapped_and_no_markdown() -> None:
    shown = wrapped("**one** two\nthree four five 一二三四", columns=12)

    assert shown.split("\n") == ["**one** two", "three four", "five 一二三", "四"]


def test_a_cell_that_does_not_fit_is_wrapped_and_nothing_of_it_is_lost() -> None:
    shown = rendered(LONG_CELL, columns=40, look="bare")

    assert (shown.count("fish"), shown.count("y")) == (5, 50)


@each_row(
    "environ, shown",
    [
        ({"TERM": "xterm"}, "\x1b[1ma\x1b[0m \x1b[36mb\x1b[0m"),
        ({"TERM": "xterm", "NO_COLOR": ""}, "\x1b[1ma\x1b[0m \x1b[36mb\x1b[0m"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, "\x1b[1ma\x1b[0m b"),
        ({"TERM": "dumb"}, "a b"),
        ({}, "a b"),
    ],
)
def test_colours_are_used_where_the_terminal_has_them(environ: dict[str, str], shown: str) -> None:
    assert rendered("**a** `b`", columns=80, look=look_of(environ)) == shown


@given(
    text=st.lists(
        st.sampled_from(
            ["# ", "- ", "1. ", "> ", "```", "\n", "\n\n", "| a |\n|---|\n", "中文，", "（", "*", "`", "[a](b)"]
        )
        | st.text("ab 中。é한👨\u200d\u202e\u2028\x1b\x00\t\r", max_size=5)
    ).map("".join),
    columns=st.integers(COLUMNS_MIN, 80),
)
def test_no_line_is_wider_than_the_window_and_no_other_sequence_reaches_it(text: str, columns: int) -> None:
    bare = SEQUENCES.sub("", rendered(text, columns=columns, look="coloured"))

    assert all(sum(map(get_cwidth, line)) <= columns for line in bare.split("\n"))
    assert printable(bare) == bare
    assert bare == rendered(text, columns=columns, look="bare")


def test_finished_blocks_of_a_draft_are_rendered_and_the_last_one_is_plain() -> None:
    draft = ScreenDraft("bare")

    def end(text: str, rows: int = 9) -> list[str]:
        return draft.end(text, columns=20, rows=rows).split("\n")

    assert end("**one") == ["**one"]
    assert end("**one** two\n\n- **th") == ["one two", "", "- **th"]
    text = "**one** two\n\n- **three**\n\n```\n- fo\n\n*x"
    assert end(text) == [
        "one two",
        "",
        " • three",
        "",
        "```",
        "- fo",
        "",
        "*x",
    ]
    assert end(text, rows=2) == ["", "*x"]
    assert end("**one** two, another") == ["**one** two, another"], "one of a successor"
    assert end("") == [""]


def test_a_pipe_gets_an_answer_as_it_was_written(capsys: pytest.CaptureFixture[str]) -> None:
    text = "# A **bold**\x1b[2J\u200b\n| a |\n|---|"

    assert for_output(text) == text


@each_row(
    "text, shown",
    [
        ("a\x1b[2J\x9b1m\rb\tc\nd\r\n", "a�[2J�1m�b\tc\nd\n"),
        ("ann\u200b\u202e\u2028\ufeff\u00ad\U000e0041\ud800", "ann�������"),
        ("a\u200db\u200d中\u200dc", "a�b�中�c"),
        ("👨\u200d👩 می\u200cخواهم ❤️", "👨👩 میخواهم ❤️"),
    ],
)
def test_nothing_invisible_reaches_a_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_json_for_a_terminal_says_the_same() -> None:
    assert printable_json('"\u202e\U000e0041中"') == '"\\u202e\\udb40\\udc41中"'


NONE = "No agent worker is running. Start an agent worker with `millpond run`."
BUSY = (
    "All agent workers are busy with other conversations. Start more workers to answer more conversations at "
    "the same time."
)
FAILED = "The last attempt to answer this message failed. Millpond retries automatically."


@each_row(
    "running, state, expected",
    [
        (True, {"waiting": 0}, ""),
        (True, {"waiting": 1, "lease_ms": 11}, ""),
        (
            False,
            {"waiting": 1, "parked_why": "outage: x"},
            "No agent worker is running. Start an agent worker with `millpond run`.",
        ),
        (True, {"waiting": 1, "retry_at_ms": 11, "parked_why": "setup: The key: a."}, "The key: a."),
        (True, {"waiting": 1}, BUSY),
        (True, {"waiting": 1, "retry_at_ms": 11, "attempts": 1}, FAILED),
        (True, {"waiting": 1, "retry_at_ms": 11}, ""),
    ],
)
def test_a_message_without_an_answer_has_a_reason(*, running: bool, state: dict[str, int], expected: str) -> None:
    found = SessionState(session="terminal:ann", exists=True, **state)  # type: ignore[arg-type]

    assert reason(found, running=running, now_ms=10) == expected
