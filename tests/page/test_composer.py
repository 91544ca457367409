"""The message field: files with limits and progress, drafts, models, and messages that wait."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Browser, Page, Route, expect

from tests.fakes.openai_server import FakeOpenAI, Plain, Reply, fake_openai
from tests.page.browsing import Visit, visiting
from tests.page.conftest import Pond, log_in
from tests.page.talking import answer

pytestmark = pytest.mark.timeout(300)

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFklEQVR4nGNk+M+AFTBhFx6VGJUYlQAAwTkBD1q3HpwAAAAASUVORK5CYII="
)
TEXT = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"The sluice is open."}
PICTURE = {"name": "a pond.png", "mimeType": "image/png", "buffer": PNG}

CONFIG = """
agent.attachment_max_bytes = 100_000

[bots.pond]
admins = ["web:ann"]
model = {{ base_url = "{url}", api_key = "none", name = "talker", fallbacks = [{{ name = "thinker" }}] }}
transcription.name = "hearer"
speech.name = "singer"
"""

GIVE = """([kind, name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name, {type: "text/plain"}));
  const target = document.querySelector(kind === "paste" ? "mp-composer textarea" : "mp-chat");
  const more = {bubbles: true, cancelable: true};
  target.dispatchEvent(kind === "paste" ? new ClipboardEvent("paste", {clipboardData: files, ...more})
    : new DragEvent("drop", {dataTransfer: files, ...more}));
}"""
"""Pastes or drops a file."""

PASTE = """(text) => {
  const data = new DataTransfer();
  data.items.add(new File(["The sluice"], "notes.txt", {type: "text/plain"}));
  data.setData("text/plain", text);
  const event = new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true});
  return document.querySelector("mp-composer textarea").dispatchEvent(event);
}"""
"""Pastes a file together with a text; whether the browser inserts the text."""

RECORD = """async () => {
  const at = "/api/sessions/web%3Asinger/file?id=m-1&name=voice.ogg&kind=voice";
  const file = await (await fetch(at, {method: "POST", body: "OggS hum"})).json();
  const body = JSON.stringify({session: "singer", id: "m-1", text: "", files: [file]});
  await fetch("/api/messages", {method: "POST", body, headers: {"content-type": "application/json"}});
}"""
"""Sends a voice message."""


def heard(body: Mapping[str, Any]) -> Reply:
    """``answer``, of a server that hears a song in every recording, and sings every text."""
    if "form" in body:
        return Plain(b'{"text": "La la."}', "application/json")
    return Plain(b"OggS sung") if "voice" in body else answer(body)


@pytest.fixture(scope="module")
def server(portal: BlockingPortal) -> Iterator[FakeOpenAI]:
    with portal.wrap_async_context_manager(fake_openai(heard)) as server:
        yield server


@pytest.fixture(scope="module")
def plant(server: FakeOpenAI) -> Callable[[Path], None]:
    return lambda folder: (folder / "millpond.toml").write_text(CONFIG.format(url=server.base_url)) and None


@pytest.fixture
def chat(visit: Visit) -> Page:
    """A conversation that nobody had yet, ready to be written in."""
    visit.page.wait_for_selector("mp-composer textarea")
    visit.page.get_by_role("button", name="New conversation").click()
    expect(visit.page.get_by_text("Talk to pond")).to_be_visible()
    return visit.page


def attach(page: Page, *files: dict[str, object]) -> None:
    page.locator("input[type=file]").set_input_files(list(files))  # type: ignore[arg-type]


def test_a_picture_and_a_file_are_sent_and_shown_in_the_conversation(chat: Page, server: FakeOpenAI) -> None:
    attach(chat, PICTURE, TEXT)
    expect(chat.get_by_role("list", name="Attached files").get_by_role("listitem")).to_have_count(2)
    chat.get_by_label("Message", exact=True).fill("look at this")
    chat.get_by_role("button", name="Send").click()

    sent = chat.locator("article.user:not(.pending)")
    expect(sent.locator(".markdown")).to_have_text("look at this")
    picture = sent.get_by_role("img", name="a pond.png")
    expect(picture).to_be_visible()
    assert picture.evaluate("each => each.decode().then(() => each.naturalWidth)") == 8
    with chat.expect_download() as download:
        sent.get_by_role("link", name="notes.txt").click()
    assert download.value.path().read_bytes() == TEXT["buffer"]
    expect(chat.get_by_role("list", name="Attached files")).to_be_hidden()
    expect(chat.locator("article.assistant footer")).to_be_visible()
    assert any("image_url" in json.dumps(request.body) for request in server.requests)


def test_files_keep_the_order_in_which_they_were_added(chat: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    chat.route("**/file?*name=one*", hold)
    attach(chat, TEXT | {"name": "one.txt"}, TEXT | {"name": "two.txt"})
    files = chat.get_by_role("list", name="Attached files").get_by_role("listitem")
    expect(files.locator("progress")).to_have_count(1)
    held[0].continue_()

    expect(files.locator("progress")).to_have_count(0)
    expect(files.locator(".name")).to_have_text(["one.txt", "two.txt"])


@pytest.mark.parametrize(("text", "kept"), [("Hours\t12", True), ("/home/ann/notes.txt", False), ("", False)])
def test_text_that_is_pasted_with_a_picture_of_it_is_kept_and_a_files_own_name_is_not(
    chat: Page, text: str, kept: bool
) -> None:
    assert chat.evaluate(PASTE, text) == kept
    expect(chat.get_by_role("list", name="Attached files").get_by_role("listitem")).to_have_count(1)


def test_a_conversation_that_begins_with_a_picture_is_called_like_the_picture(chat: Page) -> None:
    attach(chat, PICTURE)
    chat.get_by_role("button", name="Send").click()

    expect(chat.get_by_role("heading", level=1)).to_have_text("a pond.png")
    expect(chat.locator("li.session.here .name")).to_have_text("a pond.png")


def test_a_spoken_answer_has_a_player(chat: Page) -> None:
    chat.evaluate(RECORD)
    chat.goto(urljoin(chat.url, "/s/web%3Asinger"))

    player = chat.get_by_label("Spoken answer")
    expect(player).to_be_visible()
    kind = player.evaluate("async ({src}) => (await fetch(src)).headers.get('content-type')")
    assert (player.evaluate("each => each.tagName"), kind) == ("AUDIO", "audio/ogg")


@pytest.mark.parametrize("kind", ["paste", "drop"])
def test_a_file_is_taken_that_is_pasted_or_dropped(chat: Page, kind: str) -> None:
    chat.evaluate(GIVE, [kind, "walk.txt", "to the mill"])

    expect(chat.get_by_role("list", name="Attached files")).to_contain_text("walk.txt")
    chat.get_by_role("button", name="Remove walk.txt").click()
    expect(chat.get_by_role("list", name="Attached files")).to_be_hidden()
    expect(chat.get_by_role("button", name="Send")).to_be_disabled()


def test_a_file_above_the_limit_of_the_bot_is_refused(chat: Page) -> None:
    attach(chat, {"name": "large.bin", "mimeType": "application/octet-stream", "buffer": b"x" * 100_001})

    expect(chat.get_by_text("large.bin is larger than 100 kB")).to_be_visible()
    expect(chat.get_by_role("list", name="Attached files")).to_be_hidden()


def test_a_draft_with_its_files_is_kept_for_each_conversation(chat: Page) -> None:
    chat.get_by_label("Message", exact=True).fill("half a thought")
    attach(chat, TEXT)
    expect(chat.get_by_role("button", name="Remove notes.txt")).to_be_visible()
    expect(chat.get_by_role("progressbar")).to_have_count(0)  # a draft keeps the files that were uploaded
    address = chat.url
    chat.get_by_role("button", name="New conversation").click()
    expect(chat.get_by_label("Message", exact=True)).to_have_value("")

    chat.goto(address)

    expect(chat.get_by_label("Message", exact=True)).to_have_value("half a thought")
    expect(chat.get_by_role("button", name="Remove notes.txt")).to_be_visible()


WILL_BE_SENT = "The message will be sent when the upload is complete."


def begin_upload(page: Page, *files: dict[str, object]) -> list[Route]:
    """Attach files and write a text; the requests of the uploads, which wait until the test continues them."""
    held: list[Route] = []
    page.route("**/file?*", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    attach(page, *files)
    expect(page.get_by_role("progressbar")).to_have_count(len(files))
    page.get_by_label("Message", exact=True).fill("see these")
    return held


@pytest.mark.parametrize("by_key", [True, False])
def test_a_message_is_sent_by_itself_once_all_its_files_are_uploaded(chat: Page, visit: Visit, *, by_key: bool) -> None:
    held = begin_upload(chat, PICTURE, TEXT)
    if by_key:
        chat.keyboard.press("Enter")
    else:
        chat.get_by_role("button", name="Send").click()
    expect(chat.get_by_text(WILL_BE_SENT)).to_be_visible()
    assert visit.axe() == []

    held[0].continue_()
    expect(chat.get_by_role("progressbar")).to_have_count(1)
    expect(chat.get_by_text(WILL_BE_SENT)).to_be_visible()
    held[1].continue_()

    sent = chat.locator("article.user:not(.pending)")
    expect(sent.locator(".markdown")).to_have_text("see these")
    expect(sent.get_by_role("img", name="a pond.png")).to_be_visible()
    expect(sent.get_by_role("link", name="notes.txt")).to_be_visible()
    expect(chat.get_by_text(WILL_BE_SENT)).to_be_hidden()


@pytest.mark.parametrize("cancel", ["Escape", "x", "Cancel", "Remove a pond.png"])
def test_escape_and_each_change_cancel_a_message_that_waits_for_its_upload(chat: Page, cancel: str) -> None:
    held = begin_upload(chat, PICTURE, TEXT)
    chat.keyboard.press("Enter")
    if " " in cancel or cancel == "Cancel":
        chat.get_by_role("button", name=cancel).click()
    else:
        chat.keyboard.press(cancel)
    expect(chat.get_by_text(WILL_BE_SENT)).to_be_hidden()

    for each in held:
        each.continue_()

    expect(chat.get_by_role("progressbar")).to_have_count(0)
    expect(chat.get_by_label("Message", exact=True)).to_have_value("see thesex" if cancel == "x" else "see these")
    expect(chat.locator("article.user")).to_have_count(0)


def test_a_message_whose_file_fails_is_not_sent_and_keeps_its_text(chat: Page, visit: Visit) -> None:
    visit.forgive("ERR_CONNECTION_REFUSED")
    held = begin_upload(chat, PICTURE, TEXT)
    chat.keyboard.press("Enter")

    held[0].abort("connectionrefused")
    expect(chat.get_by_text("The message was not sent because a pond.png could not be uploaded.")).to_be_visible()
    held[1].continue_()

    expect(chat.get_by_role("progressbar")).to_have_count(0)
    expect(chat.get_by_label("Message", exact=True)).to_have_value("see these")
    expect(chat.locator("article.user")).to_have_count(0)
    chat.keyboard.press("Enter")
    expect(chat.locator("article.user:not(.pending) .markdown")).to_have_text("see these")


def test_a_conversation_that_is_left_during_an_upload_keeps_its_message_as_a_draft(chat: Page) -> None:
    begin_upload(chat, TEXT)
    chat.keyboard.press("Enter")
    address = chat.url
    chat.get_by_role("button", name="New conversation").click()

    expect(chat.get_by_text("you left the conversation during the upload")).to_be_visible()
    expect(chat.get_by_label("Message", exact=True)).to_have_value("")
    expect(chat.locator("article.user")).to_have_count(0)
    chat.goto(address)
    expect(chat.get_by_label("Message", exact=True)).to_have_value("see these")
    expect(chat.locator("article.user")).to_have_count(0)


def test_two_tabs_with_the_same_draft_lose_no_message(chat: Page) -> None:
    attach(chat, TEXT)
    chat.get_by_label("Message", exact=True).fill("the first one")
    other = chat.context.new_page()
    other.goto(chat.url)
    expect(other.get_by_role("button", name="Remove notes.txt")).to_be_visible()

    chat.get_by_role("button", name="Send").click()
    expect(other.get_by_label("Message", exact=True)).to_have_value("")
    other.get_by_label("Message", exact=True).fill("the second one")
    other.get_by_role("button", name="Send").click()

    said = chat.locator("article.user:not(.pending) .markdown")
    expect(said).to_have_text(["the first one", "the second one"])
    other.close()


def test_a_message_that_waits_is_edited_and_one_that_is_answered_is_not(chat: Page) -> None:
    field = chat.get_by_label("Message", exact=True)
    field.fill("a slow one")
    field.press("Enter")
    expect(chat.locator("article.live")).to_contain_text("One word")
    field.fill("the secnd one")
    field.press("Enter")
    below = chat.locator("article.live ~ .pending.accepted")
    expect(below.get_by_role("button", name="Edit")).to_be_visible()

    field.press("ArrowUp")
    expect(field).to_have_value("the secnd one")
    field.fill("the second one")
    field.press("Enter")

    expect(chat.locator("article.user:not(.pending) .markdown")).to_have_text(["a slow one", "the second one"])
    expect(chat.locator("article.assistant .markdown").last).to_have_text("You said the second one")


def test_commands_are_listed_with_a_line_each_for_everybody(chat: Page, visit: Visit) -> None:
    chat.get_by_label("Message", exact=True).press_sequentially("/")

    options = chat.get_by_role("listbox", name="Commands").get_by_role("option")
    expect(options.first).to_have_text("/helpList my commands")
    assert all(re.fullmatch(r"/[a-z]+\s+[A-Z].+", text) for text in options.all_inner_texts()), (
        options.all_inner_texts()
    )
    assert visit.axe() == []


def test_an_administrator_chooses_the_model(visit: Visit, millpond: Pond) -> None:
    millpond.ask("ann", "hello")
    page = visit.open("/s/web%3Aann")
    expect(page.get_by_label("Model", exact=True)).to_have_value("talker")

    page.get_by_label("Model", exact=True).select_option("thinker")

    expect(page.locator(".notice")).to_contain_text("thinker")
    page.reload()
    expect(page.get_by_label("Model", exact=True)).to_have_value("thinker")


def test_people_without_the_right_are_offered_no_model(chat: Page) -> None:
    expect(chat.locator(".sum")).to_contain_text("tokens")
    expect(chat.get_by_label("Model", exact=True)).to_be_hidden()


def test_a_voice_message_is_recorded_and_uploaded(browser: Browser, millpond: Pond) -> None:
    with visiting(browser, millpond.url) as visit:
        visit.page.context.grant_permissions(["microphone"])
        log_in(visit, millpond)
        visit.page.get_by_role("button", name="Record a voice message").click()
        visit.page.get_by_role("button", name="Stop recording").click()

        name = visit.page.get_by_role("list", name="Attached files").get_by_role("listitem")
        expect(name).to_contain_text(re.compile(r"voice-[\dT-]+\.webm"))


def test_an_example_of_the_first_screen_is_put_into_the_field(chat: Page) -> None:
    examples = chat.get_by_role("list", name="Examples").get_by_role("button")
    expect(examples).to_have_count(3)
    examples.first.click()

    expect(chat.get_by_label("Message", exact=True)).to_have_value(re.compile("^Remember that"))
