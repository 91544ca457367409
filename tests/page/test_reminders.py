"""Reminders in a browser: added, changed, paused and deleted, in the conversation and the language of the operator."""

import json

from playwright.sync_api import Browser, expect

from tests.page.browsing import Visit, visiting
from tests.page.conftest import Pond, log_in


def chat(visit: Visit, text: str) -> None:
    page = visit.open("/")
    page.locator("mp-chat textarea").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator("article.assistant:not(.live)")).to_be_visible()


def test_an_operator_adds_changes_pauses_and_deletes_a_reminder(visit: Visit, millpond: Pond) -> None:
    visit.open("/reminders")
    page = visit.page
    expect(page.get_by_text("To add a reminder, first start a conversation.")).to_be_visible()
    chat(visit, "hello pond")

    page.get_by_label("Main navigation").get_by_role("link", name="Reminders").click()
    page.get_by_label("Text").fill("call the dentist")
    page.get_by_label("Repeat").select_option(label="every weekday")
    page.get_by_role("button", name="Add reminder").click()
    row = page.get_by_role("listitem").filter(has_text="call the dentist")
    expect(row).to_contain_text("every weekday")
    expect(row).to_contain_text("hello pond")
    expect(page.locator("#toasts")).to_contain_text("is set. It fires on")

    row.get_by_role("button", name="Edit").click()
    page.get_by_role("listitem").get_by_label("Text").fill("call the doctor")
    page.get_by_role("listitem").get_by_label("Time", exact=True).fill("2030-01-02T08:30")
    page.get_by_role("listitem").get_by_label("Repeat").select_option(label="once")
    page.get_by_role("button", name="Save").click()
    row = page.get_by_role("listitem").filter(has_text="call the doctor")
    expect(row.locator("time")).to_have_attribute("datetime", "2030-01-02T08:30:00.000Z")
    expect(row).not_to_contain_text("weekday")

    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("paused")
    assert visit.axe() == []
    row.get_by_role("button", name="Resume").click()
    expect(row).not_to_contain_text("paused")
    row.get_by_role("button", name="Delete").click()
    row.get_by_role("button", name="Delete the reminder?").click()
    expect(page.get_by_role("heading", name="No reminders")).to_be_visible()


def test_a_refused_reminder_is_explained_in_the_language_of_the_page(browser: Browser, millpond: Pond) -> None:
    with visiting(browser, millpond.url, phone=True, locale="zh-CN") as visit:
        visit.forgive("400")
        log_in(visit, millpond)
        chat(visit, "你好")
        page = visit.open("/reminders")
        page.get_by_text("新提醒").click()
        page.get_by_label("正文").fill("给牙医打电话")
        page.get_by_label("时间").fill("2020-01-01T09:00")
        page.get_by_role("button", name="添加提醒").click()

        expect(page.locator("#toasts")).to_contain_text("已经过去")
        assert page.get_by_label("正文").input_value() == "给牙医打电话"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_other_peoples_reminders_are_only_in_the_list_of_all(visit: Visit, millpond: Pond) -> None:
    millpond.ask("bea", "hello")
    added = json.dumps({"text": "feed the ducks", "when": "2h", "id": "once"}).encode()
    for _ in range(2):
        millpond.daemon.opened("/api/sessions/bea/reminders", added, {"Content-Type": "application/json"}).close()

    page = visit.open("/reminders")
    expect(page.get_by_role("heading", name="No reminders").or_(page.get_by_text("call the"))).to_be_visible()
    expect(page.get_by_text("feed the ducks")).to_have_count(0)
    page.get_by_role("link", name="All reminders").click()

    expect(page.get_by_text("feed the ducks")).to_have_count(1)
