"""Workers that die take no message along that did not kill them."""

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from tests.fakes.openai_server import Hang, Reply, Say, fake_openai
from tests.faults.test_promptness import (
    EVIL,
    SHORT,
    Poison,
    end_pauses,
    folder,
    is_dead,
    kill_and_replace,
    place,
)
from tests.limits import until

__all__ = ["folder"]  # a fixture

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class SlowPoison(Poison):
    """Kills the worker that asks for it; all others get an answer that takes its time."""

    def __call__(self, body: dict[str, Any]) -> Reply:
        reply = super().__call__(body)
        return reply if isinstance(reply, Hang) else Say("slow slow", delay_s=0.4)


async def test_those_beside_a_message_that_kills_its_worker_are_answered(folder: Path) -> None:
    poison = SlowPoison()
    queue = msgspec.structs.replace(SHORT, attempts_max=2)
    beside = [f"beside-{n}" for n in range(5)]
    async with fake_openai(poison) as server, place(folder, server, queue) as here, anyio.create_task_group() as tg:
        await here.start(1)
        sessions = [f"web:{message_id}" for message_id in beside]
        tg.start_soon(kill_and_replace, here, poison, *sessions)
        tg.start_soon(end_pauses, here.lab, EVIL, *sessions)
        for message_id in beside:
            await here.lab.publish(message_id, session=f"web:{message_id}")
        await here.lab.publish("poison", session=EVIL)
        await until(lambda: is_dead(here.lab))
        await here.until_answered({f"web:{message_id}": [message_id] for message_id in beside})
        tg.cancel_scope.cancel()


class Unlucky(Poison):
    """A message whose first six workers are killed; the seventh answers it."""

    def __call__(self, body: dict[str, Any]) -> Reply:
        if self.touched < KILLS:
            return super().__call__(body)
        self.touched += 1
        return Say("ok")


KILLS = 6


async def test_a_message_whose_workers_are_killed_six_times_in_a_row_is_answered(folder: Path) -> None:
    unlucky = Unlucky()
    async with fake_openai(unlucky) as server, place(folder, server, SHORT) as here, anyio.create_task_group() as tg:
        await here.start(1)
        tg.start_soon(kill_and_replace, here, unlucky)
        tg.start_soon(end_pauses, here.lab, EVIL)
        await here.lab.publish("poison", session=EVIL)
        await here.until_answered({EVIL: ["poison"]})
        tg.cancel_scope.cancel()

        assert unlucky.touched == KILLS + 1
