"""A conversation in a browser: the first visit, streaming, stopping, a consolidation, a restart, a long past."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Locator, Page, Route, expect

from tests import forked
from tests.limits import HANG_S
from tests.page.browsing import Visit, login_link
from tests.page.conftest import Pond, log_in
from tests.page.planting import long_conversation
from tests.processes import answered, environment_of

MESSAGES = 10_000
AWAY = r"ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|503"
"""What a browser complains of while its server is started again."""


@pytest.fixture(scope="module")
def plant(portal: BlockingPortal) -> Callable[[Path], None]:
    return lambda folder: portal.call(lambda: long_conversation(folder, "long", messages=MESSAGES, settled=9_800))


def write(page: Page, text: str) -> None:
    field = page.get_by_role("textbox", name=re.compile("message", re.IGNORECASE))
    field.fill(text)
    field.press("Enter")


def listed(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Conversations").get_by_role("link")


def test_who_is_not_logged_in_is_told_how_and_sees_nothing_of_anybody(stranger: Visit, millpond: Pond) -> None:
    stranger.forgive("401")
    millpond.ask("ann", "a secret of the pond")

    page = stranger.open("/s/web%3Aann")

    expect(page.get_by_role("heading", name="Welcome to Millpond")).to_be_visible()
    expect(page.get_by_text("millpond page", exact=True)).to_be_visible()


def test_a_link_lets_in_once_and_leaves_no_code_in_the_address(stranger: Visit, millpond: Pond) -> None:
    link = login_link(millpond.folder)
    page = stranger.page
    page.goto(link)

    expect(page.get_by_role("heading", name=re.compile("^Talk to"))).to_be_visible()
    assert link.partition("#")[2] not in page.url

    page.context.clear_cookies()
    stranger.forgive("401|403")
    page.goto("about:blank")
    page.goto(link)
    expect(page.get_by_role("alert")).to_contain_text(re.compile("used|old|new", re.IGNORECASE))


def test_a_first_message_is_answered_word_by_word(visit: Visit) -> None:
    page = visit.page
    write(page, "count to 100")

    live = page.locator("article.live")
    expect(live).to_contain_text("5 6 7")
    assert "100" not in live.inner_text()
    expect(page.locator("article.assistant:not(.live)").last).to_contain_text("98 99 100")
    expect(live).to_be_hidden()


def test_a_turn_is_stopped_by_a_button(visit: Visit) -> None:
    page = visit.page
    write(page, "count to 500")
    expect(page.locator("article.live")).to_contain_text("3 4 5")

    page.get_by_role("button", name="Stop").click()

    expect(page.locator("article.live")).to_be_hidden()
    expect(page.locator("article.assistant").last).to_contain_text("stopped")


def test_a_consolidation_is_seen_as_it_happens(visit: Visit) -> None:
    page = visit.page
    for text in ("Remember that I live in Lisbon.", "Remember that my heron is called Otto.", "hello", "thank you"):
        before = page.locator("article.assistant:not(.live)").count()
        write(page, text)
        expect(page.locator("article.assistant:not(.live)")).to_have_count(before + 1)
    expect(page.get_by_text("Messages above this line are saved to memory")).to_be_hidden()

    write(page, "/compact")

    expect(page.get_by_text("Messages above this line are saved to memory")).to_be_visible()
    expect(page.locator("a.rail-label")).to_have_count(1)
    expect(page.locator("path.past").first).to_be_attached()


def test_while_a_consolidation_goes_on_the_timeline_says_so(visit: Visit) -> None:
    page, goes_on = visit.page, [True]

    def answer(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), "settling": goes_on[0]})

    page.route("**/context", answer)
    write(page, "hello")
    expect(page.get_by_text("summarizing…")).to_be_visible()

    goes_on[0] = False

    expect(page.get_by_text("summarizing…")).to_be_hidden()


def test_conversations_of_other_channels_can_be_read_and_chosen_by_channel(visit: Visit, millpond: Pond) -> None:
    words = ["send", "terminal:bob", "hello from a terminal", "--wait", str(HANG_S)]
    forked.run(words, environment_of(millpond.folder, {})).check_returncode()
    millpond.ask("ann", "hello")
    page = visit.open("/s/terminal%3Abob")
    conversations = page.get_by_role("navigation", name="Conversations")

    expect(page.locator("article.user")).to_contain_text("hello from a terminal")
    expect(page.get_by_text("You can read the conversation here, but you cannot reply.")).to_be_visible()
    expect(conversations.get_by_title("ann", exact=True)).to_be_visible()
    page.get_by_label("Filter conversations by channel").select_option("terminal")
    expect(conversations.get_by_title("ann", exact=True)).to_be_hidden()
    expect(conversations.get_by_title("bob", exact=True)).to_be_visible()


def test_after_a_restart_the_page_goes_on_by_itself_and_nothing_is_lost(visit: Visit, millpond: Pond) -> None:
    visit.forgive(AWAY)
    page = visit.page
    write(page, "hello")
    expect(page.locator("article.assistant:not(.live)")).to_have_count(1)

    millpond.stop()
    expect(page.get_by_text("connecting…")).to_be_visible()
    write(page, "are you there again")
    millpond.start_again()

    expect(page.locator("article.assistant:not(.live)")).to_have_count(2)
    expect(page.locator("article.user").last).to_contain_text("are you there again")
    session = page.url.rpartition("/s/web%3A")[2]
    said = millpond.daemon.messages(session)
    assert len(answered(said)) == 2, "sent again and again, it counts once"


def test_ten_thousand_messages_are_walked_through_with_few_of_them_in_the_page(visit: Visit) -> None:
    page = visit.open("/s/web%3Along")
    newest = page.locator(f'article[data-index="{MESSAGES - 1}"]')
    expect(newest).to_be_in_viewport()
    assert page.locator("article").count() <= 200

    page.locator(".scroller").evaluate("element => { element.scrollTop = 0 }")
    expect(page.locator(f'article[data-index="{MESSAGES - 80}"]')).to_be_attached()

    visit.open("/s/web%3Along/m/4321")
    expect(page.locator('article[data-index="4321"]')).to_be_in_viewport()
    assert page.locator("article").count() <= 500
    expect(page.get_by_text("Messages above this line are saved to memory")).to_be_visible()


def test_what_was_not_sent_is_kept_and_commands_are_completed(visit: Visit) -> None:
    page = visit.page
    field = page.get_by_role("textbox", name=re.compile("message", re.IGNORECASE))
    field.fill("half a thought")
    visit.page.reload()
    expect(field).to_have_value("half a thought")

    field.fill("/stat")
    expect(page.get_by_role("option", name="/status")).to_be_visible()


def test_sessions_are_found_by_their_name(visit: Visit, millpond: Pond) -> None:
    millpond.ask("zebra", "hello")
    page = visit.open("/")
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("/")

    page.keyboard.type("zeb")

    expect(listed(page)).to_have_count(1)
    expect(listed(page)).to_have_attribute("title", "zebra")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("web%3Azebra"))


def test_who_is_on_a_line_that_goes_away_is_back_in_the_field(visit: Visit, millpond: Pond) -> None:
    millpond.ask("zebra", "hello")
    page = visit.open("/s/web%3Aheron")
    expect(listed(page).first).to_have_attribute("title", "heron")
    field, found = page.get_by_role("searchbox"), list[Route]()

    def hold(route: Route) -> None:
        found.append(route)

    page.route("**/api/sessions?*q=zeb*", hold)
    field.press_sequentially("zeb")
    page.keyboard.press("ArrowDown")
    expect(listed(page).first).to_be_focused()
    while not found:
        page.wait_for_timeout(10)
    found[0].continue_()

    expect(listed(page)).to_have_count(1)
    expect(listed(page)).to_have_attribute("title", "zebra")
    expect(field).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("web%3Azebra"))


def test_a_list_of_conversations_that_has_not_changed_stays(visit: Visit, millpond: Pond) -> None:
    millpond.ask("zebra", "hello")
    page = visit.open("/s/web%3Aheron")
    line = page.get_by_role("navigation", name="Conversations").get_by_title("zebra")
    expect(line).to_be_visible()
    before = line.element_handle()

    with page.expect_response("**/api/sessions?*"):
        page.evaluate("dispatchEvent(new Event('mp-said'))")
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    assert before.evaluate("each => each.isConnected")


def test_who_logs_out_is_a_stranger_again(visit: Visit, millpond: Pond) -> None:
    visit.forgive("401")
    visit.page.get_by_role("button", name="Log out").click()

    expect(visit.page.get_by_role("heading", name="Welcome to Millpond")).to_be_visible()
    log_in(visit, millpond)
    expect(visit.page.get_by_role("button", name="Log out")).to_be_visible()
