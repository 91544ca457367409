"""The settings in a browser: from an empty folder to the first real answer, and what operators change afterwards."""

import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Browser, Page, expect

from tests.fakes.openai_server import FakeOpenAI, Say, fake_openai
from tests.page.browsing import visiting
from tests.page.conftest import Pond, log_in
from tests.places import TEMPORARY
from tests.ports import free_port
from tests.processes import shut_down

KEY = "sk-a-key-of-this-test"
RESTARTS = r"Failed to load resource|ERR_|401|503"
"""Complaints of a browser about requests while the server starts again."""


@contextmanager
def fresh(**environment: str) -> Iterator[Pond]:
    """A Millpond that was just installed, at a port that it keeps."""
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as name:
        pond = Pond(Path(name), {"MILLPOND_CHANNELS__WEB__PORT": str(free_port()), **environment})
        try:
            yield pond
        finally:
            pond.stop()
            shut_down(Path(name))


@pytest.fixture
def model(portal: BlockingPortal) -> Iterator[FakeOpenAI]:
    with portal.wrap_async_context_manager(fake_openai(lambda _body: Say("I am real."))) as server:
        yield server


def set_up(page: Page, model: FakeOpenAI, *, button: str = "Test and save") -> None:
    page.get_by_label("Address of the server").fill(model.base_url)
    page.get_by_label("API key").fill(KEY)
    page.get_by_label("Name of the model").fill("real-1")
    page.get_by_role("button", name=button).click()


def test_a_fresh_start_leads_to_the_first_real_answer_without_leaving_the_page(
    browser: Browser, model: FakeOpenAI
) -> None:
    with fresh() as pond, visiting(browser, pond.url) as visit:
        visit.forgive(RESTARTS)
        log_in(visit, pond)
        page = visit.page
        page.get_by_role("link", name="Set up a model").click()
        expect(page.get_by_role("heading", name="Set up a model")).to_be_visible()
        visit.shoot("settings-first")

        set_up(page, model)

        expect(page.get_by_role("heading", name="pond is ready")).to_be_visible()
        visit.shoot("settings-ready")
        page.get_by_role("link", name="Start a conversation").click()
        page.get_by_label("Message", exact=True).fill("Who are you?")
        page.keyboard.press("Enter")
        expect(page.get_by_text("I am real.").first).to_be_visible()
        visit.shoot("settings-answer")

        config = pond.folder / "millpond.toml"
        written = tomllib.loads(config.read_text())["bots"]["pond"]["model"]
        assert written == {"base_url": model.base_url, "name": "real-1", "api_key_file": "pond.model.key"}
        key = pond.folder / "pond.model.key"
        assert key.read_text() == f"{KEY}\n"
        assert {stat.S_IMODE(path.stat().st_mode) for path in (key, config)} == {0o600}
        assert KEY not in page.content()
