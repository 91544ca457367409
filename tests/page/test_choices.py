"""Questions of the bot with buttons: by mouse and keyboard, in two tabs, after a reload, and answered twice."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.fakes.openai_server import Call, Reply, Say, fake_openai
from tests.fakes.said import said
from tests.page.browsing import Visit, visiting
from tests.page.conftest import Pond, log_in

NOT_YOURS = {"error": {"code": "choice_not_yours", "message": "You are not allowed to use this button."}}

pytestmark = pytest.mark.timeout(300)


def answer(body: Mapping[str, Any]) -> Reply:
    """Runs a command for whoever says so, and reports its end."""
    if body["messages"][-1]["role"] == "tool":
        return Say("It was not run.")
    if "run it" in said(body["messages"][-1]["content"]):
        return Say(calls=[Call("exec", json.dumps({"command": "rm heron.txt"}))])
    return Say("I see.")


@pytest.fixture(scope="module")
def environment(portal: BlockingPortal) -> Iterator[dict[str, str]]:
    with portal.wrap_async_context_manager(fake_openai(answer)) as server:
        yield {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "none",
            "OPENAI_MODEL": "runner",
            "MILLPOND_BOTS__POND__TOOLS": "exec",
            "MILLPOND_BOTS__POND__ADMINS": "web:operator",
            "MILLPOND_BOTS__POND__EXEC__APPROVAL": "true",
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


def choices(page: Page) -> Locator:
    return page.get_by_role("group", name="Possible answers").get_by_role("button")


def test_a_command_is_denied_with_the_keyboard_after_a_reload_and_in_all_tabs(
    chat: Page, visit: Visit, millpond: Pond, browser: Browser
) -> None:
    say(chat, "Please run it.")
    expect(choices(chat)).to_have_text(["Approve", "Deny"])
    expect(chat.locator("[aria-live=polite].unseen")).to_contain_text("Choices: Approve, Deny")
    assert visit.axe() == []
    chat.reload()
    expect(choices(chat)).to_have_text(["Approve", "Deny"])

    with visiting(browser, millpond.url) as other:
        log_in(other, millpond)
        other.open(chat.url.removeprefix(millpond.url))
        expect(choices(other.page)).to_have_text(["Approve", "Deny"])
        choices(chat).last.focus()
        chat.keyboard.press("Enter")
        expect(chat.get_by_text("You chose: Deny")).to_be_visible()
        expect(other.page.get_by_text("This question has been answered.")).to_be_visible()
        expect(choices(other.page)).to_have_count(0)

    expect(chat.get_by_label("Message", exact=True)).to_be_focused()
    expect(chat.locator("article.assistant").last).to_contain_text("It was not run.")
    chat.reload()
    expect(chat.locator("article.assistant").last).to_contain_text("It was not run.")
    expect(choices(chat)).to_have_count(0)


def test_two_answers_at_once_count_as_one(chat: Page, millpond: Pond, browser: Browser) -> None:
    say(chat, "Please run it.")
    held: list[Route] = []
    chat.route("**/choice", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks the function
    choices(chat).first.click()
    expect(choices(chat).first).to_be_disabled()

    with visiting(browser, millpond.url) as other:
        log_in(other, millpond)
        other.open(chat.url.removeprefix(millpond.url))
        choices(other.page).last.click()
        expect(other.page.get_by_text("You chose: Deny")).to_be_visible()
    expect(chat.get_by_text("This question has been answered.")).to_be_visible()
    with chat.expect_response("**/choice") as second:
        held[0].continue_()

    assert second.value.json()["status"] == "duplicate"
    expect(chat.get_by_text("You chose")).to_have_count(0)


def test_whoever_may_not_answer_is_told_and_the_buttons_stay(chat: Page, visit: Visit) -> None:
    """The person who asked to forget something is somebody else."""
    visit.forgive("403")
    chat.route("**/choice", lambda route: route.fulfill(status=403, json=NOT_YOURS))
    say(chat, "The otter is brown.")
    expect(chat.locator("article.assistant")).to_contain_text("I see.")
    say(chat, "/forget otter is brown")
    choices(chat).last.click()

    expect(chat.get_by_text("You are not allowed to use this button.")).to_be_visible()
    expect(choices(chat).last).to_be_enabled()
    expect(choices(chat).last).to_be_focused()


def test_a_command_of_another_conversation_is_decided_in_one_place_by_whoever_may(
    chat: Page, visit: Visit, millpond: Pond, browser: Browser
) -> None:
    millpond.daemon.post("heron", "Please run it.", user="operator")
    waits = chat.get_by_role("link", name="One command is waiting for approval").first
    expect(waits).to_be_visible()

    waits.click()
    chat.get_by_role("link", name="Approvals").click()
    card = chat.get_by_role("article")
    expect(card.get_by_role("link", name="heron")).to_be_visible()
    expect(card).to_contain_text("rm heron.txt")
    assert visit.axe() == []
    visit.shoot("approvals")
    with visiting(browser, millpond.url, phone=True, dark=True, locale="zh-CN") as other:
        log_in(other, millpond)
        other.open("/system/approvals")
        expect(other.page.get_by_role("article")).to_contain_text("rm heron.txt")
        other.shoot("approvals-phone-dark-chinese")
        card.get_by_role("button", name="Deny").focus()
        chat.keyboard.press("Enter")
        expect(chat.get_by_text("No commands are waiting for approval")).to_be_visible()
        expect(other.page.get_by_text("没有等待批准的命令")).to_be_visible()

    expect(chat.get_by_role("link", name="waiting for approval")).to_have_count(0)
    visit.open("/s/web%3Aheron")
    expect(chat.locator("article.assistant").last).to_contain_text("It was not run.")
    visit.open("/system/audit")
    expect(chat.get_by_role("row", name=re.compile("web:operator.*exec.deny.*web:heron.*done"))).to_be_visible()
