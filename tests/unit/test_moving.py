"""Files of scopes that are linked and part again: nothing is read or written where a link leads to."""

import os
from pathlib import Path

import pytest

from daemon.forget.file_removal import forget_files, remove_folder
from daemon.forget.tombstone import EVERYTHING
from daemon.people.scope_file_moves import FILES, PIECE_BYTES, copy_back, move_files
from daemon.scope import folder_of

ANN, BOB = "pond:person:web:ann", "pond:person:page:ann"


@pytest.fixture
def ann(tmp_path: Path) -> Path:
    return tmp_path / FILES / folder_of(ANN)


@pytest.fixture
def bob(tmp_path: Path) -> Path:
    return tmp_path / FILES / folder_of(BOB)


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_what_a_member_brought_comes_back_as_a_copy(tmp_path: Path, ann: Path, bob: Path) -> None:
    put(bob, "plans/tour.txt", "north")
    assert move_files(tmp_path, member=BOB, home=ANN) == 1
    put(ann, "plans/tour.txt", "north, then west")

    assert copy_back(tmp_path, member=BOB, home=ANN) == 1

    assert (bob / "plans/tour.txt").read_text() == (ann / "plans/tour.txt").read_text() == "north, then west"
    assert copy_back(tmp_path, member=BOB, home=ANN) == 0


def test_nothing_is_written_where_a_link_of_the_member_leads_to(tmp_path: Path, bob: Path) -> None:
    put(bob, "plans/tour.txt", "north")
    put(bob, "other.txt", "kept")
    move_files(tmp_path, member=BOB, home=ANN)
    outside = tmp_path / "memory"
    outside.mkdir()
    bob.mkdir(exist_ok=True)
    (bob / "plans").symlink_to(outside)

    assert copy_back(tmp_path, member=BOB, home=ANN) == 1

    assert list(outside.iterdir()) == []
    assert (bob / "other.txt").read_text() == "kept"


@pytest.mark.parametrize("hard", [False, True])
def test_what_a_link_of_the_home_leads_to_is_not_copied(tmp_path: Path, ann: Path, bob: Path, hard: bool) -> None:
    put(bob, "tour.txt", "north")
    move_files(tmp_path, member=BOB, home=ANN)
    secret = put(tmp_path / FILES / "carl", "secret.txt", "carl's")
    (ann / "tour.txt").unlink()
    if hard:
        (ann / "tour.txt").hardlink_to(secret)
    else:
        (ann / "tour.txt").symlink_to(secret)

    assert copy_back(tmp_path, member=BOB, home=ANN) == 0
    assert not (bob / "tour.txt").exists()


def test_what_lies_there_already_stays_as_it_is(tmp_path: Path, bob: Path) -> None:
    put(bob, "tour.txt", "north")
    move_files(tmp_path, member=BOB, home=ANN)
    put(bob, "tour.txt", "newer")

    assert copy_back(tmp_path, member=BOB, home=ANN) == 0
    assert (bob / "tour.txt").read_text() == "newer"


def files_of(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_those_who_link_and_part_again_and_again_have_no_more_files_each_time(tmp_path: Path, ann: Path, bob: Path):
    put(ann, "tour.txt", "south")
    put(bob, "tour.txt", "north")
    put(bob, "plans/long.txt", "x" * (2 * PIECE_BYTES + 1))
    for _ in range(4):
        assert move_files(tmp_path, member=BOB, home=ANN) == 2
        copy_back(tmp_path, member=BOB, home=ANN)

    assert {name: text[:5] for name, text in files_of(ann).items()} == {
        "tour.txt": "south",
        "tour (2).txt": "north",
        "plans/long.txt": "xxxxx",
    }
    assert sorted(files_of(bob)) == ["plans/long.txt", "tour (2).txt"]


@pytest.mark.parametrize("other", ["y", "x" * 8, ""])
def test_a_file_that_says_anything_else_is_kept_beside_the_other(tmp_path: Path, ann: Path, bob: Path, other: str):
    put(ann, "tour.txt", "x" * 7 + other[:1])
    put(bob, "tour.txt", "x" * 7 + "z")

    move_files(tmp_path, member=BOB, home=ANN)

    assert sorted(files_of(ann).values()) == sorted(["x" * 7 + other[:1], "x" * 7 + "z"])


def test_a_file_that_has_other_names_is_the_same_as_none(tmp_path: Path, ann: Path, bob: Path) -> None:
    put(ann, "tour.txt", "north")
    (tmp_path / "elsewhere").hardlink_to(put(bob, "tour.txt", "north"))

    move_files(tmp_path, member=BOB, home=ANN)

    assert sorted(files_of(ann)) == ["tour (2).txt", "tour.txt"]


def deep(path: Path, levels: int) -> None:
    """Folders below each other, deeper than a path can name."""
    path.mkdir(parents=True)
    here = os.open(path, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        inside = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inside
    os.close(os.open("heron", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_folders_without_an_end_and_names_of_any_bytes_stop_no_move_and_no_removal(
    tmp_path: Path, ann: Path, bob: Path
) -> None:
    """A command of the tool exec can make them, and forgetting and linking failed then."""
    deep(bob, 3_000)
    Path(os.fsdecode(os.fsencode(bob) + b"/\xff.txt")).write_text("x")
    (bob / "link").symlink_to("/")

    looked = forget_files(tmp_path, (FILES, bob.name), EVERYTHING, looks=True)
    moved = move_files(tmp_path, member=BOB, home=ANN)
    deep(bob / "again", 3_000)

    assert looked.failed == []
    assert (moved, {"link", "\ufffd.txt"} <= {each.name for each in ann.iterdir()}) == (2, True)
    assert remove_folder(tmp_path, (FILES, bob.name), looks=False) == 1
    assert not bob.exists()
