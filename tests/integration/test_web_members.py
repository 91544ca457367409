"""Clients of the API without the rights of operators: what they may read, write and be, and how often."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from structlog.testing import capture_logs

from channels.inbound import accept, make_inbound
from channels.web import service
from channels.web.service import serve
from daemon.cli.doctor.machine_checks import examine_tokens
from daemon.clock import SystemClock
from daemon.config import BotConfig, Config, Secret, TestingConfig, WebConfig, WebLimitsConfig
from daemon.operators import local_token
from daemon.people import Link, LinkIndex
from daemon.process import Process
from tests.api_token import header_of
from tests.conftest import Lab
from tests.integration.test_web_api import error_of
from tests.limits import until
from tests.tables import each_row
from tests.weblab import addresses_in, client_of

MEMBER = "a-members-token"
PUSH = "support"


@pytest.fixture
def here(process: Process) -> Process:
    """A process with a push channel, in which Eve has written, and an administrator called boss."""
    channels: dict[str, Any] = {
        "web": WebConfig(port=0, member_token=Secret(MEMBER)), "open": WebConfig(port=0, open=True),
        PUSH: TestingConfig(url="http://127.0.0.1:1/"),
    }  # fmt: skip
    bots = {"pond": BotConfig(admins=("web:boss", "chief"))}
    config = msgspec.structs.replace(process.config, channels=channels, bots=bots)
    return replace(process, config=config, stopping=anyio.Event())


@pytest.fixture
async def clients(here: Process) -> AsyncIterator[dict[str, httpx2.AsyncClient]]:
    """Clients by their rights: operators, members, and strangers of an open channel."""
    said: list[str] = []
    for channel, chat, user in ((PUSH, "eve", "eve"), ("web", "bobs", "bob"), ("web", "ann", "ann")):
        inbound = make_inbound(here, channel=channel, chat=chat, text="hello", sender_id=user)
        await accept(here, inbound)
    async with anyio.create_task_group() as tg:
        await tg.start(serve, replace(here, announce=said.append))
        web, opened = addresses_in(said)
        async with (
            client_of(web, **header_of(here.data_dir)) as operator,
            client_of(web, Authorization=f"Bearer {MEMBER}") as member,
            client_of(opened) as stranger,
        ):
            yield {"operator": operator, "member": member, "stranger": stranger}
        tg.cancel_scope.cancel()


@each_row(
    "path",
    [
        f"/api/sessions/{PUSH}:eve/messages", f"/api/events?session={PUSH}:eve", "/api/sessions/terminal:x/messages",
        f"/api/sessions/{PUSH}%3Aeve/messages", f"/api/sessions/{PUSH}:eve/messages?before=9",
    ],
)  # fmt: skip
async def test_only_operators_read_sessions_of_other_channels(clients: dict[str, httpx2.AsyncClient], path: str):
    for who in ("member", "stranger"):
        assert error_of(await clients[who].get(path), 403) == "foreign_session", who
    async with clients["operator"].stream("GET", path) as answer:
        assert answer.status_code == 200


async def test_members_see_a_list_of_the_sessions_of_their_channel(clients: dict[str, httpx2.AsyncClient]) -> None:
    async def listed(who: str, query: str) -> set[str]:
        found = (await clients[who].get(f"/api/sessions{query}")).json()["sessions"]
        return {each["session"] for each in found}

    assert await listed("operator", "") == {f"{PUSH}:eve", "web:bobs", "web:ann"}
    for query in ("", "?age=5", f"?channel={PUSH}", "?q=e", "?channel="):
        assert not {each for each in await listed("member", query) if not each.startswith("web:")}, query
        assert await listed("stranger", query) == set(), query
    assert await listed("member", "") == {"web:bobs", "web:ann"}


@each_row(
    "message, code",
    [
        ({"session": "ann"}, ""), ({"session": "new"}, ""), ({"session": "web:ann:topic"}, ""),
        ({"session": "ann", "user": "bob"}, "not_operator"), ({"session": "new", "user": "new"}, "not_operator"),
        ({"session": "boss"}, "not_operator"), ({"session": "chief"}, "not_operator"),
        ({"session": "boss", "text": "/pair 123456"}, "not_operator"),
        ({"session": "web:boss:topic"}, "not_operator"), ({"session": "bobs"}, "not_operator"),
        ({"session": "operator"}, "not_operator"), ({"session": "operator-ann"}, "not_operator"),
        ({"session": "linked"}, "not_operator"), ({"session": "home"}, "not_operator"),
        ({"session": f"{PUSH}:eve"}, "foreign_session"),
    ],
)  # fmt: skip
async def test_a_session_gives_a_member_no_rights_of_another_person(
    clients: dict[str, httpx2.AsyncClient], lab: Lab, message: dict[str, str], code: str
) -> None:
    link = Link(home="pond:person:web:home", by="code", time="2026-11-20T09:00:00.000Z")
    await LinkIndex(lab.bus).note("pond:person:web:linked", link)
    await lab.bus.call("HSET", lab.bus.keys.memory("pond:person:web:linked"), "joined", link.home)

    answer = await clients["member"].post("/api/messages", json={"text": "x", **message})

    assert (error_of(answer, 403) in code) if code else answer.status_code == 202
    if code == "not_operator":
        assert (await clients["operator"].post("/api/messages", json={"text": "x", **message})).status_code == 202


async def test_a_member_of_one_channel_is_a_stranger_to_another(clients: dict[str, httpx2.AsyncClient]) -> None:
    refused = await clients["stranger"].get("/api/me", headers={"Authorization": f"Bearer {MEMBER}"})
    assert error_of(refused, 401) == "unauthorized"
    for who in ("member", "stranger"):
        assert "operators only" in (await clients[who].get("/api/system")).json()["error"]["message"]


@each_row("options, path, status", [
    ({}, "/metrics", 401), ({"metrics": "open"}, "/metrics", 200), ({"open": True}, "/metrics", 200),
    *(({}, path, 200) for path in ("/healthz", "/livez", "/readyz", "/", "/login")),
])  # fmt: skip
async def test_machines_and_browsers_that_have_no_token(process: Process, options: Any, path: str, status: int) -> None:
    said: list[str] = []
    config = msgspec.structs.replace(process.config, channels={"web": WebConfig(port=0, **options)})
    async with anyio.create_task_group() as tg:
        process = replace(process, config=config, announce=said.append, stopping=anyio.Event())
        await tg.start(serve, process)
        process.started.set()
        async with client_of(addresses_in(said)[0], Accept="text/html") as client:
            assert (await client.get(path)).status_code == status
        tg.cancel_scope.cancel()


async def test_each_client_has_its_own_requests_of_a_minute(process: Process, clock: Any) -> None:
    said: list[str] = []
    limits = WebLimitsConfig(requests_per_minute=3)
    channel = WebConfig(port=0, member_token=Secret(MEMBER), limits=limits)
    config = msgspec.structs.replace(process.config, channels={"web": channel})
    async with anyio.create_task_group() as tg:
        await tg.start(serve, replace(process, config=config, announce=said.append, stopping=anyio.Event()))
        [address] = addresses_in(said)
        async with client_of(address) as client:
            member, operator = {"Authorization": f"Bearer {MEMBER}"}, header_of(process.data_dir)
            for headers, status in (({}, 401), (member, 200), (operator, 200)):
                found = [await client.get("/api/sessions", headers=headers) for _ in range(5)]
                assert [each.status_code for each in found] == [status] * 3 + [429] * 2
                assert error_of(found[-1], 429) == "too_many_requests"
                assert found[-1].headers["retry-after"] == "20"
                assert "requests_per_minute" in found[-1].json()["error"]["message"]
            for path in ("/healthz", "/", "/page/app.js"):
                assert {(await client.get(path)).status_code for _ in range(5)} == {200}, path
            assert error_of(await client.post("/api/login", json={"code": "x"}), 403) == "bad_login"
            clock.advance(20.5)
            assert (await client.get("/api/sessions")).status_code == 401
        tg.cancel_scope.cancel()


async def test_a_start_tells_how_to_send_the_token_and_does_not_show_it(process: Process) -> None:
    said: list[str] = []

    async def start(**options: Any) -> str:
        said.clear()
        config = msgspec.structs.replace(process.config, channels={"web": WebConfig(port=0, **options)})
        async with anyio.create_task_group() as tg:
            await tg.start(serve, replace(process, config=config, announce=said.append, stopping=anyio.Event()))
            tg.cancel_scope.cancel()
        return "\n".join(said)

    first, again = await start(), await start()
    configured, opened = await start(token=Secret("hush-hush")), await start(open=True)

    path = process.data_dir / "api.header"
    assert f"stored it in {path}" in first and "stored it in" not in again
    assert f"curl -H @{path} http" in first and f"curl -H @{path} http" in again
    assert "'Authorization: Bearer <token>'" in configured and "channels.web.token" in configured
    assert "API: curl http" in opened
    assert all("millpond page" in each for each in (first, configured, opened)), "nobody was there to see a link"
    token = local_token(process.data_dir).secret.reveal()
    assert not [each for each in (token, "hush-hush") if each in first + again + configured]


async def test_processes_with_different_tokens_are_told_by_the_log_and_by_the_doctor(
    process: Process, lab: Lab, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    compare = service.token_conflicts
    monkeypatch.setattr(service, "token_conflicts", lambda *args: looks.append(args) or compare(*args))
    monkeypatch.setattr(service, "COMPARE_S", 0.01)
    config = msgspec.structs.replace(process.config, channels={"web": WebConfig(port=0)})
    one = replace(process, config=config, stopping=anyio.Event(), clock=SystemClock(), name="heron-1-a")
    other = replace(one, data_dir=tmp_path / "elsewhere", name="lotus-1-b")

    async def told() -> list[str]:
        found = await examine_tokens(lab.bus, config, process.data_dir)
        return [each.text for each in found if each.state == "warning"]

    with capture_logs() as lines:
        async with anyio.create_task_group() as tg:
            await tg.start(serve, one)
            await until(lambda: lab.bus.call("HLEN", lab.bus.keys.workers))
            assert await told() == []
            await tg.start(serve, other)
            await until(lambda: len({each["reason"] for each in lines if each["event"] == "token.differs"}) == 2)
            [warning] = await told()
            seen = len(looks)
            await until(lambda: len(looks) > seen + 4)
            (process.data_dir / "api.header").unlink()
            assert len(await told()) == 2, "a process has a token that nobody can read any more"
            tg.cancel_scope.cancel()

    assert "on lotus expect a different API token" in warning and "channels.web.token_file" in warning
    reasons = [each["reason"] for each in lines if each["event"] == "token.differs"]
    assert sorted(reasons) == sorted({*reasons}), "each is logged once"


@each_row(
    "mode, content, state, text",
    [
        (0o600, None, "ok", "starts for the first time"),
        (0o600, f"Authorization: Bearer {'s3cret' * 6}", "ok", "api.header"),
        (0o644, f"Authorization: Bearer {'s3cret' * 6}", "warning", "chmod 600"),
        (0o600, "Authorization: Bearer s3cret", "error", "Delete the file"),
    ],
)  # fmt: skip
async def test_the_doctor_looks_at_the_token_of_the_data_directory(
    lab: Lab, tmp_path: Any, mode: int, content: str | None, state: str, text: str
) -> None:
    file = tmp_path / "api.header"
    if content is not None:
        file.write_text(content)
        file.chmod(mode)

    [found] = await examine_tokens(lab.bus, Config(), tmp_path)

    assert (found.state, text in found.text, "s3cret" in found.text) == (state, True, False)
