"""A session whose keys somebody has spoilt holds up nobody else, and ends no worker."""

from collections.abc import Mapping, Sequence

import pytest
from structlog.testing import capture_logs

from daemon.bus import Bus
from daemon.process import Process
from daemon.testing import ScriptedModel
from tests.conftest import Lab
from tests.integration.test_turns import Bot
from tests.limits import until


async def a_hash_that_is_a_string(bus: Bus) -> None:
    await bus.call("SET", bus.keys.session("web:bad"), "foo")


async def a_log_that_is_a_string(bus: Bus) -> None:
    await bus.call("SET", bus.keys.log("web:bad"), "foo")


async def a_waiting_list_with_what_is_no_id(bus: Bus) -> None:
    await bus.call("LPUSH", bus.keys.waiting("web:bad"), "nonsense")


@pytest.mark.parametrize("spoil", [a_hash_that_is_a_string, a_log_that_is_a_string, a_waiting_list_with_what_is_no_id])
async def test_a_spoilt_session_is_reported_and_the_others_are_answered(process: Process, lab: Lab, spoil) -> None:
    for session in ("web:bad", "web:ann"):
        await lab.publish("m1", session=session)
    await spoil(lab.bus)

    with capture_logs() as logs:
        async with Bot(process, ScriptedModel(then="yes")).working():
            await until(lambda: answered(lab, 2))
            await lab.publish("m2")
            await until(lambda: answered(lab, 4))
            await until(lambda: refused(logs))

    assert await lab.bus.call("ZSCORE", lab.bus.keys.due(0), "web:bad")


async def answered(lab: Lab, entries: int) -> bool:
    return len(await lab.log()) == entries


async def refused(logs: Sequence[Mapping[str, object]]) -> bool:
    found = {line["event"] for line in logs if line.get("session") == "web:bad"}
    return bool(found & {"session.refused", "session.damaged", "turn.failed", "message.unreadable"})
