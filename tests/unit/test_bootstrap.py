"""Bootstrap files in the system message: allowances, what is cut, what is left out."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.config import BootstrapConfig
from tests.tables import each_row
from workers.agent.prompt.workspace import JOIN, Part, bootstrap
from workers.tools import BOOTSTRAP_FILES

MARKER = re.compile(r"\n\[\.\.\.truncated (\d+) chars, read ([A-Z]+\.md) for full content\.\.\.\]\n")
DEFAULT = BootstrapConfig()


def made(*files: tuple[str, str], config: BootstrapConfig = DEFAULT) -> list[Part]:
    return bootstrap(files, config, total_chars=config.total_max_chars)


def test_files_that_fit_stand_whole_under_their_names():
    (part,) = made(("AGENTS.md", "Be kind.\n"))

    assert part.text == "## AGENTS.md\n\nBe kind.\n"
    assert part.kept_chars == part.chars == 9


def test_a_file_of_as_many_characters_as_a_file_may_have_stands_whole():
    whole, cut = made(("SOUL.md", "x" * 20_000))[0], made(("SOUL.md", "x" * 20_001))[0]

    assert (whole.kept_chars, cut.kept_chars) == (20_000, 18_000)


def test_a_longer_file_keeps_its_shares_of_the_allowance_and_says_how_much_is_missing():
    text = "".join(chr(0x4E00 + number % 5_000) for number in range(30_000))

    (part,) = made(("SOUL.md", text))

    assert part.text == (
        f"## SOUL.md\n\n{text[:14_000]}\n[...truncated 12000 chars, read SOUL.md for full content...]\n{text[-4_000:]}"
    )
    assert (part.chars, part.kept_chars) == (30_000, 18_000)


def test_all_files_share_what_is_left_of_the_total():
    first, second, third = made(("AGENTS.md", "a" * 19_000), ("SOUL.md", "b" * 9_000), ("USER.md", "c" * 9_000))

    left = 24_000 - len(first.text) - len(JOIN) - len("## SOUL.md\n\n")
    assert first.kept_chars == 19_000
    assert second.kept_chars == int(0.7 * left) + int(0.2 * left)
    assert len(second.text) <= left + len("## SOUL.md\n\n")
    assert third.kept_chars < 9_000


@each_row(("length", "left_out"), [(24_000 - 13 - 7 - 64 + 1, True), (24_000 - 13 - 7 - 64 - 100, False)])
def test_with_less_than_the_least_left_the_rest_is_left_out(length, left_out):
    config = BootstrapConfig(max_chars=24_000)

    _, second = made(("AGENTS.md", "a" * (length - 1)), ("SOUL.md", "b"), config=config)

    assert (second.text == "") is left_out


def test_a_small_allowance_is_shared_seven_to_two_after_the_marker():
    config = BootstrapConfig(max_chars=170, total_max_chars=170)

    (part,) = made(("USER.md", "x" * 500), config=config)

    head, tail = part.text.removeprefix("## USER.md\n\n").split("\n[...truncated ")[0], part.text.rpartition("]\n")[2]
    assert len(part.text) <= 170
    assert len(part.text) > 170 - 4
    assert len(head) / len(tail) == pytest.approx(3.5, rel=0.1)


def test_an_allowance_that_the_marker_fills_leaves_the_file_out():
    (part,) = made(("IDENTITY.md", "x" * 500), config=BootstrapConfig(max_chars=70, total_max_chars=70))

    assert (part.text, part.kept_chars) == ("", 0)


@given(
    st.lists(
        st.tuples(st.sampled_from(BOOTSTRAP_FILES), st.integers(0, 3_000)), max_size=5, unique_by=lambda each: each[0]
    ),
    st.integers(1, 3_000),
    st.integers(1, 5_000),
    st.integers(1, 100),
    st.tuples(st.floats(0, 0.7), st.floats(0, 0.3)),
)
def test_whatever_the_sizes_allowances_hold_and_counts_are_exact(sizes, one, total, least, ratios):
    config = BootstrapConfig(
        max_chars=one, total_max_chars=total, min_budget_chars=least, head_ratio=ratios[0], tail_ratio=ratios[1]
    )
    files = [(name, "".join(chr(33 + at % 90) for at in range(size))) for name, size in sizes]

    parts = made(*files, config=config)

    shown = [part for part in parts if part.text]
    assert len(JOIN.join(part.text for part in shown)) <= total
    assert all(len(part.text) <= one + len(f"## {part.name}\n\n") for part in shown)
    for part, (name, text) in zip(parts, files, strict=True):
        if not part.text:
            continue
        body = part.text.removeprefix(f"## {name}\n\n")
        if part.kept_chars == len(text):
            assert body == text
        else:
            marker = MARKER.search(body)
            assert marker is not None
            head, tail = body[: marker.start()], body[marker.end() :]
            assert marker[2] == name
            assert text.startswith(head)
            assert text.endswith(tail)
            assert int(marker[1]) == len(text) - len(head) - len(tail) == len(text) - part.kept_chars
