"""Who belongs where, and what a turn is told of it while the process has much to do."""

from collections.abc import Sequence
from typing import Any, cast

import anyio
import pytest

from daemon.bus import Bus, Part
from daemon.recall import SessionBook
from daemon.recall import session_book as sessions_module
from tests.conftest import Lab

ANN, BOB = "pond:person:web:ann", "pond:person:web:bob"
LONG_S = 30.0


class SlowBus:
    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.takes_s = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)

    async def call(self, *command: Part) -> Any:
        await anyio.sleep(self.takes_s)
        return await self._bus.call(*command)


@pytest.fixture(autouse=True)
def always_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "FRESH_S", 0.0)


@pytest.fixture
def slow(lab: Lab) -> SlowBus:
    return SlowBus(lab.bus)


async def said(lab: Lab, scope: str, sessions: Sequence[str]) -> None:
    """Each of the sessions belongs to ``scope``, and was active."""
    for session in sessions:
        await lab.bus.call("HSET", lab.bus.keys.session(session), "head", 1, "scope", scope)
        await lab.bus.call("ZADD", lab.bus.keys.sessions, 1, session)


def book_of(slow: SlowBus) -> SessionBook:
    return SessionBook(cast("Bus", slow))


async def test_another_session_of_a_scope_is_seen_as_soon_as_it_is_there(lab: Lab, slow: SlowBus) -> None:
    book = book_of(slow)
    await said(lab, ANN, ["web:one"])
    alone = await book.has_other(ANN, "web:one", within_s=LONG_S)
    await said(lab, ANN, ["web:two"])

    assert not alone
    assert await book.has_other(ANN, "web:one", within_s=LONG_S)


async def test_what_was_seen_counts_while_looking_takes_long(lab: Lab, slow: SlowBus) -> None:
    book = book_of(slow)
    await said(lab, ANN, ["web:one"])
    await said(lab, BOB, ["web:b1", "web:b2"])
    await book.look()

    slow.takes_s = LONG_S

    # Two hundred turns at once that all search for nothing would be more load upon too much load.
    assert not await book.has_other(ANN, "web:one", within_s=0.01)
    assert await book.has_other(BOB, "web:b1", within_s=0.01)


async def test_an_old_look_or_none_does_not_count(lab: Lab, slow: SlowBus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "STEP_S", 0.05)
    book = book_of(slow)
    await said(lab, ANN, ["web:one"])
    slow.takes_s = LONG_S
    never = await book.has_other(ANN, "web:one", within_s=0.01)
    slow.takes_s = 0.0
    alone = await book.has_other(ANN, "web:one", within_s=LONG_S)
    slow.takes_s = LONG_S
    monkeypatch.setattr(sessions_module, "STILL_S", 0.0)

    assert never
    assert not alone
    assert await book.has_other(ANN, "web:one", within_s=0.01)
