"""What stands before every endpoint of a web channel: hosts, origins, tokens and headers, and near misses of them."""

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from channels.web.access import Operators
from channels.web.access.login import WRONG_MAX, WRONG_S, LoginAttempts
from channels.web.rate_limit import RateLimit
from channels.web.request_guard import OpenRequests, RequestGuard, hosts_of
from channels.web.request_params import check_type
from channels.web.static import HEADERS
from daemon.config import Secret, WebConfig
from daemon.operators import short_id
from daemon.testing import ManualClock
from tests.tables import each_row

TOKEN = "An-operators-token-1"


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    """A client of an application behind the guard that says yes to everything."""
    site: Any = SimpleNamespace(name="web", config=WebConfig(token=Secret(TOKEN)), process=SimpleNamespace(bus=None))
    guard = RequestGuard(
        PlainTextResponse("yes"),
        hosts=hosts_of("127.0.0.1", ["pond.example:8080"]),
        operators=Operators(site),
        requests=OpenRequests(),
        rate_limit=RateLimit(0, ManualClock()),
    )
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=guard), base_url="http://localhost") as client:
        yield client


def test_the_policy_of_the_page_allows_only_its_own_files() -> None:
    rules = dict(rule.strip().split(" ", 1) for rule in HEADERS["Content-Security-Policy"].split(";"))

    assert rules == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self' data:",
        "media-src": "'self'", "font-src": "'self'",
        "connect-src": "'self'", "manifest-src": "'self'", "base-uri": "'none'", "form-action": "'none'",
        "frame-ancestors": "'none'",
    }  # fmt: skip
    assert HEADERS["Cross-Origin-Opener-Policy"] == "same-origin"


@each_row("path", ["/", "/livez", "/api/sessions"])
async def test_every_answer_has_all_security_headers(client: httpx2.AsyncClient, path: str) -> None:
    headers = (await client.get(path)).headers

    assert {name: headers[name] for name in sorted(headers) if name not in ("content-type", "content-length")} == {
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    } | ({"www-authenticate": "Bearer"} if path == "/api/sessions" else {})


@each_row("kind", ["Bearer", "bearer", "BEARER"])
async def test_the_token_opens_everything(client: httpx2.AsyncClient, kind: str) -> None:
    response = await client.post("/api/sessions", headers={"Authorization": f"{kind} {TOKEN}"})

    assert response.status_code == 200


@each_row(
    "given",
    [
        *(b"", b"Bearer", b"Bearer ", b"Bearer null", TOKEN.encode(), b" Bearer"),
        *(f"Bearer {near}".encode() for near in (TOKEN[:-1], TOKEN[1:], f"{TOKEN}1", f"x{TOKEN}", f"{TOKEN} x")),
        *(f"Bearer {near}".encode() for near in (TOKEN.lower(), TOKEN.upper(), TOKEN.swapcase(), TOKEN[::-1])),
        *(f"Bearer {TOKEN}\xe9".encode(coding) for coding in ("latin-1", "utf-8")),
        *(f"{kind} {TOKEN}".encode() for kind in ("Basic", "Token", "Bearerx", "")),
        *(f"Bearer {TOKEN[0]}", f"Bearer {TOKEN[-1]}", f'Bearer "{TOKEN}"', f"Bearer,{TOKEN}", f"Bearer {TOKEN}, x"),
    ],
)
async def test_what_is_nearly_the_token_opens_nothing(client: httpx2.AsyncClient, given: bytes | str) -> None:
    response = await client.get("/api/sessions", headers={"Authorization": given})

    assert response.status_code == 401


async def test_an_empty_token_is_none() -> None:
    site: Any = SimpleNamespace(name="web", config=WebConfig(), process=SimpleNamespace(bus=None))

    for given in ("Bearer ", "Bearer", ""):
        assert not Operators(site).has_token(httpx2.Headers({"Authorization": given})), given  # type: ignore[arg-type]


@each_row("path", ["/metrics", "/livez/", "/livezz", "/healthz/x", "/api/login/x", "/api/logins", "/api", "//", "/x"])
async def test_a_path_that_nearly_is_an_open_one_needs_the_token(client: httpx2.AsyncClient, path: str) -> None:
    assert (await client.get(f"http://localhost{path}")).status_code == 401


@each_row(
    "host", ["localhost", "LocalHost:80", "127.0.0.1:1", "[::1]:8", "pond.example", "Pond.Example:9", "localhost:"]
)
async def test_a_server_answers_to_its_own_names(client: httpx2.AsyncClient, host: str) -> None:
    assert (await client.get("/", headers={"Host": host})).status_code == 200


@each_row(
    "host",
    [
        *("evil.example", "evil-pond.example", "pond.example.evil", "pond.example.", "localhost.evil", "xlocalhost"),
        *("127.0.0.1.evil.example", "127.0.0.10", "1127.0.0.1", "pond", "example", "0.0.0.0", "[::2]", "::1"),
        *("pond.example:80evil", "pond.example:80:90", "localhost@evil.example", "evil.example#localhost", "", ":80"),
    ],
)
async def test_a_name_that_nearly_is_its_own_is_refused(client: httpx2.AsyncClient, host: str) -> None:
    assert (await client.get("/", headers={"Host": host})).status_code in (400, 421)


@each_row("method", ["POST", "PUT", "PATCH", "DELETE"])
@each_row(
    "origin",
    [
        *("https://evil.example", "http://evil-pond.example", "http://pond.example.evil", "null", "", "localhost"),
        *("http://localhost@evil.example", "http://localhost.evil", "http://127.0.0.10", "http://[::2]", "http://["),
    ],
)
async def test_a_page_of_another_origin_changes_nothing(client: httpx2.AsyncClient, method: str, origin: str) -> None:
    response = await client.request(method, "/", headers={"Origin": origin, "Authorization": f"Bearer {TOKEN}"})

    assert response.status_code == 403
    assert (await client.get("/", headers={"Origin": origin})).status_code == 200


@each_row("origin", ["http://localhost", "https://pond.example:8443", "http://127.0.0.1:1", "http://[::1]:8"])
async def test_a_page_of_its_own_names_changes_things(client: httpx2.AsyncClient, origin: str) -> None:
    assert (await client.post("/", headers={"Origin": origin})).status_code == 200


@each_row(
    "kind",
    [
        *("", "text/plain", "application/jsonx", "application/json-seq", "application/x-json", "json"),
        *("application/json; charset=latin-1", "application/json; charset=utf-16", "application/json;x=y"),
        *("text/plain; application/json", "multipart/form-data", "application/x-www-form-urlencoded"),
    ],
)
def test_a_body_that_is_not_said_to_be_json_is_not_read(kind: str) -> None:
    request = Request({"type": "http", "headers": [(b"content-type", kind.encode())]})

    with pytest.raises(HTTPException) as refused:
        check_type(request)

    assert refused.value.status_code == 415


def test_the_name_of_a_visitor_tells_nothing_of_its_secret() -> None:
    names = {short_id(secret) for secret in ("secret-of-ann-1234", "secret-of-ann-1235")}

    assert len(names) == 2
    assert not any(name[:4] in "secret-of-ann-1234" for name in names)


def test_wrong_codes_count_for_ten_minutes_each(clock: ManualClock) -> None:
    tries = LoginAttempts(clock)
    for _ in range(WRONG_MAX):
        assert tries.wait_s() == 0
        tries.wrong()
        clock.advance(5)

    # The first was ten times five seconds ago.
    assert tries.wait_s() == WRONG_S - 5 * WRONG_MAX
    clock.advance(WRONG_S - 5 * WRONG_MAX)
    assert tries.wait_s() == 0
    tries.wrong()
    assert tries.wait_s() == 5
