"""Common ticks of periodic work."""

import pytest

from daemon import concurrency
from daemon.concurrency import block_ms, until_tick
from tests.tables import each_row


@each_row(
    ("now_s", "every_s", "pause_s"),
    [
        (7_200.25, 0.5, 0.25),
        (7_200.75, 1.0, 0.25),
        (7_200.0, 5.0, 5.0),
    ],
)
def test_periodic_work_wakes_up_at_the_next_multiple_of_its_period_and_never_later(
    now_s: float, every_s: float, pause_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concurrency.anyio, "current_time", lambda: now_s)

    assert until_tick(every_s) == pause_s
    assert block_ms(every_s) == 1000 * pause_s


def test_a_blocking_command_just_before_a_tick_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency.anyio, "current_time", lambda: 7_200.499_999)

    assert block_ms(0.5) == 2
