"""A turn in a browser: its waterfall, and what is said when nothing is kept of it."""

import re

import pytest
from playwright.sync_api import expect

from tests import forked
from tests.page.browsing import Visit
from tests.page.conftest import Pond
from tests.processes import environment_of


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"MILLPOND_BOTS__POND__TOOLS": "time,list_files"}


def test_a_turn_is_shown_step_by_step_and_the_command_prints_the_same(visit: Visit, millpond: Pond) -> None:
    millpond.ask("ann", "hello")
    millpond.ask("ann", "use the tool list_files")
    page = visit.open("/s/web%3Aann")

    page.get_by_role("link", name="Trace").last.click()

    expect(page.get_by_role("heading", name="Turn 2")).to_be_visible()
    steps = page.get_by_label("Waterfall").get_by_role("rowheader")
    expect(steps).to_have_text(
        [*("waiting", "claim"), re.compile("^model"), re.compile("^tool.*list_files"), re.compile("^model"), "commit"]
    )
    expect(page.get_by_label("Tokens and cost for this turn")).to_contain_text("prompt tokens: ")
    shown = page.get_by_label("Waterfall").inner_text()
    printed = forked.run(["trace", "web:ann#2"], environment_of(millpond.folder, {})).stdout
    for word in ("model", "list_files", "commit"):
        assert word in shown and word in printed


def test_other_turns_are_one_click_away(visit: Visit, millpond: Pond) -> None:
    millpond.ask("bea", "hello", "and again")
    page = visit.open("/s/web%3Abea/turns/2")

    page.get_by_label("Recent turns").get_by_role("link", name="0").click()

    expect(page.get_by_role("heading", name="Turn 0")).to_be_visible()


def test_of_a_turn_that_nobody_kept_the_page_says_so(visit: Visit) -> None:
    visit.forgive("404")
    page = visit.open("/s/web%3Anobody/turns/7")

    expect(page.get_by_role("heading", name="No trace is stored for this turn")).to_be_visible()
