"""Search at each provider, by its documented API, at servers of our own."""

from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from daemon.config import Secret, WebToolsConfig
from daemon.errors import ToolError
from tests.fakes.web_site import cut_off, endless, hanging, page, redirect, web_site
from tests.limits import HANG_S
from tests.tables import each_row
from workers.tools.web import search

KEY = "a-secret-key"
PATHS = {"brave": "/res/v1/web/search", "tavily": "/search", "searxng": "/search"}
HIT = {"title": "Grey heron\n", "url": "https://pond.example/heron"}
RESULTS: dict[str, Any] = {
    "brave": {"web": {"results": [{**HIT, "description": "A  bird."}]}},
    "tavily": {"query": "heron", "results": [{**HIT, "content": "A  bird.", "score": 0.9}]},
    "searxng": {"query": "heron", "results": [{**HIT, "content": "A  bird.", "engines": ["x"]}, {"url": "x"}]},
}
ASKED = {
    "brave": [b"GET /res/v1/web/search?q=grey+heron&count=1&text_decorations=false HTTP/1.1", b"subscription-token"],
    "tavily": [b"POST /search HTTP/1.1", b'{"query":"grey heron","max_results":1}', b"authorization: bearer "],
    "searxng": [b"GET /search?q=grey+heron&format=json HTTP/1.1"],
}


def config(provider: str, url: str, **more: Any) -> WebToolsConfig:
    given = {"search": provider, "search_url": url.replace("pond.example", "127.0.0.1"), "timeout_s": HANG_S, **more}
    return WebToolsConfig(api_key=Secret(KEY), **given)


@each_row("provider", list(RESULTS))
async def test_each_provider_is_asked_as_its_documentation_says(provider: str) -> None:
    body = msgspec.json.encode(RESULTS[provider])
    async with web_site({PATHS[provider]: page(body, "application/json")}) as site:
        found = await search(config(provider, f"{site.url}/"), "grey heron", 1)

    assert found == "1. Grey heron\n   https://pond.example/heron\n   A bird."
    for part in ASKED[provider]:
        assert part.lower() in site.requests[0].lower()
    assert KEY.encode() in site.requests[0]


@each_row(
    ("provider", "answer", "said"),
    [
        ("brave", page(b"{}", status=401), "rejected the API key"),
        ("brave", page(b"{}", status=429), "has reached a rate limit"),
        ("tavily", page(b"{}", status=432), "has reached a rate limit"),
        ("searxng", page(b"", status=403), "search.formats in the server's settings.yml"),
        ("searxng", page(b"<html>"), "no usable answer"),
        ("searxng", page(b"[" * 100_000), "no usable answer"),
        ("searxng", redirect("http://127.0.0.1:1/"), "failed"),
        ("searxng", cut_off, "no usable answer"),
        ("searxng", endless, "response is too large"),
        ("searxng", hanging, "TimeoutError"),
    ],
)
async def test_a_search_that_fails_is_told_in_a_sentence_without_the_key(provider: str, answer: Any, said: str) -> None:
    limit_s = 0.1 if answer is hanging else HANG_S
    async with web_site({PATHS[provider]: answer}) as site:
        with capture_logs() as logs, pytest.raises(ToolError, match=said) as failed, anyio.fail_after(HANG_S):
            await search(config(provider, site.url, timeout_s=limit_s), "heron", 5)

    assert KEY not in str(failed.value) + str(logs)
    assert all("heron" not in str(log) for log in logs)


async def test_a_search_without_results_gives_nothing() -> None:
    async with web_site({"/search": page(b'{"results": []}')}) as site:
        assert await search(config("searxng", site.url), "heron", 5) == ""
