"""The web as the tools of one turn use it: the bot's settings, the person's limit, and the cache of all workers."""

from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio
import httpx2
import structlog
from anyio import BrokenWorkerProcess, CapacityLimiter, to_process
from anyio.lowlevel import RunVar

from daemon.bus import Bus
from daemon.config import BotConfig
from daemon.errors import ToolError
from daemon.html_text import text_of
from daemon.usage import Limits, User
from workers.tools.web.cache import TEXT_MAX_CHARS, WebCache
from workers.tools.web.fetch import Fetched, Fetcher
from workers.tools.web.robots import check_allowed, rules_of
from workers.tools.web.search import search
from workers.tools.web.target import Resolve, resolved, url_of

HTML = frozenset({"text/html", "application/xhtml+xml"})
TEXT: Final = ("application/json", "application/xml", "application/javascript", "application/x-ndjson")
READERS = 2
"""Processes that turn pages into text, for each process of Millpond."""
READ_TIMEOUT_S = 20.0
"""A page that takes longer is hostile, and its reader is killed."""

_limiter: RunVar[CapacityLimiter] = RunVar("millpond-web-readers")
_log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class WebAccess:
    """What a turn may do on the web. All methods raise BusUnavailable when Redis is away."""

    bus: Bus
    name: str
    """Of the bot."""
    bot: BotConfig
    user: User
    resolve: Resolve = resolved

    async def search(self, query: str, count: int, *, call: str) -> str:
        """Numbered results; empty when there are none. ``call`` names the call, for the person's limit.

        Raises:
            ToolError: there are none to be had.
        """
        name = ("search", query, str(count))
        found = await self._cache.get(*name)
        if found is None:
            await self._take(call)
            found = await search(self.bot.web, query, count)
            await self._cache.put(found, *name)
        return found

    async def fetch(self, address: str, *, links: bool, call: str) -> str:
        """A page's address and title, an empty line, and its text; as for ``search``."""
        url = str(url_of(address))
        name = ("page", url, str(links))
        found = await self._cache.get(*name)
        if found is None:
            await self._take(call)
            fetcher = Fetcher(self.bot.web, resolve=self.resolve)
            allow = partial(self._check_robots, fetcher) if self.bot.web.robots else None
            found = await _read(await fetcher.get(url, allow=allow), links=links)
            await self._cache.put(found, *name)
        return found

    @property
    def _cache(self) -> WebCache:
        return WebCache(self.bus, self.name, self.bot)

    async def _take(self, call: str) -> None:
        """Count a call that is not answered from the cache."""
        most = self.bot.web.calls_per_minute
        if wait_s := await Limits(self.bus).take_call(self.user, "web", most, call=call):
            raise ToolError(
                f"This person has reached the limit of {most} web calls per minute. Wait {wait_s:.0f} s, or answer "
                "without another call."
            )

    async def _check_robots(self, fetcher: Fetcher, url: httpx2.URL) -> None:
        address = str(url.copy_with(raw_path=b"/robots.txt"))
        rules = await self._cache.get("robots", address)
        if rules is None:
            rules = rules_of(await fetcher.get(address))
            await self._cache.put(rules, "robots", address)
        check_allowed(rules, str(url))


async def _read(page: Fetched, *, links: bool) -> str:
    if not 200 <= page.status < 300:
        raise ToolError(f"The server answered {page.url} with HTTP {page.status}.")
    kind = page.media_type
    if kind and kind not in HTML and not kind.startswith("text/") and not kind.endswith(("+json", "+xml", *TEXT)):
        raise ToolError(f"{page.url} has the type {kind[:100]}, but web_fetch reads only text and HTML.")
    is_html = kind in HTML or (not kind and b"<html" in page.body[:1024].lower())
    title, text = await _readable(page, is_html=is_html, links=links)
    head = "\n".join(filter(None, (page.url, title)))
    cut = "\n\n[The rest of the page is left out.]" if page.is_cut or len(text) > TEXT_MAX_CHARS else ""
    room = TEXT_MAX_CHARS - len(head) - len(cut) - 2
    return f"{head}\n\n{text[:room] or '[The page contains no text.]'}{cut}"


async def _readable(page: Fetched, *, is_html: bool, links: bool) -> tuple[str, str]:
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(READERS)
        _limiter.set(limiter)
    try:
        with anyio.fail_after(READ_TIMEOUT_S):
            # In a process, which can be killed. A thread could not, and would hold up all turns.
            return await to_process.run_sync(
                text_of, page.body, page.charset, is_html, links, cancellable=True, limiter=limiter
            )
    except (BrokenWorkerProcess, TimeoutError) as error:
        _log.warning("web.unreadable", reason=type(error).__name__)
        raise ToolError(f"{page.url} cannot be turned into text.") from error
