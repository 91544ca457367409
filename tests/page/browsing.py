"""A tab of a browser at a Millpond: what it shows, what it complains of, what axe says of it."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Playwright

from tests import forked
from tests.limits import HANG_S
from tests.processes import environment_of

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".page"  # what the tests fetch and leave behind: axe-core, and pictures. Not in git
AXE = KEPT / "node_modules" / "axe-core" / "axe.min.js"
SHOTS = KEPT / "shots"

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"),  # a microphone that beeps
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""Chromium's programs, the preferred one first: without the browser's own windows, a test takes half the CPU time."""
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
LIMIT_MS = 1_000 * HANG_S

LINK = re.compile(r"http://\S+/login#\S+")
GRAVE = frozenset({"serious", "critical"})


def chromium() -> str:
    """The browser's program: one of the system, never one that Playwright downloads."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise RuntimeError("Chromium was not found. Install it (Debian: apt-get install chromium-headless-shell).")
    return found


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))


def wait_until(page: Page, condition: str) -> None:
    """Returns once ``condition``, an expression of JavaScript, is true, looked at in each frame.

    Playwright's own ``wait_for_function`` compiles its text at each look, which the page's policy forbids after the
    first one.
    """
    page.evaluate(
        f"new Promise(done => {{ const look = () => ({condition}) ? done() : requestAnimationFrame(look); look(); }})"
    )


def login_link(folder: Path) -> str:
    """A new login link of the Millpond on the data directory ``folder``, which must be running."""
    said = forked.run(["page"], environment_of(folder, {}))
    found = LINK.search(said.stdout)
    assert found, f"millpond page printed no link: {said.stdout!r}"
    return found.group()


@dataclass(kw_only=True)
class Visit:
    page: Page
    url: str  # address of the Millpond; what is opened begins there
    complaints: list[str] = field(default_factory=list[str])
    forgiven: list[re.Pattern[str]] = field(default_factory=list[re.Pattern[str]])

    def __post_init__(self) -> None:
        self.page.set_default_timeout(LIMIT_MS)
        self.page.on("console", lambda said: self._complain(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self._complain(str(error)))
        self.page.on("dialog", lambda dialog: (self._complain(f"a script ran: {dialog.message}"), dialog.dismiss()))

    def open(self, path: str = "/") -> Page:
        self.page.goto(f"{self.url}{path}")
        return self.page

    def forgive(self, pattern: str) -> None:
        """Expect complaints that match, as those of a browser whose server is away."""
        self.forgiven.append(re.compile(pattern))

    def check(self) -> None:
        """Fail when the browser complained of anything: an error, a refused script, a dialog."""
        left = [text for text in self.complaints if not any(pattern.search(text) for pattern in self.forgiven)]
        assert not left, "\n".join(left)

    def axe(self) -> list[str]:
        """What axe-core holds to be a serious or critical violation; a line each, with where it is."""
        # Into a world of its own, since the page's policy lets no script in that is not its own.
        session = self.page.context.new_cdp_session(self.page)
        try:
            frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
            world = session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "axe"})
            where = {"contextId": world["executionContextId"], "returnByValue": True, "awaitPromise": True}
            session.send("Runtime.evaluate", {"expression": AXE.read_text(), **where, "returnByValue": False})
            ask = "axe.run(document, {resultTypes: ['violations']}).then(found => JSON.stringify(found.violations))"
            said = session.send("Runtime.evaluate", {"expression": ask, **where})
        finally:
            session.detach()
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        found: list[dict[str, Any]] = json.loads(said["result"]["value"])
        return [
            f"{violation['id']} ({violation['impact']}): {node['target']} {node.get('failureSummary', '')}"
            for violation in found
            if violation["impact"] in GRAVE
            for node in violation["nodes"]
        ]

    def shoot(self, name: str) -> Path:
        SHOTS.mkdir(parents=True, exist_ok=True)
        path = SHOTS / f"{name}.png"
        self.page.screenshot(path=path)
        return path

    def _complain(self, text: str) -> None:
        self.complaints.append(text)


@contextmanager
def visiting(
    browser: Browser, url: str, *, phone: bool = False, dark: bool = False, locale: str = "en-GB"
) -> Iterator[Visit]:
    """A new person's first tab; what it complained of fails the test at the end of the block."""
    context: BrowserContext = browser.new_context(
        viewport=PHONE if phone else WIDE,  # type: ignore[arg-type]
        color_scheme="dark" if dark else "light",
        has_touch=phone,
        reduced_motion="reduce",
        locale=locale,
        timezone_id="UTC",
    )
    try:
        visit = Visit(page=context.new_page(), url=url)
        yield visit
        visit.check()
    finally:
        context.close()
