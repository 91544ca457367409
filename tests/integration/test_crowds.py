"""One session that floods a worker beside many quiet ones: everybody is answered, and nobody waits for the flood."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace

import anyio
import msgspec
import pytest

from daemon.config import BotConfig, Config, ModelConfig, QueueConfig
from daemon.model import Answer, Chunk, Model, Request, ToolCall
from daemon.process import Process
from tests.conftest import QUEUE, Lab, all_keys
from tests.fakes.said import said
from tests.integration.test_turns import Bot, replace_agent
from tests.limits import HANG_S

FLOOD = "web:z"  # of two sessions that become ready in one millisecond, the one whose name comes first is taken first
SLOTS = 16
AT_ONCE = 100  # messages published at a time: they share one pipeline, so that they arrive in order


class OrderKeeping(Model):
    """Answers at once, and remembers whom in which order."""

    name = "order-keeping"

    def __init__(self, on_asked: Callable[[str], Awaitable[None]] | None = None) -> None:
        self.asked: list[str] = []
        """Ids of the messages, in the order in which their turns came to the model."""
        self._on_asked = on_asked

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        if request.force_tool:
            # Nobody looks at what becomes of older messages, but turns must not wait for it.
            saved = {"history_entry": "They talked.", "memory_update": "Somebody talks a lot."}
            call = ToolCall(id="c", name=request.force_tool, arguments=msgspec.json.encode(saved).decode())
            yield Answer(text="", tool_calls=(call,), model=self.name)
            return
        message_id = said(msgspec.json.decode(request.messages[-1])["content"]).removeprefix("text of ")
        self.asked.append(message_id)
        if self._on_asked is not None:
            await self._on_asked(message_id)
        yield Answer(text="ok", model=self.name)

    async def aclose(self) -> None:
        """Nothing to close."""


@pytest.fixture
def queue() -> QueueConfig:
    """Room for a crowd, and leases that outlast a busy machine."""
    return msgspec.structs.replace(QUEUE, waiting_max=1_000, partition_max=10_000, lease_s=60.0, renew_s=5.0)


def of_slots(process: Process, slots: int) -> Process:
    """With a small window: what is looked at here is who is answered when, not what the model is told."""
    process = replace_agent(process, slots=slots)
    bots = {
        "pond": BotConfig(model=ModelConfig(context_window_tokens=4_096, max_completion_tokens=1_000), tools=("time",))
    }
    config: Config = msgspec.structs.replace(process.config, bots=bots)
    return replace(process, config=config)


async def publish_all(lab: Lab, messages: list[tuple[str, str]]) -> None:
    """Publish (session, id) in order."""
    for first in range(0, len(messages), AT_ONCE):
        async with anyio.create_task_group() as tg:
            for session, message_id in messages[first : first + AT_ONCE]:
                tg.start_soon(lambda s, m: lab.publish(m, session=s), session, message_id)


async def until_all_is_answered(lab: Lab) -> None:
    with anyio.fail_after(HANG_S):
        while await lab.bus.call("XLEN", lab.bus.keys.inbox(0)):  # noqa: ASYNC110 - it happens on the server
            await anyio.sleep(0.02)


async def answered(lab: Lab, session: str) -> list[str]:
    return [message_id for entry in await lab.log(session) for message_id in entry.answers]


async def remove_keys(lab: Lab) -> None:
    """Thousands at once; the fixture takes a round trip for each."""
    keys = await all_keys(lab.bus)
    for first in range(0, len(keys), 500):
        await lab.bus.call("UNLINK", *keys[first : first + 500])


async def test_many_messages_of_one_session_hold_up_none_of_many_quiet_ones(process: Process, lab: Lab) -> None:
    flood = [f"flood-{n:03}" for n in range(120)]
    quiet = [f"quiet-{n:03}" for n in range(100)]
    await publish_all(lab, [(FLOOD, message_id) for message_id in flood])
    await publish_all(lab, [(f"web:{message_id}", message_id) for message_id in quiet])
    model = OrderKeeping()

    async with Bot(of_slots(process, SLOTS), model).working():
        await until_all_is_answered(lab)

    assert await answered(lab, FLOOD) == flood
    assert sorted(model.asked) == sorted([*flood, *quiet])
    last_quiet = max(model.asked.index(message_id) for message_id in quiet)
    # Its fair share is one turn. After that it stands behind all of them, and goes on when the last has been taken,
    # while at most the other slots' turns have still to come to the model.
    assert len([found for found in model.asked[:last_quiet] if found in set(flood)]) <= 1 + SLOTS
    await remove_keys(lab)


async def test_who_comes_while_a_flood_is_worked_off_is_answered_next(process: Process, lab: Lab) -> None:
    """With one slot, and a message of another session now and then while the flood's turn is in progress."""

    async def now_and_then(message_id: str) -> None:
        kind, _, number = message_id.partition("-")
        if kind == "flood" and int(number) % 10 == 0:
            await lab.publish(f"quiet-{number}", session=f"web:quiet-{number}")

    model = OrderKeeping(now_and_then)
    flood = [f"flood-{n:02}" for n in range(50)]
    await publish_all(lab, [(FLOOD, message_id) for message_id in flood])

    async with Bot(of_slots(process, 1), model).working():
        await until_all_is_answered(lab)

    expected = [[f"flood-{n:02}", f"quiet-{n:02}"] if n % 10 == 0 else [f"flood-{n:02}"] for n in range(50)]
    assert model.asked == [message_id for pair in expected for message_id in pair]
    assert await answered(lab, FLOOD) == flood
