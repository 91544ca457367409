"""What people and machines see of the work: who holds what, who rests, how old the oldest message is."""

import json
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from click.testing import CliRunner

from channels.web.health_endpoints import HealthEndpoints
from daemon.cli.root_command import Options, root
from daemon.config import QueueConfig
from daemon.heartbeat import beat, workers
from daemon.overview import read_queues, read_workers
from daemon.process import Process
from daemon.session import oldest_s, standings
from tests.conftest import Lab
from tests.limits import HANG_S, until

LEASE_S = 60.0
REST_S = 50.0
QUEUE = QueueConfig(lease_s=LEASE_S, backoff_max_s=LEASE_S)
"""Who holds something, or rests, does so for all of a test, and for longer than a wake-up takes."""


async def one_of_each(lab: Lab) -> None:
    """A session that is held, one that rests, one that is ready, and one with nothing waiting."""
    for name in ("held", "resting", "ready", "quiet"):
        await lab.publish("a", session=f"web:{name}")
    await lab.claim("web:held")
    await lab.sessions.back_off(await lab.claim("web:resting"), delay_s=REST_S)
    await lab.commit(await lab.claim("web:quiet"), go_on=False)


async def test_held_and_resting_sessions_are_told_apart(lab: Lab) -> None:
    await one_of_each(lab)

    found = {standing.session: standing for standing in await standings(lab.bus)}

    assert [name for name, standing in found.items() if standing.held] == ["web:held"]
    assert [name for name, standing in found.items() if standing.parked] == ["web:resting"]
    assert set(found) == {"web:held", "web:resting", "web:ready"}
    assert (found["web:held"].worker, found["web:held"].fence) == ("worker", 1)
    assert 0 < found["web:held"].lease_left_s <= LEASE_S
    assert 0 < found["web:resting"].retry_in_s <= REST_S


async def test_a_lease_that_ran_out_holds_nothing(lab: Lab) -> None:
    await one_of_each(lab)
    await lab.expire("web:held")

    assert [standing.session for standing in await standings(lab.bus) if standing.held] == []


async def test_ready_sessions_do_not_hide_the_held_ones_however_many_they_are(lab: Lab) -> None:
    for number in range(20):
        await lab.publish("a", session=f"web:more-{number}")
    await one_of_each(lab)

    found = await standings(lab.bus, limit=5)

    assert len(found) == 5
    assert sum(standing.held for standing in found) == sum(standing.parked for standing in found) == 1


async def test_a_thousand_sessions_are_looked_at_and_each_of_them_once(lab: Lab) -> None:
    due, keys = lab.bus.keys.due(0), [lab.bus.keys.session(f"web:s{number}") for number in range(1_200)]
    await lab.bus.each([("ZADD", due, number, f"web:s{number}") for number in range(1_200)])
    await lab.bus.each([("HSET", key, "fence", 1) for key in keys])
    before = lab.bus.calls

    found = await standings(lab.bus)

    assert len(found) == 1_000
    assert 0 < lab.bus.calls - before < 1_100


async def test_the_oldest_message_tells_how_long_it_waits(lab: Lab) -> None:
    assert await oldest_s(lab.bus, lab.bus.keys.inbox) == 0

    await lab.bus.call(
        "XADD", lab.bus.keys.inbox(0), f"{await lab.server_ms() - 60_000}-0", "session", "s", "id", "a", "message", "{}"
    )

    assert 60 <= await oldest_s(lab.bus, lab.bus.keys.inbox) < 70


async def test_the_queues_say_what_is_parked_and_unknown(lab: Lab) -> None:
    await one_of_each(lab)
    await lab.bus.call("XADD", lab.bus.keys.unknown(0), "*", "session", "support:eve", "reply", "r", "part", "0")
    await lab.bus.call("PEXPIRE", lab.bus.keys.unknown(0), 60_000)

    queues = await read_queues(lab.bus)

    assert (queues.parked, queues.total.unknown, queues.total.backlog) == (1, 1, 3)


async def test_workers_are_listed_with_their_age_and_what_they_hold(process: Process, lab: Lab) -> None:
    await one_of_each(lab)
    async with anyio.create_task_group() as tg:
        tg.start_soon(beat, process, "agent", lambda: 1)
        await until(lambda: workers(lab.bus))
        process.clock.advance(7)  # type: ignore[attr-defined]

        found = await read_workers(lab.bus, limit=100, clock=process.clock)
        tg.cancel_scope.cancel()

    (worker,) = found.workers
    assert (worker.worker, worker.role, worker.holding, worker.seen_s) == (process.name, "agent", 1, 7.0)
    assert [(lease.session, lease.worker, lease.fence) for lease in found.leases] == [("web:held", "worker", 1)]


async def test_the_command_prints_a_table_or_json(
    lab: Lab, server_dir: Path, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLPOND_DATA_DIR", str(server_dir))
    monkeypatch.setenv("MILLPOND_REDIS__PREFIX", prefix)
    await lab.publish("a", session="web:held")
    await lab.claim("web:held")

    async def run(*args: str) -> str:
        return (
            await to_thread.run_sync(lambda: CliRunner().invoke(root, ["worker", "list", *args], obj=Options()))
        ).stdout

    assert json.loads(await run("--json"))["leases"][0]["session"] == "web:held"
    assert "web:held" in await run()
    assert (await read_workers(lab.bus, limit=1)).workers == []


async def test_metrics_tell_the_same(process: Process, lab: Lab) -> None:
    await one_of_each(lab)

    text = (await HealthEndpoints(process)._gauges()).decode()

    values = dict(line.split(" ") for line in text.splitlines() if not line.startswith("#"))
    assert float(values["millpond_in_flight"]) == float(values["millpond_parked"]) == 1
    assert 0 <= float(values["millpond_oldest_waiting_seconds"]) < HANG_S
