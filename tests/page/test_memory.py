"""Memory in a browser: the text and its versions, edited, restored, searched and forgotten."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.page.browsing import Visit
from tests.page.conftest import Pond


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"MILLPOND_BOTS__POND__MODEL__CONTEXT_WINDOW_TOKENS": "4096"}


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

    expect(page.get_by_role("heading", name="Nothing is remembered yet")).to_be_visible()
    expect(page.locator("code", has_text="/compact")).to_be_visible()


def test_what_settled_of_a_conversation_is_listed_and_read(visit: Visit, millpond: Pond) -> None:
    remember(millpond, "ann")

    page = visit.open("/memory")
    page.get_by_role("link", name=re.compile("ann.*version 1")).click()

    expect(page.get_by_role("heading", level=1, name="ann")).to_be_visible()
    expect(page.locator("article")).to_contain_text("my heron is called Otto")
    expect(page.get_by_text("Version 1, consolidation")).to_be_visible()


def test_an_edit_becomes_a_version_whose_words_are_compared_and_an_older_one_is_restored(
    visit: Visit, millpond: Pond
) -> None:
    page = visit.open(remember(millpond, "bea"))

    page.get_by_role("button", name="Edit").click()
    field = page.get_by_role("textbox", name="MEMORY.md")
    field.fill(field.input_value().replace("Lisbon", "Porto"))
    page.get_by_role("button", name="Save").click()
    expect(page.locator("article")).to_contain_text("Porto")

    page.get_by_role("link", name="Versions").click()
    page.get_by_role("link", name=re.compile("Version 2")).click()
    expect(page.locator(".diff del")).to_have_text("Lisbon")
    expect(page.locator(".diff ins")).to_have_text("Porto")

    page.get_by_role("link", name="Older").click()
    expect(page).to_have_url(re.compile("/versions/1$"))
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("button", name="Make it the newest?").click()
    expect(page.locator("article")).to_contain_text("Lisbon")
    expect(page.get_by_text("Version 3")).to_be_visible()


def test_an_edit_of_a_text_that_changed_meanwhile_is_kept_and_told(visit: Visit, millpond: Pond) -> None:
    address = remember(millpond, "cleo")
    page = visit.open(address)
    page.get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="MEMORY.md").fill("# Mine")
    headers = {"Origin": millpond.url}
    other = page.request.put(f"{millpond.url}/api{address}", data={"text": "# Another's", "expect": 1}, headers=headers)
    assert other.ok, other.text()
    visit.forgive("409")

    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("alert")).to_contain_text("Version 2 came meanwhile")
    expect(page.get_by_role("textbox", name="MEMORY.md")).to_have_value("# Mine")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("article")).to_have_text("Mine")


def test_the_history_leads_back_to_the_messages_and_a_search_gives_scores(visit: Visit, millpond: Pond) -> None:
    page = visit.open(remember(millpond, "dora"))

    page.get_by_role("link", name="History").click()
    expect(page.locator(".entries li")).to_contain_text("Lisbon")
    expect(page.get_by_role("link", name=re.compile("messages 0–"))).to_have_attribute("href", re.compile(r"/m/0$"))

    page.get_by_role("link", name="Search").click()
    page.get_by_role("searchbox", name="What to look for").fill("heron")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("q=heron"))
    expect(page.locator(".entries li").first).to_contain_text("Otto")
    expect(page.locator(".entries .score").first).to_have_attribute("aria-label", re.compile(r"^score \d"))


def test_what_is_to_be_forgotten_is_listed_chosen_and_gone(visit: Visit, millpond: Pond) -> None:
    address = remember(millpond, "ella")
    page = visit.open(f"{address}?tab=forget")
    page.get_by_role("searchbox", name="What is to be forgotten").fill("Otto")
    page.get_by_role("button", name="Look for it").click()
    expect(page.get_by_role("checkbox").first).to_be_visible()

    page.get_by_role("button", name="Forget all of it").click()
    page.get_by_role("button", name="All of it, for good?").click()

    expect(page.locator("#toasts")).to_contain_text("forgotten")
    text = millpond.until(
        lambda: page.request.get(f"{millpond.url}/api{address}").json()["text"], lambda text: "Otto" not in text
    )
    assert "Lisbon" in text
