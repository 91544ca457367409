"""A process, from its connection to its end."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.config import Config, RedisConfig
from daemon.run import SWITCH_AFTER_S, open_process

PYTHONS_OWN_S = 0.005  # docs.python.org/3/library/sys.html#sys.setswitchinterval


@pytest.fixture
def as_python_comes() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(PYTHONS_OWN_S)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("as_python_comes")
async def test_threads_that_compute_leave_the_interpreter_to_the_event_loop(redis: tuple[RedisConfig, Path]) -> None:
    config, data_dir = redis
    async with open_process(Config(redis=config), data_dir):
        assert sys.getswitchinterval() == pytest.approx(SWITCH_AFTER_S)
        assert SWITCH_AFTER_S <= PYTHONS_OWN_S / 10
