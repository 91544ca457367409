"""The bar of ``session show``: every part can be seen, names stand below what they name, and it fits a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from daemon.cli.output.table_output import WIDTH, Part, bar


def test_parts_follow_each_other_and_names_stand_below_their_places() -> None:
    parts = [Part(first=0, upto=36, look="░"), Part(first=36, upto=60, look="█"), Part(first=60, upto=62, look=">")]

    drawn, *names = bar(parts, [("cursor", 36), ("head", 60)])

    assert drawn == "░" * 32 + "█" * 24 + ">" * 8
    assert names == [" " * 32 + "└ cursor 36" + " " * 13 + "└ head 60"]


def test_places_with_no_room_beside_each_other_are_named_in_lines_of_their_own() -> None:
    parts = [Part(first=0, upto=2, look="░"), Part(first=2, upto=40, look="█")]

    _, *names = bar(parts, [("base", 0), ("cursor", 2), ("start", 2), ("head", 40)])

    assert [" ".join(line.split()) for line in names] == ["│ └ cursor = start 2 └ head 40", "└ base 0"]


def test_two_names_of_one_place_are_told_in_two_lines() -> None:
    _, *names = bar([Part(first=0, upto=100_000, look="█")], [("flush", 50_000), ("budget", 50_001)])

    assert [line.strip() for line in names] == ["├ budget 50,001", "└ flush 50,000"]


def test_nothing_is_drawn_of_nothing() -> None:
    assert bar([Part(first=0, upto=0, look="█")], [("head", 0)]) == []


def test_a_long_part_is_shrunk_and_shows_where_its_looks_change() -> None:
    drawn, *_ = bar([Part(first=0, upto=1_000, look="░" * 500 + "x" * 500)], [("head", 1_000)])

    assert drawn == "░" * 32 + "x" * 32


@given(st.lists(st.integers(0, 10_000_000), min_size=4, max_size=4), st.data())
def test_a_bar_and_its_names_fit_whatever_the_numbers(lengths: list[int], data: st.DataObject) -> None:
    ends = [sum(lengths[: at + 1]) for at in range(4)]
    looks = "░▓█>"
    parts = [
        Part(first=end - length, upto=end, look=look) for end, length, look in zip(ends, lengths, looks, strict=True)
    ]
    points = [(name, data.draw(st.integers(0, ends[-1]))) for name in ("base", "cursor", "start", "head")]

    lines = bar(parts, points)

    assert all(len(line) <= WIDTH for line in lines)
    if lines:
        assert set(lines[0]) == {look for look, length in zip(looks, lengths, strict=True) if length}
        assert all(f"{at:,}" in "".join(lines[1:]) for _, at in points)
