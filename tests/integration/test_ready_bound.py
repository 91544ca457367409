"""However often sessions are woken, ``ready`` holds each of them at most once."""

import pytest

from daemon.bus import reap, wake
from tests.conftest import Lab

pytestmark = pytest.mark.anyio

SESSIONS = [f"web:{number}" for number in range(20)]


async def woken_by_everything(lab: Lab) -> list[int]:
    """How many entries ``ready`` holds after each way of waking."""
    sizes: list[int] = []
    for message in ("m1", "m2"):
        for session in SESSIONS:
            await lab.publish(message, session=session)
        sizes.append(len(await lab.ready()))
    for _ in range(3):
        await wake(lab.bus, SESSIONS)
        for session in SESSIONS:
            await lab.expire(session)
        await reap(lab.bus, lab.queue)
        sizes.append(len(await lab.ready()))
    return sizes


async def test_ready_holds_one_entry_a_session_however_often_they_are_woken(lab: Lab) -> None:
    assert await woken_by_everything(lab) == [len(SESSIONS)] * 5


async def test_messages_for_sessions_that_are_held_put_nothing_into_ready(lab: Lab) -> None:
    for session in SESSIONS:
        await lab.publish("m1", session=session)
    for session in SESSIONS[5:]:
        await lab.claim(session)

    for session in SESSIONS:
        await lab.publish("m2", session=session)

    assert sorted(await lab.ready()) == sorted(SESSIONS[:5])
