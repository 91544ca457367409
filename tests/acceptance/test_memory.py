"""What a person said long ago is known when it matters: the real command, real HTTP, the offline model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import running, shut_down
from tests.remembering import SMALL, remembered_later


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    # The server writes until the end; it is told to go before the folder does.
    shut_down(tmp_path / "data")


def test_what_was_to_be_remembered_stands_in_memory_and_is_recalled_when_its_words_are_consolidated(folder: Path):
    with running(folder, **SMALL) as daemon:
        told = remembered_later(folder, daemon)

    assert (told.stands, told.recalled) == (1, True)
    assert told.turns >= 20
