"""Web search at a provider: Brave, Tavily or SearXNG, by their documented APIs."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import anyio
import httpx2
import msgspec
import structlog

from daemon.config import WebToolsConfig
from daemon.errors import UNREADABLE, ConfigError, ToolError
from daemon.proxies import http_client

ANSWER_MAX_BYTES = 2_000_000
TITLE_MAX_CHARS, SNIPPET_MAX_CHARS, URL_MAX_CHARS = 200, 500, 500
"""What is shown of a result."""

_log = structlog.get_logger()


class _Result(msgspec.Struct):
    title: str = ""
    url: str = ""
    description: str = ""
    """Brave's snippet."""
    content: str | None = None
    """That of Tavily and of SearXNG."""


class _Results(msgspec.Struct):
    results: list[_Result] = []


class _Answer(msgspec.Struct):
    """Brave's results are below ``web``, those of the others stand alone."""

    web: _Results = msgspec.field(default_factory=_Results)
    results: list[_Result] = []


_decode = msgspec.json.Decoder(_Answer).decode


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request to a provider."""

    method: str
    path: str
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    params: Mapping[str, str] | None = None
    json: Mapping[str, Any] | None = None


def _brave(query: str, count: int, key: str) -> _Asked:
    # https://api-dashboard.search.brave.com/app/documentation/web-search/query
    params = {"q": query, "count": str(count), "text_decorations": "false"}
    headers = {"X-Subscription-Token": key, "Accept": "application/json"}
    return _Asked(method="GET", path="/res/v1/web/search", headers=headers, params=params)


def _tavily(query: str, count: int, key: str) -> _Asked:
    # https://docs.tavily.com/documentation/api-reference/endpoint/search
    headers = {"Authorization": f"Bearer {key}"}
    return _Asked(method="POST", path="/search", headers=headers, json={"query": query, "max_results": count})


def _searxng(query: str, _count: int, key: str) -> _Asked:
    # https://docs.searxng.org/dev/search_api.html
    headers = {"Authorization": f"Bearer {key}"} if key else {}  # for a proxy in front of it
    return _Asked(method="GET", path="/search", headers=headers, params={"q": query, "format": "json"})


PROVIDERS: Mapping[str, tuple[str, Callable[[str, int, str], _Asked]]] = {
    "brave": ("https://api.search.brave.com", _brave),
    "tavily": ("https://api.tavily.com", _tavily),
    "searxng": ("", _searxng),
}
"""Name → usual address and request."""


async def search(config: WebToolsConfig, query: str, count: int) -> str:
    """Numbered results with title, address and snippet, at most ``count``; empty when there are none.

    Raises:
        ToolError: the provider gave none; the error never holds the key.
    """
    usual, asked_of = PROVIDERS[config.search]
    asked = asked_of(query, count, config.api_key.reveal())
    try:
        with anyio.fail_after(config.timeout_s):
            status, body = await _sent((config.search_url or usual).rstrip("/"), asked, config.timeout_s)
            if not 200 <= status < 300:
                raise _refused(config.search, status)
            found = _decode(body)
    except (httpx2.HTTPError, TimeoutError, ConfigError, *UNREADABLE) as error:
        _log.warning("web.search_failed", kind=config.search, reason=type(error).__name__)
        raise ToolError(
            f"The search provider {config.search} returned no usable answer: {type(error).__name__}."
        ) from None
    return _written([*found.web.results, *found.results][:count])


async def _sent(base: str, asked: _Asked, timeout_s: float) -> tuple[int, bytes]:
    url = f"{base}{asked.path}"
    options = {"timeout": timeout_s, "follow_redirects": False}
    async with (
        http_client(url, httpx2.AsyncClient, **options) as client,
        client.stream(asked.method, url, headers=asked.headers, params=asked.params, json=asked.json) as response,
    ):
        body = b""
        async with aclosing(response.aiter_bytes()) as pieces:
            async for piece in pieces:
                body += piece
                if len(body) > ANSWER_MAX_BYTES:
                    raise ToolError("The search provider's response is too large.")
        return response.status_code, body


def _refused(provider: str, status: int) -> ToolError:
    _log.warning("web.search_failed", kind=provider, status=status)
    if provider == "searxng" and status == 403:
        text = "does not offer JSON. An operator must add json to search.formats in the server's settings.yml"
    elif status in (401, 403):
        text = "rejected the API key. An operator must check bots.<name>.web.api_key"
    elif status in (402, 429, 432, 433):  # the last two are Tavily's
        text = "has reached a rate limit. Try again later"
    else:
        text = "failed. Try again later"
    return ToolError(f"The search provider {provider} {text} (HTTP {status}).")


def _written(found: Sequence[_Result]) -> str:
    lines = list[str]()
    for number, each in enumerate(found, 1):
        title, url = _short(each.title, TITLE_MAX_CHARS) or "(no title)", _short(each.url, URL_MAX_CHARS)
        snippet = _short(each.content or each.description, SNIPPET_MAX_CHARS)
        lines.append("\n   ".join(filter(None, (f"{number}. {title}", url, snippet))))
    return "\n".join(lines)


def _short(text: str, max_chars: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
