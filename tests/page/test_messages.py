"""Messages on the page: code, formulas, tables, files of the bot, and the actions of a message."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Page, expect

from tests.fakes.openai_server import fake_openai
from tests.page.browsing import Visit, wait_until
from tests.page.conftest import Pond
from tests.page.talking import answer
from tests.page.test_composer import PNG

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def environment(portal: BlockingPortal) -> Iterator[dict[str, str]]:
    with portal.wrap_async_context_manager(fake_openai(answer)) as server:
        yield {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "none",
            "OPENAI_MODEL": "talker",
            "MILLPOND_BOTS__POND__TOOLS": "time,message",
        }


@pytest.fixture
def chat(visit: Visit) -> Page:
    """A conversation that nobody had yet, ready to be written in."""
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.page.wait_for_selector("mp-composer textarea")
    visit.page.get_by_role("button", name="New conversation").click()
    expect(visit.page.get_by_text("Talk to pond")).to_be_visible()
    return visit.page


def say(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def copied(page: Page) -> str:
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def test_code_is_coloured_and_copied_as_it_is_written(chat: Page) -> None:
    say(chat, "a rich one")

    code = chat.locator("article.assistant .code")
    expect(code.locator(".hl-keyword").first).to_have_text("def")
    expect(code.locator("code")).to_have_text(
        "def level(readings: list[float]) -> float:\n    recent = readings[-3:]\n    return sum(recent) / len(recent)"
    )
    assert (
        code.locator(".line-numbers").evaluate("each => getComputedStyle(each, '::before').content") == r'"1\a 2\a 3"'
    )
    code.get_by_role("button", name="Copy").click()
    expect(code.get_by_role("button", name="Copied")).to_be_visible()
    assert copied(chat).startswith("def level(readings: list[float]) -> float:\n    recent")


def test_code_of_a_rare_language_is_coloured(chat: Page) -> None:
    say(chat, "a container")

    expect(chat.locator("article.assistant .code .hl-keyword")).to_have_text(["FROM", "RUN"])


def test_code_that_would_take_long_stays_plain_and_keeps_nothing_else_waiting(chat: Page) -> None:
    chat.clock.install()
    say(chat, "a rare one")

    plain, rare = chat.locator("article.assistant .code").first, chat.locator("article.assistant .code").last
    expect(rare.locator("code")).to_have_text("const level = 3;")
    while not rare.locator(".hl-keyword").count():  # the limit of the first text passes
        chat.clock.run_for(100)
    expect(rare.locator(".hl-keyword")).to_have_text("const")
    expect(rare.locator(".hl-number")).to_have_text("3")
    expect(plain.locator("[class^=hl-]")).to_have_count(0)


def test_formulas_are_drawn_and_prices_and_errors_stay_text(chat: Page) -> None:
    say(chat, "formulas")

    said = chat.locator("article.assistant .markdown")
    expect(said.locator("math")).to_have_count(2)
    expect(said.locator("p.formula math[display=block]")).to_have_count(1)
    expect(said).to_contain_text("costs $5 to $6")
    expect(said).to_contain_text(r"An unfinished one: $\frac{$ stays.")
    wait_until(chat, "[...document.fonts].some(each => each.family == 'STIX2' && each.status == 'loaded')")


def test_a_wide_table_scrolls_by_itself(chat: Page) -> None:
    head = "| " + " | ".join(f"a long name of column {number}" for number in range(12)) + " |"
    say(chat, f"{head}\n|{'---|' * 12}\n| 1 |")

    table = chat.locator("article.user:not(.pending) .scroll-x")
    expect(table).to_be_visible()
    assert table.evaluate("each => each.scrollWidth > each.clientWidth")
    assert chat.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_a_picture_that_the_bot_cannot_save_is_named_and_not_in_the_title(chat: Page) -> None:
    """A bot without tools for files gets the picture alone; its log names no file."""
    picture = {"name": "水车.png", "mimeType": "image/png", "buffer": PNG}
    chat.locator("mp-composer input[type=file]").set_input_files(picture)  # type: ignore[arg-type]
    expect(chat.get_by_role("button", name="Remove 水车.png")).to_be_visible()
    expect(chat.get_by_role("progressbar")).to_have_count(0)  # Enter sends no message while a file is uploaded
    say(chat, "what is on it?")

    sent = chat.locator("article.user:not(.pending)")
    expect(sent.locator(".file")).to_have_text("水车.png")
    expect(sent.locator(".markdown")).to_have_text("what is on it?")
    expect(chat.locator("h1")).to_have_text("what is on it?")


def test_the_source_of_an_answer_is_copied(chat: Page) -> None:
    say(chat, "a rich one")

    chat.locator("article.assistant > footer").get_by_role("button", name="Copy").click()
    expect(chat.locator("article.assistant > footer").get_by_role("button", name="Copied")).to_be_visible()
    assert copied(chat).startswith("Here is what stands in the notes, **three things**:")


def test_an_answer_is_given_once_more_by_a_turn_that_is_called_a_retry(chat: Page, millpond: Pond) -> None:
    say(chat, "the depth of the pond")
    chat.locator("article.assistant > footer").get_by_role("button", name="Retry").click()

    expect(chat.locator("article.assistant > footer")).to_have_count(2)
    again = chat.locator("article.user:not(.pending)").last
    expect(again.locator(".remark")).to_have_text("A new answer was requested.")
    expect(again.locator(".markdown")).to_have_text("the depth of the pond")
    logged = millpond.daemon.messages(chat.url.rpartition("/")[2])
    assert [each["content"] for each in logged if each["role"] == "user"] == [
        "the depth of the pond",
        "[Retry: the person asks for another answer to this earlier message]\nthe depth of the pond",
    ]


def test_a_conversation_is_branched_at_an_answer(chat: Page, millpond: Pond) -> None:
    for number, text in enumerate(("the depth of the pond", "the width of the race"), 1):
        say(chat, text)
        expect(chat.locator("article.assistant > footer")).to_have_count(number)
    old = chat.url

    chat.locator("article.assistant > footer").first.get_by_role("button", name="Branch").click()

    chat.wait_for_url(re.compile(re.escape(old) + "~1$"))
    expect(chat.locator("article .markdown")).to_have_text(["the depth of the pond", "You said the depth of the pond"])
    expect(chat.locator("li.session.here .name")).to_have_text("Branch: the depth of the pond")
    say(chat, "the height of the dam")
    expect(chat.locator("article.assistant > footer")).to_have_count(2)
    assert len(millpond.daemon.messages(old.rpartition("/")[2])) == 4
    states = [millpond.daemon.get(f"/api/sessions/{url.rpartition('/')[2]}") for url in (old, chat.url)]
    assert states[0]["memory"] == states[1]["memory"]


def test_pictures_and_files_of_the_bot_are_shown_at_once_and_after_a_reload(visit: Visit, millpond: Pond) -> None:
    millpond.ask("fay", "hello")
    folder = millpond.folder / "bots" / "pond" / "files"
    put(folder, PNG, "pond.png")
    put(folder, b"The sluice is open.", "notes.txt")
    page = visit.open("/s/web%3Afay")
    page.wait_for_selector("mp-composer textarea")

    say(page, "send a picture")

    for _ in range(2):
        picture = page.get_by_role("img", name="pond.png")
        expect(page.locator("article.assistant > footer")).to_have_count(2)
        expect(page.locator(".sent, .notice")).to_have_text(re.compile("^Here is the picture."))
        assert picture.evaluate("each => each.decode().then(() => each.naturalWidth)") == 8
        with page.expect_download() as download:
            page.get_by_role("link", name="notes.txt").click()
        assert download.value.suggested_filename == "notes.txt"
        page.reload()


def put(folder: Path, content: bytes, name: str) -> None:
    """A file among those of the only scope that has a folder, or that will have one."""
    place = folder / "pond%3aperson%3aweb%3afay"
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(content)


def test_a_link_names_its_target(chat: Page) -> None:
    say(chat, "[example.org](https://example.com/walk)")

    link = chat.locator("article.user:not(.pending) .markdown")
    expect(link).to_have_text(re.compile(r"example\.org \(https://example\.com/walk\)"))
