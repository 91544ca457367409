"""Two conversations side by side: each has its own messages, field, draft and keys, and the address keeps both."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.page.browsing import Visit, visiting
from tests.page.conftest import Pond, log_in

AWAY = r"ERR_|Failed to load resource"
NARROW = {"width": 900, "height": 800}


@pytest.fixture
def both(visit: Visit, millpond: Pond) -> Page:
    """The conversation left, and the conversation right beside it."""
    if not millpond.daemon.messages("left"):
        millpond.ask("left", "the left bank")
        millpond.ask("right", "the right bank")
    page = visit.open("/s/web%3Aleft")
    expect(pane(page, "left")).to_contain_text("the left bank")
    open_beside(page, "the right bank")
    expect(pane(page, "right")).to_contain_text("the right bank")
    return page


def open_beside(page: Page, title: str) -> None:
    row = page.locator("li.session").filter(has_text=title)
    row.hover()
    row.get_by_role("button").click()
    page.get_by_role("menuitem", name="Open beside").click()


def pane(page: Page, name: str) -> Locator:
    """A conversation: the first or the one beside it."""
    return page.locator("mp-conversation.beside" if name == "right" else "mp-conversation:not(.beside)")


def field(view: Locator) -> Locator:
    return view.get_by_role("textbox", name="Message", exact=True)


def last(view: Locator) -> Locator:
    return view.locator("article.assistant:not(.live)").last


def test_two_conversations_stream_and_stop_independently(both: Page) -> None:
    left, right = pane(both, "left"), pane(both, "right")
    expect(field(right)).to_be_focused()
    both.keyboard.type("count to 700")
    both.keyboard.press("Enter")
    field(left).fill("count to 600")
    both.keyboard.press("Enter")
    for view in (left, right):
        expect(view.locator("article.live")).to_contain_text("3 4 5")

    both.keyboard.press("Escape")

    expect(last(left)).to_contain_text("stopped")
    expect(right.locator("article.live")).to_be_visible()
    right.get_by_role("button", name="Stop").click()
    expect(last(right)).to_contain_text("stopped")
    assert "600" in left.locator("article.user").last.inner_text()
    assert "700" in right.locator("article.user").last.inner_text()


def test_a_reload_keeps_both_conversations_and_their_drafts(both: Page) -> None:
    left, right = pane(both, "left"), pane(both, "right")
    field(left).fill("a draft at the left")
    field(right).fill("a draft at the right")

    both.reload()

    expect(field(left)).to_have_value("a draft at the left")
    expect(field(right)).to_have_value("a draft at the right")
    expect(last(right)).to_be_visible()
    expect(both.locator("li.session.here")).to_have_count(2)
    field(left).fill("")
    field(right).fill("")


def test_both_conversations_go_on_after_a_restart(both: Page, visit: Visit, millpond: Pond) -> None:
    visit.forgive(AWAY)
    left, right = pane(both, "left"), pane(both, "right")
    millpond.stop()
    for view in (left, right):
        expect(view.locator(".state")).to_have_text("connecting…")
    field(right).fill("sent during the restart")
    field(right).press("Enter")

    millpond.start_again()

    expect(right.locator("article.user:not(.pending)").last).to_contain_text("sent during the restart")
    for view in (left, right):
        expect(view.locator(".state")).to_have_text("live")


def test_what_is_opened_in_a_conversation_stays_in_it(both: Page) -> None:
    left, right = pane(both, "left"), pane(both, "right")

    right.get_by_role("link", name=re.compile("Show the exact prompt")).click()
    expect(right.locator("mp-prompt details").first).to_be_visible()
    expect(field(left)).to_be_visible()
    expect(both).to_have_url(re.compile(r"/s/web%3Aleft\?beside=.*context$"))
    left.locator(".scroller").click()
    both.keyboard.press("Escape")
    expect(right.locator("mp-prompt")).to_be_visible()
    right.locator("mp-prompt h2").first.click()
    both.keyboard.press("Escape")
    expect(field(right)).to_be_visible()

    left.get_by_role("link", name=re.compile("Show the exact prompt")).click()
    expect(left.locator("mp-prompt details").first).to_be_visible()
    expect(field(right)).to_be_visible()
    both.go_back()
    expect(field(left)).to_be_visible()


def test_a_conversation_beside_is_closed_by_a_button_and_replaced_from_the_list(both: Page, millpond: Pond) -> None:
    millpond.ask("third", "the third bank")
    open_beside(both, "the third bank")
    expect(pane(both, "right")).to_contain_text("the third bank")
    both.locator("li.session").filter(has_text="the right bank").get_by_role("link").click()
    expect(pane(both, "left")).to_contain_text("the right bank")
    expect(pane(both, "right")).to_contain_text("the third bank")

    both.get_by_role("button", name="Close this conversation").click()

    expect(pane(both, "right")).to_have_count(0)
    expect(both).to_have_url(re.compile(r"/s/web%3Aright$"))
    expect(field(pane(both, "left"))).to_be_focused()
    open_beside(both, "the third bank")
    expect(pane(both, "right")).to_contain_text("the third bank")
    both.locator("li.session").filter(has_text="the third bank").get_by_role("link").click()
    expect(pane(both, "left")).to_contain_text("the right bank")
    expect(pane(both, "right")).to_contain_text("the third bank")


def test_a_deleted_conversation_leaves_the_other_one(both: Page, millpond: Pond) -> None:
    millpond.ask("short", "a short visit")
    both.locator("li.session").filter(has_text="a short visit").get_by_role("link").click()
    expect(pane(both, "left")).to_contain_text("a short visit")
    pane(both, "left").get_by_role("button", name=re.compile("^Actions for")).click()
    both.get_by_role("menuitem", name="Delete").click()
    both.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(both).to_have_url(re.compile(r"/s/web%3Aright$"))
    expect(pane(both, "left")).to_contain_text("the right bank")
    expect(pane(both, "right")).to_have_count(0)


def test_a_narrow_window_shows_one_conversation_and_a_wide_one_both_again(both: Page) -> None:
    both.set_viewport_size(NARROW)  # type: ignore[arg-type]
    expect(pane(both, "right")).to_have_count(0)
    row = both.locator("li.session").filter(has_text="the right bank")
    row.hover()
    row.get_by_role("button").click()
    expect(both.get_by_role("menuitem", name="Rename")).to_be_visible()
    expect(both.get_by_role("menuitem", name="Open beside")).to_have_count(0)
    both.keyboard.press("Escape")

    both.set_viewport_size({"width": 1440, "height": 900})

    expect(pane(both, "right")).to_contain_text("the right bank")


def test_a_file_is_uploaded_into_the_conversation_whose_field_it_was_given_to(both: Page) -> None:
    right = pane(both, "right")
    file = {"name": "level.txt", "mimeType": "text/plain", "buffer": b"1.2 m"}
    right.locator("input[type=file]").set_input_files([file])  # type: ignore[list-item]
    expect(right.get_by_text("level.txt")).to_be_visible()
    field(right).fill("here it is")
    field(right).press("Enter")

    expect(right.locator("article.user:not(.pending)").last).to_contain_text("level.txt")
    expect(pane(both, "left").get_by_text("level.txt")).to_have_count(0)


@pytest.fixture(params=[(1024, False, "en-GB"), (1440, True, "en-GB"), (1440, False, "zh-CN"), (2560, True, "zh-CN")])
def screen(request: pytest.FixtureRequest, browser: Browser, millpond: Pond) -> Iterator[tuple[Visit, str]]:
    width, dark, locale = request.param
    with visiting(browser, millpond.url, dark=dark, locale=locale) as visit:
        log_in(visit, millpond)
        visit.page.set_viewport_size({"width": width, "height": 900})
        yield visit, f"{width}-{'dark' if dark else 'light'}-{locale[:2]}"


def test_two_conversations_can_be_used_by_everybody(millpond: Pond, screen: tuple[Visit, str]) -> None:
    millpond.ask("left", "the left bank", "count to 30")
    millpond.ask("right", "the right bank")
    visit, name = screen
    page = visit.open("/s/web%3Aleft?beside=%2Fs%2Fweb%253Aright")
    expect(pane(page, "right")).to_contain_text("the right bank")
    expect(pane(page, "left")).to_contain_text("the left bank")
    expect(page.locator(".legend b").last).to_be_attached()
    page.wait_for_timeout(400)
    visit.shoot(f"side-by-side-{name}")

    assert visit.axe() == []
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    for view in (pane(page, "left"), pane(page, "right")):
        assert view.locator(".conversation").evaluate("each => each.scrollWidth <= each.clientWidth")
