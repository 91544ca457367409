"""Memory in a browser: the text and its versions, edited, restored, searched and forgotten."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.page.browsing import Visit
from tests.page.conftest import Pond


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"MILLPOND_BOTS__POND__MODEL__CONTEXT_WINDOW_TOKENS": "4096", "MILLPOND_BOTS__POND__TOOLS": "time"}


def remember(millpond: Pond, name: str) -> str:
    """Have something settle of a conversation; the address of its memory."""
    millpond.ask(
        name, "Remember that I live in Lisbon.", "Remember that my heron is called Otto.", "hello", "thank you"
    )
    millpond.daemon.post(name, "/compact")
    millpond.until(lambda: cursor(millpond, f"web:{name}"), lambda at: at > 0)
    return f"/memory/{quote(f'pond:person:web:{name}', safe='')}"


def cursor(millpond: Pond, session: str) -> int:
    found = millpond.daemon.get("/api/sessions?limit=1000")["sessions"]
    return max((int(each["cursor"]) for each in found if each["session"] == session), default=0)


def test_without_any_memory_the_page_tells_how_it_comes_about(visit: Visit) -> None:
    page = visit.open("/memory")

    expect(page.get_by_role("heading", name="No memories yet")).to_be_visible()
    expect(page.get_by_role("link", name="send /compact")).to_be_visible()


def test_what_settled_of_a_conversation_is_listed_and_read(visit: Visit, millpond: Pond) -> None:
    remember(millpond, "ann")

    page = visit.open("/memory")
    page.get_by_role("link", name=re.compile("ann.*version 1")).click()

    expect(page.get_by_role("heading", level=1, name="ann")).to_be_visible()
    expect(page.locator("article")).to_contain_text("my heron is called Otto")
    expect(page.get_by_text("Version 1 (consolidation)")).to_be_visible()


def test_the_history_leads_back_to_the_messages_and_a_search_gives_scores(visit: Visit, millpond: Pond) -> None:
    page = visit.open(remember(millpond, "dora"))

    page.get_by_role("link", name="History").click()
    expect(page.locator(".entries li")).to_contain_text("Lisbon")
    expect(page.get_by_role("link", name=re.compile("messages 0–"))).to_have_attribute("href", re.compile(r"/m/0$"))

    page.get_by_role("link", name="Search").click()
    page.get_by_role("searchbox", name="Search terms").fill("heron")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("q=heron"))
    expect(page.locator(".entries li").first).to_contain_text("Otto")
    expect(page.locator(".entries .score").first).to_have_attribute("aria-label", re.compile(r"^relevance score \d"))
