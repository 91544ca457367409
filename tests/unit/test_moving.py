"""Files of scopes that are linked and part again: nothing is read or written where a link leads to."""

from pathlib import Path

import pytest

from daemon.people.moving import FILES, copy_back, move_files
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
