"""The system in a browser: what works and waits, dead letters replayed and dropped, and what was done."""

import re
from collections.abc import Callable

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import expect

from tests.page.browsing import Visit
from tests.page.conftest import Pond
from tests.page.planting import dead_letter, paused_chat, queued_message, rates
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
    row = page.get_by_role("row", name=re.compile("web:bea"))
    expect(row).to_contain_text("attempts")
    row.get_by_role("button", name="Show text").click()
    expect(row).to_contain_text("Remember the sluice.")

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

    page.get_by_role("row", name=re.compile("web:cleo")).get_by_role("checkbox").check()
    page.get_by_role("button", name="Drop selected dead letters").click()
    page.get_by_role("button", name="Delete the selected dead letters permanently?").click()

    expect(page.get_by_role("row", name=re.compile("web:cleo"))).to_be_hidden()
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


def test_the_history_of_an_hour_and_of_a_day_is_drawn(visit: Visit, millpond: Pond, portal: BlockingPortal) -> None:
    portal.call(rates, millpond.folder)
    page = visit.open("/system/history")

    turns = page.get_by_role("img", name=re.compile(r"Turns: answered [\d,]+, failed attempts [1-9]"))
    expect(turns.locator("rect.main").first).to_be_attached()
    expect(turns.locator("rect.failed").first).to_be_attached()
    for name in ("Messages", "Turn duration", "Tokens", "Cached share of input tokens", "Cost in EUR"):
        expect(page.get_by_role("img", name=re.compile(f"^{name}: .*[1-9]"))).to_be_visible()
    duration = page.locator(".chart", has=page.get_by_role("heading", name="Turn duration"))
    expect(duration.locator("header")).to_contain_text("Total")
    duration.locator("svg").hover(position={"x": 10, "y": 10})
    expect(duration.locator("header")).not_to_contain_text("Total")

    page.get_by_role("link", name="Last day").click()
    page.get_by_text("Each data point covers 15 minutes.").click()
    page.get_by_text("Show the data as a table").click()
    rows = page.get_by_label("History", exact=True).get_by_role("row")
    expect(rows.filter(has_text="%").first).to_be_visible()  # the newest row may have begun only now


def test_a_queue_shows_its_messages_and_a_text_only_on_request(
    visit: Visit, millpond: Pond, portal: BlockingPortal
) -> None:
    portal.call(queued_message, millpond.folder, "web:eve", "The text of the message.")
    page = visit.open("/system")
    page.get_by_role("link", name=re.compile("^Unanswered")).click()
    row = page.get_by_role("row", name=re.compile("web:eve"))
    expect(row).to_contain_text("24")
    expect(page.get_by_text("The text of the message.")).to_be_hidden()

    row.get_by_role("button", name="Show text").focus()
    page.keyboard.press("Enter")
    expect(row).to_contain_text("The text of the message.")
    page.get_by_role("link", name="Due", exact=True).click()
    expect(page.get_by_text("another worker can take over after the deadline")).to_be_visible()

    page.get_by_role("link", name="Audit").click()
    expect(page.get_by_role("row", name=re.compile("queue.text.*shown: web:eve"))).to_be_visible()


def test_the_trace_and_the_log_lines_of_a_message_are_found_by_its_id(visit: Visit, millpond: Pond) -> None:
    [message] = [each for each in millpond.ask("finn", "hello") if each["role"] == "user"]
    [correlation] = millpond.daemon.get(f"/api/trace/{message['id']}")["correlation"]
    folder = millpond.folder / "logs"
    folder.mkdir()
    line = '{"event":"turn.done","level":"info","timestamp":"2026-11-20T09:00:00Z","correlation":"%s","took_s":0.5}\n'
    (folder / "millpond.log").write_text(line % correlation + line % "another")
    page = visit.open("/system/logs")

    page.get_by_label("a correlation ID").fill(message["id"])
    page.get_by_role("button", name="Search", exact=True).click()

    expect(page.get_by_role("region", name="Waterfall")).to_contain_text("commit")
    lines = page.get_by_role("region", name="Log lines").get_by_role("row", name=re.compile("turn.done"))
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("took_s=0.5")
    visit.forgive("404")
    page.get_by_label("a correlation ID").fill("nobody's")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No trace was found.")).to_be_visible()
    expect(page.locator("pre")).to_contain_text("grep 'nobody'\\''s'")


def test_paused_chats_are_shown_in_the_overview(visit: Visit, millpond: Pond, portal: BlockingPortal) -> None:
    portal.call(paused_chat, millpond.folder, "web:gus")
    page = visit.open("/system")

    expect(page.get_by_role("row", name=re.compile("web:gus.*paused by an administrator"))).to_be_visible()
