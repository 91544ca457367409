"""Who is an operator of a web channel: links that work once, cookies that count only in what our own page asks."""

import hashlib
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from anyio import to_thread
from click.testing import CliRunner
from starlette.routing import Route

from channels.web.access import Operators, login
from channels.web.app import application
from channels.web.request_guard import OPEN, OpenRequests
from channels.web.service import serve
from channels.web.settings import settings_routes
from channels.web.site import Site
from channels.web.static import is_page
from daemon.cli.root_command import Options, root
from daemon.clock import SystemClock
from daemon.config import Secret, WebConfig
from daemon.errors import BusUnavailable
from daemon.operators import VISITOR_VALID_S, LoginCodes, OperatorAudit, link
from daemon.process import Process
from daemon.testing import ManualClock
from tests.conftest import Lab, all_keys, dump
from tests.integration.test_web_api import error_of, sent
from tests.limits import until
from tests.tables import each_row
from tests.weblab import addresses_in, client_of

TOKEN = "an-operators-token"

AS_EVER = {
    "/", "/livez", "/login", "/page/{name:path}", "/s/{rest:path}", "/memory", "/memory/{rest:path}", "/system",
    "/system/{rest:path}", "/healthz", "/readyz", "/metrics", "/api/messages", "/api/sessions",
    "/api/sessions/{session:path}/messages", "/api/events", "/v1/chat/completions", "/v1/models", "/v1/models/{model}",
}  # fmt: skip
"""What members and clients of an open channel may ask."""


@dataclass(frozen=True, kw_only=True)
class Web:
    """A web channel, a browser that has not logged in, and what was said to who started it."""

    process: Process
    address: str
    links: list[str]
    browser: httpx2.AsyncClient

    @property
    def code(self) -> str:
        return self.links[0].partition("#")[2]

    async def log_in(self, code: str | None = None, **headers: str) -> httpx2.Response:
        body = {"code": self.code if code is None else code}
        return await self.browser.post("/api/login", json=body, headers={"Origin": self.address, **headers})

    async def audit(self) -> list[tuple[str, str, str]]:
        """Action, target and outcome of what was done, the newest first."""
        deeds = await OperatorAudit(self.process.bus).newest(limit=100)
        return [(deed.action, deed.target, deed.outcome) for deed in deeds]


@asynccontextmanager
async def web_of(process: Process, **options: Any) -> AsyncGenerator[Web]:
    """The channel ``web`` of a process for the length of a block."""
    said, links = list[str](), list[str]()
    channels = {"web": WebConfig(port=0, **options)}
    config = msgspec.structs.replace(process.config, channels=channels)
    served = replace(process, config=config, announce=said.append, invite=links.append, stopping=anyio.Event())
    async with anyio.create_task_group() as tg:
        await tg.start(serve, served)
        [address] = addresses_in(said)
        async with client_of(address) as browser:
            yield Web(process=served, address=address, links=links, browser=browser)
        tg.cancel_scope.cancel()


@pytest.fixture
async def web(process: Process) -> AsyncIterator[Web]:
    async with web_of(process) as web:
        yield web


async def keys_of(lab: Lab, kind: str) -> list[bytes]:
    return [key for key in await all_keys(lab.bus) if f":{kind}:".encode() in key]


async def test_a_link_logs_a_browser_in_and_tells_it_what_is_here(web: Web) -> None:
    assert web.links == [f"{web.address}/login#{web.code}"]
    assert error_of(await web.browser.get("/api/me"), 401) == "unauthorized"

    assert (await web.log_in()).status_code == 204
    me = (await web.browser.get("/api/me")).json()

    assert (me["operator"], me["channel"], me["bot"], me["address"]) == (True, "web", "pond", web.address)
    assert {"/new", "/stop", "/help"} <= {command["name"] for command in me["commands"]}
    assert all(command["text"] for command in me["commands"])


async def test_the_cookie_is_kept_from_scripts_and_from_other_sites(web: Web) -> None:
    given = (await web.log_in()).headers["set-cookie"]

    name, *rest = given.split("; ")
    port = web.address.rpartition(":")[2]
    assert re.fullmatch(rf"millpond-{port}=[\w-]{{43}}", name)
    assert set(rest) == {"HttpOnly", "SameSite=Strict", "Path=/", f"Max-Age={round(VISITOR_VALID_S)}"}


async def test_behind_tls_the_cookie_never_goes_over_the_open_wire(process: Process, lab: Lab) -> None:
    async with web_of(process, allowed_hosts=("pond.example",)) as web:
        given = (await web.log_in(Origin="https://pond.example", Host="pond.example")).headers["set-cookie"]
        [key] = await keys_of(lab, "visitor")
        await lab.bus.call("PEXPIRE", key, 60_000)
        headers = {"Host": "pond.example", "Cookie": given.partition(";")[0]}
        renewed = (await web.browser.get("/api/me", headers=headers)).headers["set-cookie"]
        gone = await web.browser.post("/api/logout", headers={**headers, "Origin": "https://pond.example"})

    assert given.startswith("__Host-millpond=") and given.endswith("; Secure")
    assert renewed == given
    assert gone.headers["set-cookie"].startswith("__Host-millpond=; ")
    assert gone.headers["set-cookie"].endswith("; Secure")


async def test_several_on_one_machine_keep_their_cookies_apart(process: Process) -> None:
    async with web_of(process) as one, web_of(process) as other:
        await one.log_in()
        one.browser.cookies.set("millpond-1", "another's")
        both = one.browser.cookies
        async with httpx2.AsyncClient(base_url=other.address, cookies=both) as browser:
            assert error_of(await browser.get("/api/me"), 401) == "unauthorized"
        assert (await one.browser.get("/api/me")).status_code == 200


async def test_a_link_works_once_even_for_many_at_the_same_time(web: Web) -> None:
    statuses: list[int] = []

    async def log_in() -> None:
        async with client_of(web.address) as browser:
            statuses.append((await browser.post("/api/login", json={"code": web.code})).status_code)

    async with anyio.create_task_group() as tg:
        for _ in range(10):
            tg.start_soon(log_in)

    assert sorted(statuses) == [204] + [403] * 9


async def test_a_replayed_link_says_how_to_get_a_new_one(web: Web) -> None:
    await web.log_in()

    again = await web.log_in()

    assert error_of(again, 403) == "bad_login"
    assert "millpond page" in again.json()["error"]["message"]
    assert "set-cookie" not in again.headers


async def test_a_link_that_is_too_old_is_none(web: Web, lab: Lab) -> None:
    [key] = await keys_of(lab, "login")
    assert 0 < await lab.bus.call("PTTL", key) <= 600_000
    await lab.bus.call("PEXPIRE", key, 0)

    assert error_of(await web.log_in(), 403) == "bad_login"


async def test_a_link_of_another_channel_is_none_and_used_up(web: Web) -> None:
    code = await LoginCodes(web.process.bus).offer("other")

    assert error_of(await web.log_in(code), 403) == "bad_login"
    assert await LoginCodes(web.process.bus).redeem(code, "other") == ""


async def test_a_visitor_of_another_channel_is_nobody_here(web: Web) -> None:
    logins = LoginCodes(web.process.bus)
    secret = await logins.redeem(await logins.offer("other"), "other")
    port = web.address.rpartition(":")[2]

    assert secret
    assert error_of(await web.browser.get("/api/me", headers={"Cookie": f"millpond-{port}={secret}"}), 401)


async def test_a_login_that_is_sent_twice_by_the_bus_logs_in_once(lab: Lab) -> None:
    logins = LoginCodes(lab.bus)
    secret = await logins.redeem(await logins.offer("web"), "web")

    assert await lab.bus.repeat("redeem.lua") == 1
    assert await logins.visit(secret) is not None


@each_row("code", ["", "x", "x" * 5_000, "\0", "é", "../x", "%23"])
async def test_what_is_no_code_is_refused(web: Web, code: str) -> None:
    assert error_of(await web.log_in(code), 403) == "bad_login"


@each_row("body", [b"", b"{}", b"[]", b'{"code": 1}', b'{"code": "a", "more": 1}', b"\xff"])
async def test_what_is_no_login_is_refused(web: Web, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}

    assert error_of(await web.browser.post("/api/login", content=body, headers=headers), 400) == "bad_request"


async def test_a_login_is_json_and_small(web: Web) -> None:
    assert error_of(await web.browser.post("/api/login", content=b'{"code": "a"}'), 415) == "not_json"
    assert error_of(await web.log_in("x" * 20_000), 413) == "message_too_large"
    assert error_of(await web.browser.get("/api/login"), 405) == "method_not_allowed"


async def test_wrong_codes_keep_no_operator_out_and_push_nothing_out_of_the_audit(web: Web, clock: ManualClock) -> None:
    for _ in range(login.WRONG_MAX):
        assert error_of(await web.log_in("wrong"), 403) == "bad_login"

    clock.advance(login.WRONG_S - 1)
    wrong = await web.log_in("wrong")
    right = await web.log_in()
    clock.advance(1.5)
    then = await web.log_in("wrong")

    assert error_of(wrong, 429) == "too_many_logins" and 0 < int(wrong.headers["retry-after"]) <= 2
    assert right.status_code == 204
    assert error_of(then, 403) == "bad_login"
    deeds = (await web.browser.get("/api/audit")).json()["audit"]
    assert [each["outcome"] for each in deeds] == ["refused", "done", *["refused"] * login.WRONG_MAX]


async def test_what_opens_the_door_is_in_no_log_and_not_in_redis(
    web: Web, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    given = (await web.log_in()).headers["set-cookie"].partition("=")[2].partition(";")[0]
    await web.browser.get("/api/me")
    kept = repr(await dump(web.process.bus))

    for secret in (web.code, given):
        assert secret not in kept
        assert secret not in "".join(capsys.readouterr()) + caplog.text
    assert hashlib.sha256(given.encode()).hexdigest() in kept


async def test_a_visitor_is_known_for_longer_once_half_of_the_time_is_over(web: Web, lab: Lab) -> None:
    await web.log_in()
    [key] = await keys_of(lab, "visitor")
    quiet = await web.browser.get("/api/me")
    await lab.bus.call("PEXPIRE", key, round(VISITOR_VALID_S * 1000 / 2) - 1_000)

    renewed = await web.browser.get("/api/me")

    assert "set-cookie" not in quiet.headers
    assert f"Max-Age={round(VISITOR_VALID_S)}" in renewed.headers["set-cookie"]
    assert await lab.bus.call("PTTL", key) > VISITOR_VALID_S * 999
    assert (await web.browser.get("/api/me")).status_code == 200


async def test_who_logs_out_is_known_no_more_wherever_the_cookie_has_gone(web: Web) -> None:
    given = (await web.log_in()).headers["set-cookie"].partition(";")[0]

    gone = await web.browser.post("/api/logout", headers={"Origin": web.address})

    assert gone.status_code == 204 and "Max-Age=0" in gone.headers["set-cookie"]
    assert error_of(await web.browser.get("/api/me", headers={"Cookie": given}), 401) == "unauthorized"
    assert error_of(await web.browser.post("/api/logout", headers={"Origin": web.address}), 401) == "unauthorized"


async def test_a_token_makes_an_operator_too_and_a_cookie_opens_what_it_opens(process: Process) -> None:
    async with web_of(process, token=Secret(TOKEN)) as web:
        right, wrong = {"Authorization": f"Bearer {TOKEN}"}, {"Authorization": "Bearer wrong"}
        me = await web.browser.get("/api/me", headers=right)
        refused = await web.browser.get("/api/me", headers=wrong)
        strange = await web.browser.get("/api/sessions")
        await web.log_in()
        body = {"session": "a", "text": "x"}
        known = [
            await web.browser.get("/api/sessions"),
            await web.browser.get("/metrics"),
            await web.browser.post("/api/messages", json=body, headers={"Origin": web.address}),
        ]

    assert me.json()["who"] == "token"
    assert error_of(refused, 401) == error_of(strange, 401) == "unauthorized"
    assert [response.status_code for response in known] == [200, 200, 202]


async def test_what_is_no_token_fits_none(web: Web) -> None:
    for given in ("Bearer", "bearer", "Bearer null", "Basic Og=="):
        assert error_of(await web.browser.get("/api/me", headers={"Authorization": given}), 401) == "unauthorized"


async def test_an_outage_is_no_reason_to_log_in_again(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    await web.log_in()

    async def away(*_args: object) -> None:
        raise BusUnavailable("gone")

    monkeypatch.setattr(LoginCodes, "visit", away)
    assert error_of(await web.browser.get("/api/me"), 503) == "unavailable"


def asked_of(path: str) -> str:
    return re.sub(r"\{[^}]+\}", "web:a", path)


def routes_of(process: Process) -> list[Route]:
    site = Site(process=process, name="web", config=WebConfig(), address="http://127.0.0.1:1")
    routes = [*application(site, OpenRequests()).routes, *settings_routes(site, Operators(site).only)]
    return [route for route in routes if isinstance(route, Route)]


@pytest.mark.parametrize(("options", "status"), [({}, 401), ({"open": True}, 0), ({"member_token": Secret(TOKEN)}, 0)])
async def test_operators_may_ask_everything_and_members_a_part(process: Process, options: Any, status: int) -> None:
    routes = routes_of(process)
    assert {route.path for route in routes} >= AS_EVER | {"/api/me", "/api/system", "/api/dead/replay"}

    async with web_of(process, **options) as web:
        for route in routes:
            if is_page(route.path) or route.path in OPEN | {"/api/logout", "/login"}:
                continue
            for method in (route.methods or set()) - {"HEAD"}:
                headers = {"Origin": web.address, "Authorization": f"Bearer {TOKEN}"}
                async with web.browser.stream(method, asked_of(route.path), headers=headers) as answer:
                    is_refused = answer.status_code == 401
                assert is_refused == bool(status or route.path not in AS_EVER), f"{method} {route.path}"


PAGES = [
    ({}, "nobody says where it comes from"),
    ({"Origin": "https://evil.example"}, "another website"),
    ({"Origin": "null"}, "a sandboxed frame"),
    ({"Origin": "http://127.0.0.1:1"}, "another program's page on this machine"),
    ({"Origin": "http://localhost"}, "another port"),
    ({"Sec-Fetch-Site": "same-site"}, "another port, by the browser's word"),
    ({"Sec-Fetch-Site": "cross-site", "Origin": "{address}"}, "a browser knows better"),
    ({"Sec-Fetch-Site": "none"}, "an address that a person opened changes nothing"),
]


@each_row(("headers", "who"), PAGES)
async def test_a_cookie_changes_nothing_for_pages_that_are_not_ours(web: Web, headers: dict[str, str], who: str):
    await web.log_in()
    sent = {name: value.format(address=web.address) for name, value in headers.items()}

    for path, body in (
        ("/api/dead/drop", {"reason": "attempts"}),
        ("/api/messages", {"session": "a", "text": "x"}),
        ("/api/logout", {}),
    ):
        assert error_of(await web.browser.post(path, json=body, headers=sent), 403) == "cross_site", who
    assert (await web.browser.get("/api/me")).status_code == 200


async def test_our_own_page_and_programs_with_a_token_change_things(process: Process) -> None:
    body = {"reason": "nothing"}
    async with web_of(process, token=Secret(TOKEN)) as web:
        await web.log_in()
        for headers in (
            {"Origin": web.address}, {"Sec-Fetch-Site": "same-origin"},
            {"Origin": web.address, "Sec-Fetch-Site": "same-origin"}, {"Authorization": f"Bearer {TOKEN}"},
        ):  # fmt: skip
            done = await web.browser.post("/api/dead/drop", json=body, headers=headers)
            assert (done.status_code, done.json()) == (200, {"done": 0, "refused": []})


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_a_cookie_shows_nothing_to_pages_that_are_not_ours(web: Web, site: str) -> None:
    await web.log_in()

    assert error_of(await web.browser.get("/api/audit", headers={"Sec-Fetch-Site": site}), 401) == "unauthorized"


async def test_a_wrong_host_and_another_site_open_nothing(web: Web) -> None:
    assert error_of(await web.log_in(Host="evil.example"), 421) == "unknown_host"
    assert error_of(await web.log_in(Origin="https://evil.example"), 403) == "cross_site"
    assert (await web.log_in()).status_code == 204  # the code is still good
    assert error_of(await web.browser.get("/api/me", headers={"Host": "evil.example"}), 421) == "unknown_host"


@each_row(
    "path", ["/page/../guard.py", "/page/..%2fguard.py", "/page/%2e%2e/guard.py", "/page/%2e%2e%2fapi%2fme", "//api/me"]
)
async def test_no_path_leads_around_the_guard(process: Process, path: str) -> None:
    async with web_of(process, token=Secret(TOKEN)) as web:
        got = await sent(web, f"GET {path} HTTP/1.1")

    assert got.split(b" ", 2)[1] in (b"401", b"404")


async def test_who_did_what_is_written_down(web: Web) -> None:
    await web.log_in("wrong")
    await web.log_in()
    await web.browser.post("/api/dead/drop", json={"reason": "attempts"}, headers={"Origin": web.address})
    shown = (await web.browser.get("/api/audit")).json()["audit"]
    await web.browser.post("/api/logout", headers={"Origin": web.address})

    assert await web.audit() == [
        ("logout", "web", "done"),
        ("dead.drop", "attempts", "0 done, 0 refused"),
        ("login", "web", "done"),
        ("login", "web", "refused"),
    ]
    assert [each["action"] for each in shown] == ["dead.drop", "login", "login"]
    assert [bool(each["who"]) for each in shown] == [True, True, False]
    assert shown[0]["who"] == shown[1]["who"]


async def test_the_audit_is_bounded(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daemon.operators.operator_audit.KEPT", 10)
    audit = OperatorAudit(lab.bus)
    for number in range(400):
        await audit.note(who="token", action="drop", target="x" * 5_000, outcome=str(number))

    kept = await audit.newest(limit=1_000)

    assert 10 <= len(kept) < 400
    assert (kept[0].outcome, len(kept[0].target)) == ("399", 512)


async def test_an_outage_of_the_audit_does_not_undo_what_was_done(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    await web.log_in()

    async def away(*_args: object, **_more: object) -> None:
        raise BusUnavailable("gone")

    monkeypatch.setattr(OperatorAudit, "note", away)
    done = await web.browser.post("/api/dead/drop", json={"reason": "x"}, headers={"Origin": web.address})
    assert done.status_code == 200


async def run(*args: str) -> Any:
    return await to_thread.run_sync(lambda: CliRunner().invoke(root, ["page", *args], obj=Options()))


@pytest.fixture
def _here(server_dir: Path, prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLPOND_DATA_DIR", str(server_dir))
    monkeypatch.setenv("MILLPOND_REDIS__PREFIX", prefix)


@pytest.mark.usefixtures("_here")
async def test_the_command_prints_a_new_link_at_any_time(process: Process, lab: Lab) -> None:
    async with web_of(replace(process, clock=SystemClock())) as web:
        await until(lambda: lab.bus.call("HLEN", lab.bus.keys.workers))

        [first], [second] = [(await run()).stdout.split() for _ in range(2)]

        assert first != second
        assert first.startswith(f"{web.address}/login#")
        assert (await web.log_in(second.partition("#")[2])).status_code == 204
        assert (await web.log_in(first.partition("#")[2])).status_code == 204


@pytest.mark.usefixtures("_here")
async def test_the_command_says_what_to_do_when_it_cannot_know_which_page(lab: Lab) -> None:
    nothing = await run()
    beat = {"role": "web", "started": "", "holding": 0, "seen": "2126-01-01T00:00:00.000Z"}
    for name in ("one", "two"):
        entry = json.dumps({**beat, "addresses": {name: f"http://{name}:1"}})
        await lab.bus.call("HSET", lab.bus.keys.workers, f"host-1-{name} web", entry)
    which, missing, chosen = await run(), await run("--channel", "three"), await run("--channel", "two")

    assert nothing.exit_code and "millpond run" in nothing.stderr
    assert which.exit_code and "one, two" in which.stderr
    assert missing.exit_code and "three" in missing.stderr
    assert chosen.stdout.startswith("http://two:1/login#")


def test_a_link_carries_its_code_where_no_server_sees_it() -> None:
    assert link("http://h:1", "c") == "http://h:1/login#c"
    assert link("http://0.0.0.0:1", "c") == link("http://[::]:1", "c") == "http://localhost:1/login#c"
