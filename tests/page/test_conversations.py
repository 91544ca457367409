"""Conversations on the page: thousands of them, their labels, the search in all of them, and what waits in them."""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Locator, Page, expect

from tests.page.browsing import Visit
from tests.page.conftest import Pond
from tests.page.planting import many_conversations

MANY = 2_000
AWAY = r"ERR_|Failed to load resource"


@pytest.fixture(scope="module")
def plant(portal: BlockingPortal) -> Callable[[Path], None]:
    return lambda folder: portal.call(lambda: many_conversations(folder, MANY))


def rows(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Conversations").locator("li.session a")


def row(page: Page, title: str) -> Locator:
    return rows(page).filter(has_text=title)


def choose(page: Page, title: str, action: str) -> None:
    page.locator(".conversation-head").get_by_role("button", name=f"Actions for {title}", exact=True).click()
    page.get_by_role("menuitem", name=action, exact=True).click()


def say(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Message", exact=True).fill(text)
    page.keyboard.press("Enter")
    expect(page.locator("article.assistant:not(.live)").last).to_contain_text(text)


def test_all_conversations_are_reached_by_scrolling_with_few_of_them_in_the_page(visit: Visit) -> None:
    page = visit.open("/s/web%3Amany-7")
    expect(rows(page).first).to_contain_text(f"Question {MANY - 1}")
    seen = 0
    nav = page.get_by_role("navigation", name="Conversations")
    while not row(page, "Question 0:").count():
        seen = max(seen, rows(page).count())
        nav.evaluate("each => { each.scrollTop = each.scrollHeight }")
        page.wait_for_timeout(20)

    expect(row(page, "Question 0:")).to_be_visible()
    assert seen < 60
    expect(row(page, "Question 0:")).to_contain_text("Answer 0")


def test_a_conversation_is_renamed_pinned_archived_and_deleted(visit: Visit, millpond: Pond) -> None:
    millpond.ask("labelled", "the mill race")
    page = visit.open("/s/web%3Alabelled")
    expect(page.get_by_role("heading", level=1)).to_have_text("the mill race")

    choose(page, "the mill race", "Rename")
    page.get_by_role("textbox", name="Title").fill("Water and wheels")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Water and wheels")
    expect(page).to_have_title(re.compile("Water and wheels"))
    row(page, "Water and wheels").hover()
    page.locator("li.session").filter(has_text="Water and wheels").get_by_role("button").click()
    page.get_by_role("menuitem", name="Pin", exact=True).click()
    expect(page.get_by_role("heading", name="Pinned")).to_be_visible()
    expect(rows(page).first).to_contain_text("Water and wheels")
    choose(page, "Water and wheels", "Archive")
    expect(row(page, "Water and wheels")).to_have_count(0)
    page.get_by_role("button", name="Archived conversations").click()
    expect(row(page, "Water and wheels")).to_be_visible()
    choose(page, "Water and wheels", "Move back to the conversation list")
    expect(row(page, "Water and wheels")).to_have_count(0)
    page.get_by_role("button", name="Back to all conversations").click()

    choose(page, "Water and wheels", "Delete")
    expect(page.get_by_role("dialog")).to_contain_text("cannot be undone")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(row(page, "Water and wheels")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("labelled"))
    assert millpond.daemon.messages("labelled") == []


def test_a_search_leads_to_the_message_in_another_conversation(visit: Visit, millpond: Pond) -> None:
    millpond.ask("searched", "hello", "The grey heron is called Otto.")
    page = visit.open("/s/web%3Amany-7")

    page.get_by_role("searchbox").fill("heron Otto")
    hit = page.locator(".hit a").filter(has_text="Otto").first
    expect(hit.locator("mark").first).to_have_text("heron")
    hit.click()

    expect(page).to_have_url(re.compile("web%3Asearched/m/[23]"))
    expect(page.locator("article.target")).to_contain_text("The grey heron is called Otto.")


def test_all_new_conversations_of_an_operator_are_one_person(visit: Visit, millpond: Pond) -> None:
    page = visit.page
    told = set[str]()
    for text in ("the first one", "the second one"):
        page.get_by_role("button", name="New conversation").click()
        say(page, text)
        address = page.url.rpartition("/s/")[2]
        told.add(page.request.get(f"{millpond.url}/api/sessions/{address}").json()["memory"])

    assert told == {"pond:person:web:operator"}


def test_an_older_conversation_is_joined_with_the_memory_of_the_others(visit: Visit, millpond: Pond) -> None:
    """Earlier versions gave each conversation of the page a memory of its own."""
    millpond.ask("older", "hello")
    page = visit.open("/s/web%3Aolder")

    choose(page, "hello", "Merge with my memory")
    page.get_by_role("button", name="Merge with my memory").click()

    address = f"{millpond.url}/api/sessions/web%3Aolder"
    millpond.until(lambda: page.request.get(address).json()["memory"], lambda memory: memory.endswith(":web:operator"))
    say(page, "and again")


def test_the_bar_and_the_exact_prompt_tell_the_same_number(visit: Visit, millpond: Pond) -> None:
    millpond.ask("numbers", "hello", "the mill race is wide")
    page = visit.open("/s/web%3Anumbers")
    expect(page.locator(".sum")).to_contain_text(re.compile(r"about \S+ of"))

    page.goto(f"{millpond.url}/s/web%3Anumbers/context")
    badge = page.locator(".prompt h2 .badge")
    expect(badge).to_have_text(re.compile(r"[\d,]+ tokens"))

    exact = badge.inner_text().split()[0]
    expect(page.locator(".sum > :last-child")).to_have_attribute("title", re.compile(f"^{exact} of "))
    expect(page.locator(".sum")).not_to_contain_text("about")


def test_the_page_shows_its_outline_before_its_scripts_have_loaded(visit: Visit) -> None:
    visit.forgive(AWAY)
    visit.page.route("**/page/*.js", lambda route: route.abort())

    page = visit.open("/s/web%3Amany-7")

    expect(page.locator(".main-ghost")).to_be_visible()
    expect(page.locator(".side-ghost")).to_be_visible()


def test_a_lost_connection_is_told_by_its_silence_and_by_the_browser(visit: Visit, millpond: Pond) -> None:
    visit.forgive(AWAY)
    page = visit.open("/s/web%3Amany-7")
    state = page.locator(".conversation-head .state")
    expect(state).to_have_text("live")

    visit.page.context.set_offline(True)
    expect(state).to_have_text("connecting…")
    visit.page.context.set_offline(False)
    expect(state).to_have_text("live")

    os.kill(millpond.daemon.process.pid, signal.SIGSTOP)
    try:
        expect(state).to_have_text("connecting…")
    finally:
        os.kill(millpond.daemon.process.pid, signal.SIGCONT)
    expect(state).to_have_text("live")
