"""Fixtures: a browser for all tests, a Millpond for each module, a tab for each test."""

import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.limits import HANG_S
from tests.places import TEMPORARY
from tests.processes import Daemon, answered, shut_down, start

if importlib.util.find_spec("playwright"):
    from playwright.sync_api import expect, sync_playwright

    from tests.page.browsing import LIMIT_MS, Visit, launch, login_link, visiting

    expect.set_options(timeout=LIMIT_MS)
else:  # `make test` has no need of it, and leaves all of this out
    collect_ignore_glob = ["test_*.py"]

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@dataclass
class Pond:
    """A Millpond with the offline model; a test may stop it and start it again."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])
    daemon: Daemon = field(init=False)

    def __post_init__(self) -> None:
        self.daemon = start(self.folder, **self.environment)

    @property
    def url(self) -> str:
        return self.daemon.url

    def ask(self, name: str, *texts: str) -> list[dict[str, Any]]:
        """Say each of ``texts`` in the session ``name``, and wait for its answer; all that was said there."""
        messages: list[dict[str, Any]] = []
        for text in texts:
            message_id = self.daemon.post(name, text)["id"]
            messages = self.until(
                lambda: self.daemon.messages(quote(name, safe="")), lambda said, own=message_id: own in answered(said)
            )
        return messages

    def until(self, look: Callable[[], Any], fits: Callable[[Any], bool]) -> Any:
        """Look until it fits; what was seen then."""
        until = time.monotonic() + HANG_S
        while not fits(seen := look()):
            assert time.monotonic() < until, f"in {HANG_S:g} s this did not change: {seen}"
            time.sleep(0.05)
        return seen

    def stop(self) -> None:
        """Stop it in order."""
        self.daemon.stop()

    def start_again(self) -> None:
        port = self.url.rpartition(":")[2]
        self.daemon = start(self.folder, **self.environment, MILLPOND_CHANNELS__WEB__PORT=port)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What stands here is for `make test-page` alone."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.page)


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """One browser; every tab has a context of its own."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """Where tests run what is async: Playwright holds the loop of their own thread."""
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """Settings of the module's Millpond; a module may have its own."""
    return {}


@pytest.fixture(scope="module")
def plant() -> Callable[[Path], None]:
    """What the module's Millpond finds in its data directory; a module may have its own."""
    return lambda _folder: None


@pytest.fixture(scope="module")
def millpond(environment: dict[str, str], plant: Callable[[Path], None]) -> Iterator[Pond]:
    # Below /tmp: the path of a socket may have 107 bytes.
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as name, ExitStack() as stack:
        stack.callback(shut_down, Path(name))
        plant(Path(name))
        pond = Pond(Path(name), environment)
        stack.callback(pond.stop)
        yield pond


@pytest.fixture
def stranger(browser: "Browser", millpond: Pond) -> "Iterator[Visit]":
    """A wide tab of somebody who is not logged in."""
    with visiting(browser, millpond.url) as visit:
        yield visit


@pytest.fixture
def visit(stranger: "Visit", millpond: Pond) -> "Visit":
    """A wide tab of somebody who has just followed a login link."""
    log_in(stranger, millpond)
    return stranger


def log_in(visit: "Visit", millpond: Pond) -> None:
    visit.page.goto(login_link(millpond.folder))
    visit.page.wait_for_url(lambda url: "/login" not in url, timeout=LIMIT_MS)
