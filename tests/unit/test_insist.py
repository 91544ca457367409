"""Writes that a shutdown may delay, but not split."""

from collections.abc import Callable

import anyio
import pytest

from daemon.errors import BusUnavailable
from tests.tables import each_row
from workers.agent import turn_endings
from workers.agent.turn_endings import insist


class Write:
    """Takes a moment; the first calls fail."""

    def __init__(self, *errors: Exception, pause_s: float = 0.0) -> None:
        self.begun = self.ended = 0
        self.at_begin: Callable[[], None] = lambda: None
        self._errors = list(errors)
        self._pause_s = pause_s

    async def __call__(self) -> str:
        self.begun += 1
        self.at_begin()
        await anyio.sleep(self._pause_s)
        if self._errors:
            raise self._errors.pop(0)
        self.ended += 1
        return "written"


async def test_it_is_written_once_while_nothing_happens() -> None:
    write = Write()

    assert await insist(write) == "written"

    assert write.begun == write.ended == 1


async def test_it_is_tried_again_while_redis_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await insist(Write(BusUnavailable("away"), BusUnavailable("away"))) == "written"

    monkeypatch.setattr(turn_endings, "WRITE_TIMEOUT_S", -1.0)
    with pytest.raises(BusUnavailable):
        await insist(Write(BusUnavailable("away"), BusUnavailable("away")))


@each_row("errors", [[], [BusUnavailable("away")]])
async def test_a_cancelled_write_is_carried_out_and_the_cancellation_comes_after_it(errors: list[Exception]) -> None:
    write, found = Write(*errors, pause_s=0.01), [""]

    with anyio.CancelScope() as scope:
        write.at_begin = scope.cancel
        found.append(await insist(write))
        await anyio.sleep_forever()

    assert (scope.cancelled_caught, found, write.ended) == (True, ["", "written"], 1)


async def test_what_goes_wrong_otherwise_is_its_callers_to_know() -> None:
    with pytest.raises(ValueError, match="bug"):
        await insist(Write(ValueError("bug")))
