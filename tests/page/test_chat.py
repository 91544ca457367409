"""Chatting on the page: what is said comes once, in order, whatever happens in between, and is only ever shown."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Browser, Locator, Page, expect

from tests.fakes.openai_server import fake_openai
from tests.page.browsing import LIMIT_MS, Visit, visiting, wait_until
from tests.page.conftest import Pond, log_in
from tests.page.planting import long_conversation
from tests.page.talking import answer

pytestmark = pytest.mark.timeout(300)

MESSAGES = 10_000
AWAY = r"Failed to load resource|net::ERR_"  # what a browser says of a server that is not there
NOTE_WHERE_MESSAGES_ARE = """
    window.wheres = [];
    const note = () => {
      const scroller = document.querySelector(".scroller")?.getBoundingClientRect();
      const where = scroller && `${scroller.top} to ${scroller.bottom}`;
      if (where && !wheres.includes(where)) wheres.push(where);
      requestAnimationFrame(note);
    };
    note();
"""
"""Writes down, at every frame, each place where the messages have been."""


@pytest.fixture(scope="module")
def environment(portal: BlockingPortal) -> Iterator[dict[str, str]]:
    with portal.wrap_async_context_manager(fake_openai(answer)) as server:
        yield {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "none",
            "OPENAI_MODEL": "talker",
            "MILLPOND_BOTS__POND__TOOLS": "time",
            "MILLPOND_BOTS__POND__MODEL__CONTEXT_WINDOW_TOKENS": "8192",
        }


@pytest.fixture(scope="module")
def plant(portal: BlockingPortal) -> Callable[[Path], None]:
    return lambda folder: portal.call(lambda: long_conversation(folder, "long", messages=MESSAGES, settled=9_800))


@pytest.fixture
def chat(visit: Visit) -> Page:
    """A conversation that nobody had yet, ready to be written in."""
    visit.page.wait_for_selector("mp-composer textarea")
    visit.page.get_by_role("button", name="New conversation").click()
    expect(visit.page.get_by_text("Talk to pond")).to_be_visible()
    return visit.page


def say(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def answers(page: Page) -> Locator:
    return page.locator("article.assistant:not(.live):has(footer)")


def people(page: Page) -> Locator:
    return page.locator("article.user:not(.pending)")


def test_an_answer_is_written_as_it_comes_and_stands_once(chat: Page) -> None:
    say(chat, "a slow one")

    expect(chat.locator("article.live")).to_contain_text("One word after")
    expect(chat.get_by_role("button", name="Stop")).to_be_visible()
    expect(answers(chat)).to_have_count(1)
    expect(chat.locator("article.live, .pending")).to_have_count(0)
    expect(people(chat)).to_have_count(1)
    expect(chat.get_by_role("button", name="Stop")).to_be_hidden()


def test_a_turn_is_stopped_from_the_keyboard(chat: Page) -> None:
    say(chat, "a slow one")
    expect(chat.locator("article.live")).to_contain_text("One word")

    chat.keyboard.press("Escape")

    expect(chat.get_by_text("stopped", exact=True)).to_be_visible()
    expect(chat.locator("article.live, .pending")).to_have_count(0)


def test_markdown_becomes_elements(chat: Page) -> None:
    say(chat, "a rich one")

    said = answers(chat)
    expect(said.locator("strong")).to_have_text("three things")
    expect(said.get_by_role("link", name="the survey")).to_have_attribute("rel", re.compile("noopener"))
    expect(said.locator("table tbody tr")).to_have_count(2)
    expect(said.locator("pre code")).to_contain_text("recent = readings[-3:]\n    return")
    expect(said.locator("ol > li")).to_have_count(3)


def test_a_tool_is_a_line_that_opens(chat: Page) -> None:
    say(chat, "use a tool")

    line = chat.locator("details.tool")
    expect(answers(chat)).to_contain_text("The tool has answered.")
    expect(line).to_have_count(1)
    expect(line.locator("summary")).to_have_text(re.compile(r"^time · [\d.]+ m?s$"))
    line.locator("summary").click()
    expect(line.get_by_role("heading", name="Arguments")).to_be_visible()
    expect(line).to_contain_text("<script>alert(2)</script>")


def test_a_command_is_completed_and_answered_aside(chat: Page) -> None:
    field = chat.get_by_label("Message", exact=True)
    field.press_sequentially("/stat")
    expect(chat.get_by_role("listbox", name="Commands").get_by_role("option")).to_contain_text("/status")

    field.press("Enter")
    field.press("Enter")

    expect(chat.locator(".notice")).to_contain_text("Model: talker")
    expect(chat.locator(".pending")).to_have_count(0)
    expect(people(chat)).to_have_count(0)


def test_enter_sends_and_shift_enter_does_not(chat: Page) -> None:
    field = chat.get_by_label("Message", exact=True)
    field.press_sequentially("one")
    field.press("Shift+Enter")
    field.press_sequentially("two")
    expect(field).to_have_value("one\ntwo")

    field.press("Enter")

    expect(people(chat)).to_contain_text("one\ntwo")
    expect(field).to_have_value("")


def test_a_message_waits_through_a_reload_of_the_page(visit: Visit, chat: Page, millpond: Pond) -> None:
    visit.forgive(AWAY)
    millpond.stop()
    say(chat, "kept")
    expect(chat.locator(".pending")).to_contain_text("retrying soon")
    millpond.start_again()

    chat.reload()

    expect(answers(chat)).to_have_count(1, timeout=LIMIT_MS)
    expect(people(chat)).to_have_count(1)


def test_the_context_bar_opens_to_the_exact_prompt(chat: Page, visit: Visit) -> None:
    say(chat, "remember the sluice")
    expect(answers(chat)).to_have_count(1)

    chat.locator("a.bar").click()

    chat.wait_for_url("**/context")
    part = chat.locator(".prompt-part").filter(has=chat.locator("summary strong", has_text=re.compile("^History$")))
    part.locator("summary").click()
    expect(part).to_contain_text("remember the sluice")
    assert visit.axe() == []
    chat.keyboard.press("Escape")
    expect(answers(chat)).to_be_visible()


def test_the_line_of_a_conversation_in_the_list_has_no_signs_of_markdown(visit: Visit, millpond: Pond) -> None:
    millpond.ask("marked", "a rich answer")
    visit.open("/s/web%3Amarked")

    expect(visit.page.locator(".session.here .more")).to_contain_text("in the notes, three things")


@pytest.mark.parametrize("phone", [False, True])
def test_what_is_around_the_messages_keeps_its_place_while_they_are_loaded(
    browser: Browser, millpond: Pond, phone: bool
) -> None:
    with visiting(browser, millpond.url, phone=phone) as visit:
        log_in(visit, millpond)
        visit.page.add_init_script(NOTE_WHERE_MESSAGES_ARE)
        visit.open("/s/web%3Along")
        visit.page.wait_for_selector("mp-composer textarea")
        expect(visit.page.locator(".sum")).to_contain_text("tokens")

        assert len(visit.page.evaluate("wheres")) == 1


def test_older_messages_come_while_what_is_read_stays(chat: Page, visit: Visit) -> None:
    visit.open("/s/web%3Along")
    expect(chat.locator(f"[data-index='{MESSAGES - 1}']")).to_be_in_viewport()
    expect(chat.locator(".sum")).to_contain_text("tokens")
    assert chat.locator("[data-index]").count() == 50

    chat.evaluate("document.querySelector('.scroller').scrollTop = 900")
    anchor = chat.evaluate_handle("document.elementFromPoint(700, 400).closest('[data-index]')")
    top = anchor.evaluate("each => each.getBoundingClientRect().top")
    chat.evaluate("document.querySelector('.scroller').scrollTop -= 150")
    expect(chat.locator("[data-index]")).to_have_count(100)

    assert abs(anchor.evaluate("each => each.getBoundingClientRect().top") - top - 150) < 3


def test_messages_far_from_the_view_leave_the_document_and_come_back(chat: Page, visit: Visit) -> None:
    visit.open("/s/web%3Along")
    last = chat.locator(f"[data-index='{MESSAGES - 1}']")
    expect(last).to_be_in_viewport()

    for count in (100, 150, 200, 250, 300, 300):
        chat.evaluate("document.querySelector('.scroller').scrollTop = 0")
        expect(chat.locator("[data-index]")).to_have_count(count)
    expect(last).to_have_count(0)
    chat.get_by_role("button", name="Newest").click()

    expect(last).to_be_in_viewport()


def test_ten_thousand_messages_are_painted_at_once(visit: Visit) -> None:
    page = visit.page
    times: list[float] = []
    for _ in range(4):
        visit.open("/s/web%3Along")
        wait_until(page, "performance.getEntriesByName('mp-first-messages').length")
        times.append(page.evaluate("performance.getEntriesByName('mp-first-messages')[0].startTime"))

    # 500 ms are promised on a machine that has nothing else to do; this one runs other tests.
    print(f"first messages after {', '.join(f'{each:.0f}' for each in times)} ms")
    assert min(times) < 2_500


def test_a_message_of_200_000_characters_is_folded(chat: Page) -> None:
    say(chat, "x " * 100_000)

    whole = people(chat).get_by_role("button", name="Show all 200,000 characters")
    expect(whole).to_be_visible()
    whole.click()
    assert len(people(chat).locator(".markdown").inner_text()) >= 199_000


def test_the_keyboard_alone_reaches_everything(chat: Page) -> None:
    say(chat, "here")
    expect(answers(chat)).to_have_count(1)
    chat.locator(".scroller").focus()

    chat.keyboard.press("/")
    expect(chat.get_by_role("searchbox")).to_be_focused()
    chat.keyboard.press("ArrowDown")
    expect(chat.locator(".session-list a").first).to_be_focused()
    chat.locator(".rail-track").focus()
    chat.keyboard.press("Home")

    chat.wait_for_url("**/m/0")
    expect(chat.locator("[data-index='0'].target")).to_be_in_viewport()


def test_search_finds_a_name_and_words_of_the_conversation(chat: Page) -> None:
    say(chat, "the kingfisher came back")
    expect(answers(chat)).to_have_count(1)

    chat.get_by_role("searchbox").fill("kingfisher")
    chat.locator(".hit a").last.click()

    chat.wait_for_url("**/m/*")
    expect(chat.locator(".target")).to_contain_text("kingfisher")
