"""What a process tells machines at ``[health]``, and what it counts on the way of a message."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import httpx2
import msgspec
import pytest
from prometheus_client import REGISTRY

from channels.web.health_endpoints import serve
from daemon import metrics
from daemon.bus import pairs
from daemon.config import HealthConfig
from daemon.errors import ConfigError
from daemon.model import Answer, Model, ToolCall, Usage
from daemon.process import Process
from daemon.run import run_services
from daemon.server import Address
from daemon.server.blocking_client import BlockingClient
from daemon.testing import ScriptedModel
from tests.conftest import Lab
from tests.limits import HANG_S, until
from tests.weblab import client_of
from workers.agent.service import serve as answer
from workers.consolidation.service import serve as consolidate


def watched(process: Process, port: int) -> Process:
    config = msgspec.structs.replace(process.config, health=HealthConfig(port=port))
    return replace(process, config=config, stopping=anyio.Event())


@asynccontextmanager
async def asked(process: Process, free_port: int) -> AsyncGenerator[httpx2.AsyncClient]:
    async with anyio.create_task_group() as tg:
        process = watched(process, free_port)
        await tg.start(serve, process)
        process.started.set()
        async with client_of(f"http://127.0.0.1:{free_port}") as client:
            yield client
        tg.cancel_scope.cancel()


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_a_process_of_any_role_tells_how_it_is(process: Process, free_port: int) -> None:
    async with asked(process, free_port) as client:
        for path in ("/livez", "/healthz", "/readyz"):
            answered = await client.get(path, headers={"Host": "millpond-agent.bots.svc"})
            assert (answered.status_code, answered.json()) == (200, {"status": "ok"})
        text = (await client.get("/metrics")).text
        assert (await client.get("/api/sessions")).status_code == 404
        assert (await client.post("/metrics")).status_code == 405

    assert "\nmillpond_backlog 0.0" in text
    assert '\nmillpond_workers{role="agent"} 0.0' in text


async def test_a_taken_port_is_said_by_its_key(process: Process, free_port: int) -> None:
    async with asked(process, free_port):
        with pytest.raises(ConfigError, match=rf"health\.port: port {free_port} on 127\.0\.0\.1 is in use"):
            await serve(watched(process, free_port), task_status=anyio.TASK_STATUS_IGNORED)


async def test_a_process_is_ready_when_all_its_services_have_loaded_what_they_need(
    process: Process, free_port: int
) -> None:
    process = watched(process, free_port)
    loading, loaded = anyio.Event(), anyio.Event()

    async def load_slowly(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        loading.set()
        await loaded.wait()
        task_status.started()
        await process.stopping.wait()

    async with anyio.create_task_group() as tg, client_of(f"http://127.0.0.1:{free_port}") as client:

        async def run() -> None:
            await run_services(process, [load_slowly], beside=[serve], signals=False)

        tg.start_soon(run)
        with anyio.fail_after(HANG_S):
            await loading.wait()
            starting = await client.get("/readyz")
            loaded.set()
            await process.started.wait()
            ready = await client.get("/readyz")
        process.stopping.set()

    assert (starting.status_code, starting.json()["status"]) == (503, "starting")
    assert (ready.status_code, ready.json()) == (200, {"status": "ok"})


async def test_a_worker_has_made_its_kits_when_it_has_started(process: Process) -> None:
    """The first turn waited for the vocabulary, the model's client and what searches: 0.6 s of CPU."""
    connected: list[str] = []

    async def connect(_config: object, *, language: str) -> Model:
        connected.append(language)
        return ScriptedModel()

    for role in (answer, consolidate):
        connected.clear()
        one = replace(process, connect_model=connect, stopping=anyio.Event())
        async with anyio.create_task_group() as tg:
            await tg.start(role, one)
            assert connected == ["en"]
            one.stopping.set()


async def reason_of(client: httpx2.AsyncClient, word: str) -> str:
    """What ``/readyz`` says as soon as it says ``word``; empty when it is to be ready."""
    with anyio.fail_after(HANG_S):
        while True:
            answered = await client.get("/readyz")
            reason = str(answered.json().get("reason", ""))
            if bool(reason) == bool(word) and word in reason:
                assert answered.status_code == (503 if word else 200)
                return reason


async def test_a_process_is_not_ready_while_redis_refuses_writes(
    process: Process, lab: Lab, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.bus._joined, "_patience_s", HANG_S)
    call = lab.bus.call
    causes = (
        (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0"), "out of memory"),
        (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE"), "read-only replica"),
    )
    async with asked(process, free_port) as client:
        for begin, end, sentence in causes:
            await reason_of(client, "")
            await call(*begin)
            try:
                async with anyio.create_task_group() as tg:
                    tg.start_soon(call, "SET", f"{lab.bus.keys.prefix}:written", "1", "EX", "60")
                    assert "\n" not in await reason_of(client, sentence)
                    # Reads are answered, and change nothing about it.
                    assert await call("GET", "nothing") is None
                    await reason_of(client, sentence)
                    tg.cancel_scope.cancel()
            finally:
                await call(*end)
            # A later write of the same kind, as each heartbeat is one.
            await call("SET", f"{lab.bus.keys.prefix}:written", "2", "EX", "60")
        await reason_of(client, "")


async def test_a_process_is_not_ready_while_redis_cannot_write_to_its_disk(
    process: Process, lab: Lab, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.bus._joined, "_patience_s", HANG_S)
    call = lab.bus.call
    settings = [pairs(await call("CONFIG", "GET", name)) for name in ("save", "dir", "dbfilename")]
    found = {name: value.decode() for setting in settings for name, value in setting}
    # A folder in place of the file that the server saves to: renaming fails as writing does on a full disk.
    folder = Path(found[b"dir"]) / found[b"dbfilename"]
    folder.mkdir()
    try:
        await call("CONFIG", "SET", "save", "3600 1")
        await save(lab, "err")
        async with asked(process, free_port) as client, anyio.create_task_group() as tg:
            tg.start_soon(call, "SET", f"{lab.bus.keys.prefix}:written", "1", "EX", "60")
            said = await reason_of(client, "cannot write to its disk (MISCONF)")
            # Nobody takes it for dead, though it refuses even a PING.
            await lab.bus.revive()
            folder.rmdir()
            await save(lab, "ok")
            await reason_of(client, "")
    finally:
        await call("CONFIG", "SET", "save", found[b"save"])
        folder.unlink() if folder.is_file() else folder.rmdir()

    assert said.endswith("Free up space on the Redis server's disk, and check the Redis log.")
    assert "\n" not in said


async def save(lab: Lab, status: str) -> None:
    """Have the server save its data, until that ends with ``status``."""

    async def has_ended() -> bool:
        found = await lab.bus.call("INFO", "persistence")
        return not found["rdb_bgsave_in_progress"] and found["rdb_last_bgsave_status"] == status

    await lab.bus.call("BGSAVE", "SCHEDULE")
    await until(has_ended)


async def test_a_process_whose_password_is_refused_says_so_in_one_line(
    process: Process, lab: Lab, address: Address, free_port: int
) -> None:
    with BlockingClient.unix(address.socket, timeout_s=HANG_S) as link:
        link.call("AUTH", address.password.reveal())
        async with asked(process, free_port) as client:
            link.call("CONFIG", "SET", "requirepass", "another")
            try:
                link.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                said = await reason_of(client, "rejected the login")
            finally:
                link.call("CONFIG", "SET", "requirepass", address.password.reveal())
            await reason_of(client, "")

    assert "\n" not in said
    assert "redis.url" in said


async def test_while_the_work_ends_it_still_tells_and_is_not_ready(process: Process, free_port: int) -> None:
    process = watched(process, free_port)
    working, done = anyio.Event(), anyio.Event()

    async def work(_process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        task_status.started()
        working.set()
        await done.wait()

    async with anyio.create_task_group() as tg, client_of(f"http://127.0.0.1:{free_port}") as client:

        async def run() -> None:
            await run_services(process, [work], beside=[serve], signals=False)

        tg.start_soon(run)
        with anyio.fail_after(HANG_S):
            await working.wait()
        process.stopping.set()
        ready, lives = await client.get("/readyz"), await client.get("/livez")
        done.set()

    assert (ready.status_code, ready.json()["status"]) == (503, "stopping")
    assert lives.status_code == 200


async def test_a_turn_counts_its_claim_its_stages_and_what_its_model_used(process: Process, lab: Lab) -> None:
    used = Usage(
        tokens_in=70, cached_in=20, reports_cached=True, tokens_out=7,
        cost_nano=2_000_000_000, cached_nano=500_000_000, currency="EUR",
    )  # fmt: skip
    call = ToolCall(id="call-1", name="time", arguments="{}")
    model = ScriptedModel(
        Answer(text="", tool_calls=(call,), model="counted", usage=used),
        Answer(text="it is late", model="counted", usage=used),
    )
    claims = counted("millpond_claims_total", attempt="first")
    stages = {
        stage: counted("millpond_turn_stage_seconds_count", stage=stage)
        for stage in ("read", "prompt", "model", "tools", "commit")
    }
    waited = counted("millpond_turn_waited_seconds_count")
    await lab.publish("a")

    async def connect(_config: object, *, language: str) -> Model:
        return model

    process = replace(process, connect_model=connect, stopping=anyio.Event())
    async with anyio.create_task_group() as tg:
        await tg.start(answer, process)
        await until(lambda: counted("millpond_cost_total", model="counted", currency="EUR"))
        process.stopping.set()

    assert counted("millpond_claims_total", attempt="first") == claims + 1
    assert {
        stage: counted("millpond_turn_stage_seconds_count", stage=stage) - before for stage, before in stages.items()
    } == {"read": 1, "prompt": 2, "model": 2, "tools": 1, "commit": 1}
    assert counted("millpond_turn_waited_seconds_count") == waited + 1
    assert counted("millpond_model_calls_total", model="counted") == 2
    ways = ("in", "cacheable", "cached", "out")
    assert [counted("millpond_tokens_total", model="counted", direction=way) for way in ways] == [140, 140, 40, 14]
    assert counted("millpond_cached_cost_total", model="counted", currency="EUR") == pytest.approx(1)
    assert counted("millpond_cost_total", model="counted", currency="EUR") == pytest.approx(4)


async def test_what_blocks_the_event_loop_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "LOOK_EVERY_S", 0.01)
    seen, late = counted("millpond_loop_lag_seconds_count"), counted("millpond_loop_lag_seconds_sum")

    async with anyio.create_task_group() as tg:
        tg.start_soon(metrics.watch_loop)
        await anyio.wait_all_tasks_blocked()
        time.sleep(0.2)  # noqa: ASYNC251 - the point
        with anyio.fail_after(HANG_S):
            while counted("millpond_loop_lag_seconds_count") == seen:  # noqa: ASYNC110 - counters tell nobody
                await anyio.sleep(0.01)
        tg.cancel_scope.cancel()

    assert counted("millpond_loop_lag_seconds_sum") - late >= 0.15


async def test_a_session_that_nobody_consolidates_shows_as_lag(process: Process, lab: Lab, free_port: int) -> None:
    key = lab.bus.keys.unsettled(0)
    await lab.bus.call(
        "ZADD", key, await lab.server_ms() - 90_000, "web:late", await lab.server_ms() + 5_000, "web:soon"
    )

    async with asked(process, free_port) as client:
        text = (await client.get("/metrics")).text
    await lab.bus.call("DEL", key)

    [lag] = [line for line in text.splitlines() if line.startswith("millpond_consolidation_lag_seconds ")]
    assert float(lag.split()[1]) >= 90
