"""The system in a browser: what works and waits, dead letters replayed and dropped, and what was done."""

import re
from collections.abc import Callable

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import expect

from tests.page.browsing import Visit
from tests.page.conftest import Pond
from tests.page.planting import dead_letter
from tests.processes import answered

Bury = Callable[[str, str, str], None]  # called with a session's name, a text and the reason


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"MILLPOND_BOTS__POND__LIMITS__TOKENS_PER_DAY__PERSON": "1000000"}


@pytest.fixture
def bury(millpond: Pond, portal: BlockingPortal) -> Bury:
    def buried(name: str, text: str, reason: str) -> None:
        portal.call(lambda: dead_letter(millpond.folder, f"web:{name}", text, reason=reason))

    return buried


def test_without_dead_letters_the_page_tells_what_comes_there(visit: Visit) -> None:
    page = visit.open("/system/dead")

    expect(page.get_by_role("heading", name="No dead letters")).to_be_visible()


def test_the_overview_shows_who_works_and_follows_what_happens(visit: Visit, millpond: Pond, bury: Bury) -> None:
    millpond.ask("ann", "hello")
    page = visit.open("/system")
    expect(page.locator("section", has=page.get_by_role("heading", name="Workers")).last).to_contain_text("agent")
    expect(page.get_by_text("No model call failed in the last 15 minutes.")).to_be_visible()
    figure = page.get_by_role("link", name=re.compile("Dead letters.*0"))
    expect(figure).to_be_visible()

    bury("ann", "lost", "overview")

    expect(page.get_by_role("link", name=re.compile("Dead letters.*1"))).to_be_visible()


def test_all_dead_letters_of_a_reason_are_replayed_and_answered(visit: Visit, millpond: Pond, bury: Bury) -> None:
    millpond.ask("bea", "hello")
    bury("bea", "Remember the sluice.", "attempts")
    page = visit.open("/system/dead")
    row = page.get_by_role("row", name=re.compile("Remember the sluice"))
    expect(row).to_contain_text("attempts")

    reason = page.get_by_label("Reasons").get_by_role("listitem").filter(has_text="attempts")
    reason.get_by_role("button", name="Replay all").click()
    reason.get_by_role("button", name="Replay all 1 dead letters?").click()

    expect(page.locator("#toasts")).to_contain_text("Replayed: 1")
    expect(row).to_be_hidden()
    messages = millpond.until(lambda: millpond.daemon.messages("bea"), lambda said: "dead-attempts" in answered(said))
    assert "Remember the sluice." in messages[-1]["content"]


def test_a_chosen_dead_letter_is_dropped_and_the_audit_says_who_did_it(visit: Visit, millpond: Pond, bury: Bury):
    millpond.ask("cleo", "hello")
    bury("cleo", "Nobody needs this.", "poison")
    page = visit.open("/system/dead?reason=poison")

    page.get_by_role("row", name=re.compile("Nobody needs this")).get_by_role("checkbox").check()
    page.get_by_role("button", name="Drop selected dead letters").click()
    page.get_by_role("button", name="Delete the selected dead letters permanently?").click()

    expect(page.get_by_text("Nobody needs this.")).to_be_hidden()
    page.get_by_role("link", name="Audit").click()
    expect(page.get_by_role("row", name=re.compile("drop")).first).to_be_visible()


def test_usage_is_shown_by_day_and_by_person_with_what_is_left_today(visit: Visit, millpond: Pond) -> None:
    millpond.ask("dora", "hello")
    page = visit.open("/system")

    page.get_by_role("link", name="Usage").click()
    limits = page.get_by_label("Today's limits")
    expect(limits).to_contain_text("tokens_per_day.person")
    expect(limits).to_contain_text("of 1,000,000 tokens")
    page.get_by_role("link", name="People").click()

    expect(page.get_by_label("Usage", exact=True).get_by_role("row", name=re.compile("pond web:dora"))).to_be_visible()


def test_replies_with_unknown_delivery_have_an_address_of_their_own(visit: Visit) -> None:
    page = visit.open("/system/unknown")

    expect(page.get_by_role("heading", name="No replies with unknown delivery status")).to_be_visible()
