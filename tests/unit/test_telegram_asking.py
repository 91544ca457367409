"""Asking for updates against a server that repeats, mixes up and is interrupted: what is confirmed was dealt with."""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.arrival import Arrival
from channels.batch import one_by_one
from channels.telegram import polling
from channels.telegram.api_types import Conflict
from channels.telegram.event_inlet import EventInlet
from channels.telegram.polling import Polling
from channels.telegram.updates import Me
from daemon.errors import BusUnavailable, SendUnknown
from tests.limits import HANG_S

FIRST = 100
CHATS = 3


class Server:
    """Gives updates that are not confirmed, and stops the one who asks when there are none."""

    def __init__(self, chats: list[int], dice: list[int]) -> None:
        self.updates = {FIRST + at: chat for at, chat in enumerate(chats)}
        self.taken: list[tuple[int, int]] = []
        """Chat and number, in the order in which they were taken."""
        self.dice = dice
        self.done = anyio.CancelScope()

    def throw(self, sides: int) -> int:
        return self.dice.pop() % sides if self.dice else sides - 1

    async def call(self, method: str, params: Mapping[str, Any], *, timeout_s: float) -> msgspec.Raw:
        await anyio.lowlevel.checkpoint()
        if self.throw(6) == 0:
            raise SendUnknown("cut")
        confirmed = [number for number in self.updates if number < params.get("offset", 0)]
        dealt_with = {number for _, number in self.taken}
        assert set(confirmed) <= dealt_with, "confirmed and not dealt with"
        for number in confirmed:
            del self.updates[number]
        if not self.updates:
            self.done.cancel()
            await anyio.lowlevel.checkpoint()
        batch = list(self.updates)[: 1 + self.throw(5)]
        if self.throw(3) == 0:
            batch += batch[:1]
        return msgspec.Raw(msgspec.json.encode([self._said(number) for number in batch]))

    def _said(self, number: int) -> dict[str, Any]:
        chat = self.updates[number]
        person = {"id": chat, "first_name": "A"}
        said = {"message_id": number, "from": person, "chat": {"id": chat, "type": "private"}, "text": "x"}
        return {"update_id": number, "message": said}

    async def take_run(self, arrivals: Sequence[Arrival]) -> int:
        return await one_by_one(self, arrivals)

    async def take(self, arrival: Arrival) -> None:
        await anyio.lowlevel.checkpoint()
        if self.throw(4) == 0:
            raise BusUnavailable("away")
        self.taken.append((int(arrival.chat), int(arrival.id)))


class Refusing:
    def __init__(self, error: Exception) -> None:
        self.error = error

    async def call(self, method: str, params: Mapping[str, Any], *, timeout_s: float) -> msgspec.Raw:
        raise self.error


class Unmoved:
    async def settled(self, arrival: Arrival) -> Arrival:
        return arrival


@given(st.lists(st.integers(1, CHATS), max_size=25), st.lists(st.integers(0, 59), max_size=120))
@settings(max_examples=40)
def test_nothing_is_confirmed_that_was_not_dealt_with_and_each_chat_keeps_its_order(chats: list[int], dice: list[int]):
    async def run() -> list[tuple[int, int]]:
        server = Server(chats, dice)
        inlet = EventInlet(server, Me(id=1), Unmoved(), channel="t")  # type: ignore[arg-type]
        with anyio.fail_after(HANG_S), server.done:
            await Polling(server, inlet, channel="t").run()  # type: ignore[arg-type]
        return server.taken

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polling, "PAUSE_MIN_S", 0.0)
        patch.setattr(polling, "PAUSE_MAX_S", 0.0)
        patch.setattr(polling, "GATHER_S", 0.0)
        taken = anyio.run(run)

    for chat in set(chats):
        first_times = list(dict.fromkeys(number for whose, number in taken if whose == chat))
        assert first_times == [FIRST + at for at, whose in enumerate(chats) if whose == chat]


def test_a_first_conflict_stops_the_asking_for_two_seconds_at_most_and_further_ones_for_longer() -> None:
    conflict = Conflict("terminated by other getUpdates request", webhook=False)

    async def rests_s() -> list[float]:
        asking = Polling(Refusing(conflict), None, channel="t")  # type: ignore[arg-type]
        return [await asking._once() for _ in range(8)]

    first, *later = anyio.run(rests_s)

    assert 1.0 <= first <= 2.0
    assert 15.0 <= max(later) <= 30.0


def test_a_busy_bot_asks_again_no_sooner_than_others_had_time_to_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "GATHER_S", 0.2)
    asked_at: list[float] = []

    async def run() -> None:
        server = Server([1, 2, 3], [59] * 60)  # no fault, and as many updates as there are in one answer

        async def call(method: str, params: Mapping[str, Any], *, timeout_s: float) -> msgspec.Raw:
            asked_at.append(anyio.current_time())
            return await Server.call(server, method, params, timeout_s=timeout_s)

        monkeypatch.setattr(server, "call", call)
        inlet = EventInlet(server, Me(id=1), Unmoved(), channel="t")  # type: ignore[arg-type]
        with anyio.fail_after(HANG_S), server.done:
            await Polling(server, inlet, channel="t").run()  # type: ignore[arg-type]

    anyio.run(run)

    assert len(asked_at) == 2
    assert asked_at[1] - asked_at[0] >= 0.2 * 0.9  # the wait begins before the call is noted
