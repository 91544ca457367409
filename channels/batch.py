"""What a platform said in one answer, handed in: chats side by side, each of them in order."""

from collections import defaultdict
from collections.abc import Sequence

import anyio

from channels.arrival import Arrival
from channels.base import Intake
from daemon.errors import BusUnavailable


async def take_all(intake: Intake, arrivals: Sequence[Arrival | None]) -> int:
    """Hand in all of them; None stands for what nobody needs to see.

    How many of the first ones are dealt with: these need not be said again. Where one could not be kept, nothing later
    of its chat is handed in. Who cancels it finds out nothing, and has all of them said again, which changes nothing.
    """
    dealt = [arrival is None for arrival in arrivals]
    chats: defaultdict[str, list[tuple[int, Arrival]]] = defaultdict(list)
    for place, arrival in enumerate(arrivals):
        if arrival is not None:
            chats[arrival.chat].append((place, arrival))

    async def in_order(said: Sequence[tuple[int, Arrival]]) -> None:
        taken = await intake.take_run([arrival for _, arrival in said])
        for place, _ in said[:taken]:
            dealt[place] = True

    async with anyio.create_task_group() as tg:
        for said in chats.values():
            tg.start_soon(in_order, said)
    return dealt.index(False) if False in dealt else len(dealt)


async def one_by_one(intake: Intake, arrivals: Sequence[Arrival]) -> int:
    """``Intake.take_run`` by ``take``, for an intake that has nothing better."""
    for done, arrival in enumerate(arrivals):
        try:
            await intake.take(arrival)
        except BusUnavailable:
            return done
    return len(arrivals)
