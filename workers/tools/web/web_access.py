"""The web as the tools of one turn use it: the bot's settings, the person's limit, and the cache of all workers.

The place of a result follows from its name, so the cache is bounded without an index. A place remembers a hash of the
name alone: a query is the words of a person. Forgetting removes all places (``daemon/forget/side_data_removal.py``).
"""

import hashlib
import zlib
from functools import partial
from typing import Final

import anyio
import httpx2
import msgspec
import structlog
from anyio import BrokenWorkerProcess, CapacityLimiter, to_process
from anyio.lowlevel import RunVar

from daemon.bus import Bus
from daemon.config import BotConfig
from daemon.errors import ToolError
from daemon.html_text import text_of
from daemon.usage import Limits, User
from workers.tools.web.address_check import Resolve, resolved, url_of
from workers.tools.web.fetch import Fetched, Fetcher, check_allowed, rules_of
from workers.tools.web.search import search

# Results of the web tools for all workers: a fixed number of places in Redis, each with the newest result put there.

TEXT_MAX_CHARS = 100_000
"""Longest text that is kept, and the most that a page is read of."""


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    digest: bytes
    text: bytes
    """Compressed by zlib."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Entry).decode


class WebCache:
    """The results of one bot: what one bot may read, another one may not."""

    def __init__(self, bus: Bus, name: str, bot: BotConfig) -> None:
        self._bus = bus
        self._bot = name
        self._ttl_ms = round(bot.web.cache_ttl_s * 1000)

    async def get(self, *name: str) -> str | None:
        """The text of a name; None if it is not known. Raises BusUnavailable."""
        digest = self._digest(name)
        found = await self._bus.call("GET", self._bus.keys.web(digest[0]))
        if not found:
            return None
        entry = _decode(found)
        return zlib.decompress(entry.text).decode() if entry.digest == digest else None

    async def put(self, text: str, *name: str) -> None:
        """Keep a text, at most ``TEXT_MAX_CHARS`` of it. Raises BusUnavailable."""
        digest = self._digest(name)
        entry = _Entry(digest=digest, text=zlib.compress(text[:TEXT_MAX_CHARS].encode("utf-8", "replace")))
        await self._bus.call("SET", self._bus.keys.web(digest[0]), _encode(entry), "PX", self._ttl_ms)

    def _digest(self, name: tuple[str, ...]) -> bytes:
        return hashlib.sha256(msgspec.json.encode((self._bot, name))).digest()


HTML = frozenset({"text/html", "application/xhtml+xml"})
TEXT: Final = ("application/json", "application/xml", "application/javascript", "application/x-ndjson")
READERS = 2
"""Processes that turn pages into text, for each process of Millpond."""
READ_TIMEOUT_S = 20.0
"""A page that takes longer is hostile, and its reader is killed."""

_limiter: RunVar[CapacityLimiter] = RunVar("millpond-web-readers")
_log = structlog.get_logger()


class WebAccess(msgspec.Struct, frozen=True, kw_only=True):
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
        raise ToolError(f"The server responded to {page.url} with HTTP status {page.status}.")
    kind = page.media_type
    if kind and kind not in HTML and not kind.startswith("text/") and not kind.endswith(("+json", "+xml", *TEXT)):
        raise ToolError(f"{page.url} has the type {kind[:100]}, but web_fetch reads only text and HTML.")
    is_html = kind in HTML or (not kind and b"<html" in page.body[:1024].lower())
    title, text = await _readable(page, is_html=is_html, links=links)
    head = "\n".join(filter(None, (page.url, title)))
    cut = "\n\n[The rest of the page is not shown.]" if page.is_cut or len(text) > TEXT_MAX_CHARS else ""
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
        raise ToolError(f"{page.url} cannot be converted to text.") from error
