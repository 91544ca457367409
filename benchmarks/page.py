"""What the page of the web channel costs: to be seen, fetched, kept open, and watched by somebody slow."""

import json
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import anyio
from anyio.abc import SocketStream
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from benchmarks.folder import data_dir
from benchmarks.frames import slowest_task
from benchmarks.history import Past, lived
from benchmarks.people import people
from benchmarks.result import Result
from tests.api_token import header_of
from tests.page.browsing import WIDE, launch, login_link
from tests.processes import Daemon, answered, running

MESSAGES = 20_000
SETTLED = 19_800
PAINTS = 9
PAINT_LIMIT_MS = 500.0

SCROLL_LIMIT_MS = 600_000.0

OPEN = 200
OF_SYSTEM = 20
"""How many of the open pages show the system; all others a conversation."""
POLL_S = 15.0
"""How often an open page reads the list of conversations (``sessions.js``)."""
WATCHED_S = 15.0
SETTLED_S = 5.0
OPEN_LIMIT = 20.0

STALLED = 50
TURNS = 30
STALLED_LIMIT = 1.5
"""Times as long as without them; the machine alone makes a difference of a fifth."""
RECEIVE_BYTES = 4_096

WEIGHT_LIMIT_KB = 120.0

SEEN = """(index) => {
  const look = () => {
    if (document.querySelector(`article[data-index="${index}"]`)) {
      requestAnimationFrame(() => setTimeout(() => { window.seenAt = performance.now(); }));
    } else requestAnimationFrame(look);
  };
  look();
}"""
"""Notes when a message has been drawn, ms since the address was opened."""
WEIGHT = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter(({name}) => !new URL(name).pathname.startsWith("/api/"))
  .reduce((sum, {transferSize}) => sum + transferSize, 0)"""
WHEN_SEEN = """() => new Promise((done) => {
  const look = () => (window.seenAt ? done(window.seenAt) : setTimeout(look, 10));
  look();
})"""


SCROLLS = 3
"""Passes through the whole conversation, each on a page of its own."""

SCROLLED = """async () => {
  const scroller = document.querySelector(".scroller");
  const first = () => Number(document.querySelector("article[data-index]").dataset.index);
  const began = performance.now();
  for (let still = 0; first() > 0 || scroller.scrollTop > 0;) {
    const before = first();
    scroller.scrollTop -= 2000;
    await new Promise(requestAnimationFrame);
    still = first() === before && scroller.scrollTop === 0 ? still + 1 : 0;
    if (still > 600) break;
  }
  return {first: first(), articles: document.querySelectorAll("article").length, ms: performance.now() - began};
}"""
"""Scrolls to the first message, 2,000 pixels a frame."""


def measure() -> list[Result]:
    """With a real browser; whoever keeps 200 pages open is a process that asks for what a page asks for."""
    with data_dir() as folder:
        anyio.run(_past, folder)
        with running(folder) as daemon, _browser() as browser:
            cookie = _logged_in(browser, folder)
            return [
                *_painted(browser, daemon, cookie),
                _scrolled(browser, daemon, cookie),
                _kept_open(daemon, cookie),
                _watched_slowly(daemon),
            ]


async def _past(folder: Path) -> None:
    async with people(folder) as everybody:
        await lived(everybody, ["long"], Past(entries=MESSAGES - SETTLED, chars=200, settled=SETTLED))
        await lived(everybody, [f"open-{number}" for number in range(OPEN)], Past(entries=2))


@contextmanager
def _browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


def _logged_in(browser: Browser, folder: Path) -> str:
    """The cookie of somebody who followed a link."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(login_link(folder))
    page.wait_for_url(lambda url: "/login" not in url)
    [cookie] = context.cookies()
    context.close()
    return f"{cookie['name']}={cookie['value']}"


def _visitor(browser: Browser, daemon: Daemon, cookie: str) -> BrowserContext:
    context = browser.new_context(viewport=WIDE)  # type: ignore[arg-type]  # a dict of its two fields
    name, _, value = cookie.partition("=")
    context.add_cookies([{"name": name, "value": value, "url": daemon.url}])
    return context


def _painted(browser: Browser, daemon: Daemon, cookie: str) -> list[Result]:
    """With an empty cache each time: every file is fetched."""
    seen: list[float] = []
    bare: list[float] = []
    fetched: list[float] = []
    for _ in range(PAINTS):
        context = _visitor(browser, daemon, cookie)
        page = context.new_page()
        page.goto(f"{daemon.url}/page/icon.svg")
        bare.append(float(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventStart")))
        page.add_init_script(f"({SEEN})({MESSAGES - 1})")
        page.goto(f"{daemon.url}/s/web%3Along", wait_until="commit")
        seen.append(float(page.evaluate(WHEN_SEEN)))
        page.wait_for_load_state("load")
        fetched.append(float(page.evaluate(WEIGHT)) / 1_000)
        context.close()
    first = Result(
        name=f"first paint of a conversation of {MESSAGES:,} messages, the newest in view",
        unit="ms",
        values=tuple(seen),
        floor=statistics.median(bare),
        floor_is="a picture alone, in the same browser",
        limit=PAINT_LIMIT_MS,
    )
    weight = Result(
        name="page, scripts and styles that a first visit fetches",
        unit="kB",
        values=tuple(fetched),
        floor=0.0,
        floor_is="nothing",
        limit=WEIGHT_LIMIT_KB,
        limit_is="worst, at most",
    )
    return [first, weight]


def _scrolled(browser: Browser, daemon: Daemon, cookie: str) -> Result:
    results = [_scrolled_once(browser, daemon, cookie) for _ in range(SCROLLS)]
    return replace(results[0], values=tuple(value for each in results for value in each.values))


def _scrolled_once(browser: Browser, daemon: Daemon, cookie: str) -> Result:
    context = _visitor(browser, daemon, cookie)
    page = context.new_page()
    page.set_default_timeout(SCROLL_LIMIT_MS)
    page.goto(f"{daemon.url}/s/web%3Along")
    page.wait_for_selector(f'article[data-index="{MESSAGES - 1}"]')
    page.wait_for_selector(".rail-stage path", state="attached")
    found, result = slowest_task(page, browser, SCROLLED, name=f"{MESSAGES:,} messages")
    if found["first"] > 0:
        raise RuntimeError(f"the first message was not reached: {found}")
    context.close()
    return result


def _kept_open(daemon: Daemon, cookie: str) -> Result:
    # Playwright holds the loop of this thread.
    with start_blocking_portal() as portal:
        values: list[float] = portal.call(_keep_open, daemon, cookie)
    return Result(
        name=f"CPU of a process with {OPEN} pages open while nothing is said",
        unit="% of a core",
        values=tuple(values),
        floor=0.0,
        floor_is="nothing",
        limit=OPEN_LIMIT,
    )


async def _keep_open(daemon: Daemon, cookie: str) -> list[float]:
    values: list[float] = []
    async with anyio.create_task_group() as tg:
        for number in range(OPEN):
            address = "/api/system/events" if number < OF_SYSTEM else f"/api/events?session=open-{number}"
            tg.start_soon(_stream, daemon, cookie, address)
            tg.start_soon(_poll, daemon, cookie, number * POLL_S / OPEN)
        await anyio.sleep(SETTLED_S)
        for _ in range(3):
            used, began = daemon.cpu_s(), time.perf_counter()
            await anyio.sleep(WATCHED_S)
            values.append(100 * (daemon.cpu_s() - used) / (time.perf_counter() - began))
        tg.cancel_scope.cancel()
    return values


async def _connect(daemon: Daemon, cookie: str, address: str) -> SocketStream:
    place = urlsplit(daemon.url)
    stream = await anyio.connect_tcp(str(place.hostname), int(place.port or 0))
    await stream.send(f"GET {address} HTTP/1.1\r\nHost: {place.netloc}\r\nCookie: {cookie}\r\n\r\n".encode())
    head = await stream.receive()
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise RuntimeError(head.decode(errors="replace"))
    return stream


async def _stream(daemon: Daemon, cookie: str, address: str) -> None:
    async with await _connect(daemon, cookie, address) as stream:
        while True:
            await stream.receive()


async def _poll(daemon: Daemon, cookie: str, first_s: float) -> None:
    await anyio.sleep(first_s)
    while True:
        # A server lets a connection go that rests for longer than five seconds; a browser opens another one.
        async with await _connect(daemon, cookie, "/api/sessions?limit=100&age=5"):
            await anyio.sleep(POLL_S)


def _watched_slowly(daemon: Daemon) -> Result:
    """How long an answer takes while some look at its conversation who read nothing of what they are sent."""
    alone = _turns(daemon, "alone")
    with ExitStack() as stack:
        for _ in range(STALLED):
            stack.enter_context(_staller(daemon, "watched"))
        watched = _turns(daemon, "watched")
    return Result(
        name=f"a turn in a conversation with {STALLED} readers who take nothing",
        unit="ms",
        values=tuple(watched),
        floor=statistics.median(alone),
        floor_is="a turn that nobody looks at",
        limit=STALLED_LIMIT,
        limit_is="ratio, at most",
    )


@contextmanager
def _staller(daemon: Daemon, session: str) -> Iterator[None]:
    place = urlsplit(daemon.url)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        taken.connect((place.hostname, place.port))
        [(name, token)] = header_of(daemon.folder).items()
        head = f"GET /api/events?session={session} HTTP/1.1\r\nHost: {place.netloc}\r\n{name}: {token}\r\n\r\n"
        taken.sendall(head.encode())
        yield


def _turns(daemon: Daemon, session: str) -> list[float]:
    """How long each answer took, ms."""
    text = json.dumps("pond " * 2_000)
    daemon.post(session, "hello")
    taken: list[float] = []
    for number in range(TURNS):
        began, own = time.perf_counter(), f"t-{number}"
        daemon.post(session, text, id=own)
        while own not in answered(daemon.get(f"/api/sessions/{session}/messages?after={2 * number}")["messages"]):
            time.sleep(0.002)
        taken.append(1_000 * (time.perf_counter() - began))
    return taken
