"""The tests' own eyes: what they are to notice, they notice."""

import time

import pytest
from playwright.sync_api import Browser

from tests.limits import HANG_S
from tests.page.browsing import Visit, visiting
from tests.page.conftest import Pond


def test_an_error_that_a_page_logs_fails_its_test(browser: Browser) -> None:
    with pytest.raises(AssertionError, match="a heron"), visiting(browser, "about:") as visit:
        visit.open("blank").evaluate("console.error('a heron')")


def test_an_exception_that_a_page_throws_fails_its_test(browser: Browser) -> None:
    with (
        pytest.raises(AssertionError, match="a pike"),
        visiting(browser, "about:") as visit,
        visit.open("blank").expect_event("pageerror"),
    ):
        visit.page.evaluate("setTimeout(() => { throw new Error('a pike') })")


def test_a_script_that_ran_fails_its_test(browser: Browser) -> None:
    with (
        pytest.raises(AssertionError, match="a script ran"),
        visiting(browser, "about:") as visit,
        visit.open("blank").expect_event("dialog"),
    ):
        visit.page.set_content("<img src=x onerror='alert(1)'>")


def test_what_is_expected_to_be_complained_of_is_forgiven(browser: Browser) -> None:
    with visiting(browser, "about:") as visit:
        visit.forgive("heron")
        visit.open("blank").evaluate("console.error('a heron')")


def test_axe_sees_what_nobody_can_read_and_nobody_can_name(browser: Browser) -> None:
    with visiting(browser, "about:") as visit:
        visit.open("blank").set_content("<main><p style='color:#eee;background:#fff'>faint</p><button></button></main>")

        found = visit.axe()

    assert {line.partition(" ")[0] for line in found} >= {"color-contrast", "button-name"}


def test_a_browser_reaches_a_millpond_that_was_stopped_and_started_again(stranger: Visit, millpond: Pond) -> None:
    before = millpond.url
    assert "curl" in stranger.page.request.get(f"{millpond.url}/").text()

    millpond.stop()
    millpond.start_again()

    assert millpond.url == before
    until = time.monotonic() + HANG_S  # a busy machine takes longer than the second that Redis has for its answer
    while stranger.page.request.get(f"{millpond.url}/healthz").json() != {"status": "ok"}:
        assert time.monotonic() < until
