"""Memory changed in a browser: edited, restored, forgotten."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.page.browsing import Visit, visiting
from tests.page.conftest import Pond, log_in
from tests.page.test_memory import remember


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"MILLPOND_BOTS__POND__MODEL__CONTEXT_WINDOW_TOKENS": "4096", "MILLPOND_BOTS__POND__TOOLS": "time"}


def test_an_edit_becomes_a_version_whose_words_are_compared_and_an_older_one_is_restored(visit: Visit, millpond: Pond):
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
    page.get_by_role("button", name="Restore this version?").click()
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

    expect(page.get_by_role("alert")).to_contain_text("Version 2 was saved while you were editing")
    expect(page.get_by_role("textbox", name="MEMORY.md")).to_have_value("# Mine")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("article")).to_have_text("Mine")


def test_what_is_to_be_forgotten_is_listed_chosen_and_gone(visit: Visit, millpond: Pond) -> None:
    address = remember(millpond, "ella")
    page = visit.open(f"{address}?tab=forget")
    page.get_by_role("searchbox", name="Text to forget").fill("Otto")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("checkbox").first).to_be_visible()

    page.get_by_role("button", name="Forget all listed passages").click()
    page.get_by_role("button", name="Permanently delete all listed passages?").click()

    expect(page.locator("#toasts")).to_contain_text("Deleting the selected passages")
    text = millpond.until(
        lambda: page.request.get(f"{millpond.url}/api{address}").json()["text"], lambda text: "Otto" not in text
    )
    assert "Lisbon" in text


def test_the_audit_tells_the_new_version_in_the_language_of_the_page(millpond: Pond, browser: Browser) -> None:
    address = remember(millpond, "cleo")
    with visiting(browser, millpond.url, locale="zh-CN") as visit:
        log_in(visit, millpond)
        page = visit.open(address)
        page.get_by_role("button", name="编辑").click()
        page.get_by_role("textbox", name="MEMORY.md").fill("- The heron is called Ida.")
        page.get_by_role("button", name="保存").click()
        expect(page.locator("article")).to_contain_text("Ida")

        visit.open("/system/audit")

        expect(page.get_by_role("row", name=re.compile("编辑记忆.*cleo.*版本 2"))).to_be_visible()
