"""What 10,000 conversations cost on the page, seen and scrolled through; and how soon a lost connection is told."""

import os
import signal
import statistics
from contextlib import suppress
from pathlib import Path

import anyio
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.folder import data_dir
from benchmarks.frames import slowest_task
from benchmarks.result import Result
from tests.page.browsing import WIDE, launch, login_link
from tests.page.planting import many_conversations
from tests.processes import Daemon, running

CONVERSATIONS = 10_000
TRIES = 5
SEEN_LIMIT_MS = 500.0
PAGE_LIMIT_MS = 250.0
TOLD_LIMIT_MS = 2_000.0

SEEN = """() => {
  const look = () => {
    if (document.querySelector("li.session .more")) {
      requestAnimationFrame(() => setTimeout(() => { window.seenAt = performance.now(); }));
    } else requestAnimationFrame(look);
  };
  look();
}"""
"""Notes when the list has been drawn, ms since the address was opened."""
WHEN_SEEN = """() => new Promise((done) => {
  const look = () => (window.seenAt ? done(window.seenAt) : setTimeout(look, 10));
  look();
})"""
SCROLLED = """async () => {
  const nav = document.querySelector(".session-list");
  for (let still = 0; still < 120;) {
    const top = nav.scrollTop;
    nav.scrollTop += 400;
    still = nav.scrollTop === top ? still + 1 : 0;
    await new Promise(requestAnimationFrame);
  }
  return {height: nav.scrollHeight, rows: document.querySelectorAll("li.session").length};
}"""
"""Scrolls to the end of the list, 400 pixels a frame."""
TOLD = """() => new Promise((done) => {
  const began = performance.now();
  const isTold = () => document.querySelector(".state .dot.away");
  const look = () => (isTold() ? done(performance.now() - began) : setTimeout(look, 5));
  look();
})"""

TOOK = """async (path) => {
  const began = performance.now();
  await (await fetch(path)).json();
  return performance.now() - began;
}"""


def measure() -> list[Result]:
    """With a real browser and a whole Millpond."""
    with data_dir() as folder:
        anyio.run(many_conversations, folder, CONVERSATIONS)
        with running(folder) as daemon, sync_playwright() as playwright:
            browser = launch(playwright)
            page = _logged_in(browser.new_context(viewport=WIDE).new_page(), folder)  # type: ignore[arg-type]
            return [_seen(page, daemon), _scrolled(page, browser), _listed(page, daemon), *_told(page, daemon)]


def _logged_in(page: Page, folder: Path) -> Page:
    page.goto(login_link(folder))
    page.wait_for_url(lambda url: "/login" not in url)
    return page


def _seen(page: Page, daemon: Daemon) -> Result:
    values: list[float] = []
    bare: list[float] = []
    page.add_init_script(f"({SEEN})()")
    for _ in range(TRIES):
        page.goto(f"{daemon.url}/page/icon.svg")
        bare.append(float(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventStart")))
        page.goto(f"{daemon.url}/s/web%3Amany-{CONVERSATIONS - 1}", wait_until="commit")
        values.append(float(page.evaluate(WHEN_SEEN)))
    return Result(
        name=f"list of {CONVERSATIONS:,} conversations, first rows in view",
        unit="ms",
        values=tuple(values),
        floor=statistics.median(bare),
        floor_is="a picture alone, in the same browser",
        limit=SEEN_LIMIT_MS,
    )


def _scrolled(page: Page, browser: Browser) -> Result:
    found, result = slowest_task(page, browser, SCROLLED, name=f"{CONVERSATIONS:,} conversations")
    if found["height"] < 50 * CONVERSATIONS:
        raise RuntimeError(f"the end of the list was not reached: {found['height']} px, {found['rows']} rows")
    return result


def _listed(page: Page, daemon: Daemon) -> Result:
    values = [float(page.evaluate(TOOK, f"{daemon.url}/api/sessions?limit=100")) for _ in range(4 * TRIES)]
    return Result(
        name="one page of 100 conversations from the API",
        unit="ms",
        values=tuple(values),
        floor=float(page.evaluate(TOOK, f"{daemon.url}/api/me")),
        floor_is="GET /api/me",
        limit=PAGE_LIMIT_MS,
    )


def _told(page: Page, daemon: Daemon) -> list[Result]:
    """How long `live` stays on the page after the network was cut, and after the process stopped to answer."""
    page.locator(".state .dot.live").wait_for()
    page.context.set_offline(True)
    offline = float(page.evaluate(TOLD))
    page.context.set_offline(False)
    silent: list[float] = []
    for _ in range(TRIES):
        page.locator(".state .dot.live").wait_for()
        os.kill(daemon.process.pid, signal.SIGSTOP)
        try:
            silent.append(float(page.evaluate(TOLD)))
        finally:
            with suppress(ProcessLookupError):
                os.kill(daemon.process.pid, signal.SIGCONT)
    return [
        Result(
            name=f"until a lost connection is told, {kind}",
            unit="ms",
            values=values,
            floor=0.0,
            floor_is="nothing",
            limit=TOLD_LIMIT_MS,
            limit_is="worst, at most",
        )
        for kind, values in (("the browser is offline", (offline,)), ("the server is silent", tuple(silent)))
    ]
