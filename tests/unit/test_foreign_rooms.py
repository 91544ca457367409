"""The entry module's look at what would be imported under the names of Millpond's rooms."""

import subprocess
import sys
from pathlib import Path

import pytest

from millpond import MARK, ROOMS, foreign_rooms


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    for room in ROOMS:
        (folder / room).mkdir(parents=True)
        (folder / room / "__init__.py").write_text(f'"""{MARK} one of ours."""\n')
    return folder.resolve()


def package(folder: Path, name: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("")
    return folder


def test_our_own_rooms_are_no_finding(home: Path, tmp_path: Path) -> None:
    assert foreign_rooms([str(home), str(tmp_path)], home) == []


def test_a_package_that_lies_before_ours_is_found(home: Path, tmp_path: Path) -> None:
    other = package(tmp_path / "other", "channels")

    findings = foreign_rooms([str(other), str(home)], home)

    assert findings == [str(other / "channels")]


def test_a_package_that_lies_behind_ours_is_in_nobodys_way(home: Path, tmp_path: Path) -> None:
    other = package(tmp_path / "other", "daemon")

    assert foreign_rooms([str(home), str(other)], home) == []


def test_a_module_counts_as_a_package_does(home: Path, tmp_path: Path) -> None:
    (tmp_path / "daemon.py").write_text("")

    assert foreign_rooms([str(tmp_path), str(home)], home) == [str(tmp_path / "daemon.py")]


def test_a_folder_that_is_no_package_loses_to_ours(home: Path, tmp_path: Path) -> None:
    (tmp_path / "other" / "workers").mkdir(parents=True)

    assert foreign_rooms([str(tmp_path / "other"), str(home)], home) == []


def test_a_package_installed_over_ours_is_found(home: Path) -> None:
    (home / "daemon" / "__init__.py").write_text('"""Library to implement a well-behaved Unix daemon process."""\n')

    findings = foreign_rooms([str(home)], home)

    assert len(findings) == 1
    assert "daemon" in findings[0]


def test_a_missing_room_is_found(home: Path) -> None:
    (home / "workers" / "__init__.py").unlink()

    assert len(foreign_rooms([str(home)], home)) == 1


def test_everything_counts_while_our_folder_is_not_on_the_path(home: Path, tmp_path: Path) -> None:
    other = package(tmp_path / "other", "daemon")

    assert foreign_rooms([str(other)], home) == [str(other / "daemon")]


def test_the_command_refuses_with_78_and_says_what_to_do(tmp_path: Path) -> None:
    other = package(tmp_path / "other", "channels")
    code = f"import sys; sys.path.insert(0, {str(other)!r}); import millpond; millpond.main()"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 78
    assert str(other / "channels") in done.stderr
    assert "its own virtual environment" in done.stderr
