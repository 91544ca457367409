"""A message that kills its worker must not take those along that were answered beside it."""

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from tests.fakes.openai_server import Hang, Reply, Say, fake_openai
from tests.faults.test_promptness import EVIL, SHORT, Poison, folder, is_dead, kill_and_replace, place
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
    queue = msgspec.structs.replace(SHORT, attempts_max=4)
    beside = [f"beside-{n}" for n in range(5)]
    async with fake_openai(poison) as server, place(folder, server, queue) as here, anyio.create_task_group() as tg:
        await here.start(1)
        tg.start_soon(kill_and_replace, here, poison, *(f"web:{message_id}" for message_id in beside))
        for message_id in beside:
            await here.lab.publish(message_id, session=f"web:{message_id}")
        await here.lab.publish("poison", session=EVIL)
        await until(lambda: is_dead(here.lab))
        await here.until_answered({f"web:{message_id}": [message_id] for message_id in beside})
        tg.cancel_scope.cancel()
