"""A Redis user that may not do all that a role does: the doctor and ``/readyz`` name what is missing."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import anyio
import httpx2
import msgspec
import pytest

from channels.web.health_endpoints import serve
from daemon.bus import Bus, open_bus
from daemon.bus.permissions import RIGHTS, missing, rules_of
from daemon.cli.doctor.database_checks import examine
from daemon.config import HealthConfig, RedisConfig, Secret
from daemon.errors import BusError
from daemon.permission_check import watch
from daemon.process import Process
from daemon.server import Address
from tests.limits import until
from tests.weblab import client_of

NAME = "somebody"


@pytest.fixture
async def user(bus: Bus, address: Address, server_kind: str) -> AsyncGenerator[RedisConfig]:
    """A user of the embedded server, who may do what an agent does, and how to connect as that user."""
    if server_kind != "valkey":
        pytest.skip("the users are those of the embedded server")
    await allow(bus, rules_of("agent", bus.keys.prefix))
    yield RedisConfig(url=Secret(f"unix://{NAME}:pw@{address.socket}"), prefix=bus.keys.prefix)
    await bus.client.execute_command("ACL", "DELUSER", NAME)


async def allow(bus: Bus, rules: str) -> None:
    await bus.client.execute_command("ACL", "SETUSER", NAME, "on", ">pw", *rules.split())


async def test_a_user_with_the_rules_of_a_role_lacks_nothing_of_it_and_something_of_all_others(
    bus: Bus, user: RedisConfig
) -> None:
    async with open_bus(user, Path("/nowhere")) as own:
        found = {role: await missing(own, role) for role in RIGHTS}
        [finding] = [each for each in await examine(own, embedded=False) if each.check == "permissions"]

    assert {role for role, lacking in found.items() if not lacking} == {"agent"}
    assert {"+xread", f"~{bus.keys.prefix}:{{*}}:sent:*", f"&{bus.keys.prefix}:leaders"} <= set(found["channels"])
    assert f"~{bus.keys.prefix}:{{*}}:overheard:*" in found["consolidation"], "an agent only reads it"
    assert finding.state == "ok"
    assert finding.text == "the Redis user has the permissions for the agent role"
    assert await missing(bus, "agent") == [], "the user of the embedded server may do everything"
    assert await bus.call("EXISTS", bus.keys.session("0")) == 0, "nothing that was tried was done"


async def test_the_doctor_names_the_missing_rules_of_the_nearest_role(bus: Bus, user: RedisConfig) -> None:
    async with open_bus(user, Path("/nowhere")) as own:
        await allow(bus, f"{rules_of('agent', bus.keys.prefix).replace(f'~{bus.keys.prefix}:usage:*', '')} -xadd")
        [finding] = [each for each in await examine(own, embedded=False) if each.check == "permissions"]
        with pytest.raises(BusError, match=r"Redis rejected HSET t[\d-]+:usage:\* because the Redis user lacks"):
            await own.call("HSET", own.keys.usage("2026-01-01", "bot"), "a", "b")

    assert finding.state == "error"
    assert finding.text == (
        f"The Redis user lacks the permissions +xadd, ~{bus.keys.prefix}:usage:* for the role agent. Add the missing "
        "rules with ACL SETUSER. To print each role's rules, run `millpond redis-acl`."
    )


async def test_a_process_whose_user_lacks_a_permission_is_not_ready_until_somebody_corrects_it(
    process: Process, user: RedisConfig, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.permission_check.AGAIN_S", 0.01)
    admin, rules = process.bus, rules_of("agent", process.bus.keys.prefix)
    await allow(admin, f"{rules} -xadd")
    config = msgspec.structs.replace(process.config, redis=user, health=HealthConfig(port=free_port))

    async with open_bus(user, Path("/nowhere")) as own, anyio.create_task_group() as tg:
        process = replace(process, bus=own, config=config)
        await tg.start(serve, process)
        process.started.set()

        async def look() -> None:
            await watch(process, roles=["agent"], task_status=anyio.TASK_STATUS_IGNORED)

        tg.start_soon(look)
        async with client_of(f"http://127.0.0.1:{free_port}") as client:
            await until(lambda: says(client, 503))
            reason = (await client.get("/readyz")).json()["reason"]
            await allow(admin, rules)
            await until(lambda: says(client, 200))
        tg.cancel_scope.cancel()

    assert reason.startswith("The Redis user lacks the permissions +xadd for the role agent.")


async def says(client: httpx2.AsyncClient, status: int) -> bool:
    return (await client.get("/readyz")).status_code == status
