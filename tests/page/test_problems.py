"""What a bot goes without, in a browser: on the page System, beside the turn, and with the exact prompt."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.page.browsing import Visit
from tests.page.conftest import Pond


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"MILLPOND_BOTS__POND__MCP__GONE__COMMAND": "/no/such/program"}


@pytest.fixture(scope="module")
def plant() -> Callable[[Path], None]:
    def planted(folder: Path) -> None:
        skill = folder / "bots" / "pond" / "skills" / "broken" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text("no head")

    return planted


def test_the_overview_names_files_and_tool_servers_that_a_bot_goes_without(visit: Visit, millpond: Pond) -> None:
    millpond.ask("ann", "hello")
    page = visit.open("/system")

    file = page.get_by_role("row", name=re.compile("broken"))
    expect(file).to_contain_text("the first line of the file must be ---")
    expect(page.get_by_role("row", name=re.compile("gone.*FileNotFoundError"))).to_be_visible()


def test_a_turn_and_the_exact_prompt_name_the_servers_that_they_go_without(visit: Visit, millpond: Pond) -> None:
    millpond.ask("bea", "hello")

    page = visit.open("/s/web%3Abea/turns/0")
    expect(page.get_by_text("Tool server gone is unavailable: the tool server could not be used")).to_be_visible()

    page = visit.open("/s/web%3Abea/context")
    expect(page.get_by_text(re.compile("Tool server gone is unavailable: .*FileNotFoundError"))).to_be_visible()
    expect(
        page.get_by_text("skills/broken/SKILL.md cannot be used: the first line of the file must be ---")
    ).to_be_visible()
