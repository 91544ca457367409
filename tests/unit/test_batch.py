"""What was said in one answer is handed in by chats, and only what is dealt with counts as such."""

from collections.abc import Sequence

import anyio
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from channels.arrival import Arrival, Sender
from channels.batch import one_by_one, take_all
from daemon.errors import BusUnavailable

CHATS = st.lists(
    st.tuples(st.sampled_from(["ann", "bob", "cleo", None]), st.booleans(), st.integers(0, 3)), max_size=20
)
"""Of each update: its chat, or that nobody needs it; whether it cannot be kept; how long it takes."""


class Slow:
    """An intake that takes its time, and notes what it was given and what it kept."""

    def __init__(self, said: list[tuple[str | None, bool, int]]) -> None:
        self._said = said
        self.given: list[int] = []
        self.kept: list[int] = []

    async def take_run(self, arrivals: Sequence[Arrival]) -> int:
        return await one_by_one(self, arrivals)

    async def take(self, arrival: Arrival) -> None:
        place = int(arrival.id)
        self.given.append(place)
        _, refused, steps = self._said[place]
        for _ in range(steps):
            await checkpoint()
        if refused:
            raise BusUnavailable("Redis is away")
        self.kept.append(place)


@given(CHATS)
def test_what_counts_as_dealt_with_is_kept_and_each_chat_is_in_order(said: list[tuple[str | None, bool, int]]) -> None:
    intake = Slow(said)
    arrivals = [
        chat and Arrival(seen_as=str(place), id=str(place), order=place, chat=chat, sender=Sender(id="1"))
        for place, (chat, _, _) in enumerate(said)
    ]

    taken = anyio.run(take_all, intake, arrivals)

    wanted = [place for place, (chat, _, _) in enumerate(said) if chat is not None]
    assert {place for place in wanted if place < taken} <= set(intake.kept)
    assert taken == len(said) or (taken in wanted and taken not in intake.kept)
    for chat in ("ann", "bob", "cleo"):
        mine = [place for place in wanted if said[place][0] == chat]
        first_refused = next((at for at, place in enumerate(mine) if said[place][1]), len(mine))
        assert [place for place in intake.given if place in mine] == mine[: first_refused + 1]
        assert [place for place in intake.kept if place in mine] == mine[:first_refused]
