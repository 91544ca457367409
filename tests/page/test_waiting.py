"""What waits in a conversation is shown with the reason, also after a reload and in another browser."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.page.browsing import Visit, visiting
from tests.page.conftest import Pond, log_in


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """A model whose server cannot be reached."""
    return {"MILLPOND_BOTS__POND__MODEL__BASE_URL": "http://127.0.0.1:9/v1", "MILLPOND_BOTS__POND__MODEL__NAME": "away"}


def test_a_waiting_message_is_shown_after_a_reload_with_the_reason(
    visit: Visit, millpond: Pond, browser: Browser
) -> None:
    visit.page.get_by_role("button", name="New conversation").click()
    page = visit.page
    page.get_by_role("textbox", name="Message", exact=True).fill("Is anybody there?")
    page.keyboard.press("Enter")
    said = page.get_by_text(re.compile(r"1 pending message since \d\d:\d\d"))
    expect(said).to_be_visible()

    page.reload()

    expect(said).to_be_visible()
    expect(page.locator("mp-waiting")).to_contain_text("The next attempt is at")
    with visiting(browser, millpond.url) as other:
        log_in(other, millpond)
        other.open(page.url.removeprefix(millpond.url))
        other.page.locator("mp-waiting summary").click()
        expect(other.page.locator("mp-waiting li")).to_contain_text("Is anybody there?")
