"""Tests that hang in every way, tests that end their process, one whose fixture fails, and good ones between them."""

import ast
import ctypes
import gc
import signal
import threading
from collections.abc import Iterator

import anyio
import pytest
from anyio import to_thread
from hypothesis import given
from hypothesis import strategies as st

HANGS = pytest.mark.timeout(1)  # reached by what hangs alone; the good tests have the limit of all tests


def wait_for_ever() -> None:
    while True:
        signal.pause()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def hanging() -> None:
    wait_for_ever()


@pytest.fixture
def hanging_at_its_end() -> Iterator[None]:
    yield
    wait_for_ever()


@pytest.fixture
def failing() -> None:
    raise RuntimeError("no such pond")


@pytest.mark.parametrize("number", range(20))
def test_good_before(number: int) -> None:
    assert number >= 0


@HANGS
def test_hangs_in_plain_code() -> None:
    wait_for_ever()


@HANGS
async def test_hangs_in_an_async_test() -> None:
    with anyio.CancelScope(shield=True):
        await anyio.sleep_forever()


@HANGS
def test_hangs_in_a_fixture(hanging: None) -> None:
    pass


@HANGS
def test_hangs_in_the_end_of_a_fixture(hanging_at_its_end: None) -> None:
    pass


@HANGS
async def test_hangs_in_a_thread() -> None:
    await to_thread.run_sync(threading.Event().wait)


@HANGS
@given(st.integers())
def test_hangs_in_hypothesis(number: int) -> None:
    wait_for_ever()


class Remains:
    """Garbage that parses source code when it is collected, and leaves more of its kind."""

    def __init__(self, left: int) -> None:
        self.left, self.me = left, self

    def __del__(self) -> None:
        ast.parse("[" * 50 + "]" * 50)
        if self.left:
            Remains(self.left - 1)


def test_fails_and_leaves_garbage_that_is_collected_while_it_is_reported() -> None:
    gc.set_threshold(1)
    Remains(10_000)
    raise AssertionError


def test_crashes() -> None:
    ctypes.string_at(0)


def test_fails_in_a_fixture(failing: None) -> None:
    pass


def test_fails() -> None:
    assert not "a heron"


async def test_fails_with_the_limit_of_its_own_code() -> None:
    with anyio.fail_after(0):
        await anyio.sleep_forever()


@pytest.mark.parametrize("number", range(20))
def test_good_after(number: int) -> None:
    assert number >= 0
