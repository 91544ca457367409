"""The settings in a browser: from an empty folder to the first real answer, and what operators change afterwards."""

import re
import stat
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Browser, Page, expect

from daemon.access import PairingCodes, Stranger
from daemon.setup.platforms.feishu_scopes import CALLBACK, EVENTS
from tests.fakes.openai_server import Failure, FakeOpenAI, Plain, Say, fake_openai
from tests.fakes.telegram import FakeTelegram, fake_telegram
from tests.page.browsing import Visit, visiting
from tests.page.conftest import Pond, log_in
from tests.page.planting import bus_of
from tests.page.test_looks import ENGLISH
from tests.places import TEMPORARY
from tests.ports import free_port
from tests.processes import shut_down

KEY = "sk-a-key-of-this-test"
PLACES = (
    "",
    "/bots",
    "/channels",
    "/channels?add=telegram",
    "/channels?add=slack",
    "/channels?add=feishu",
    "/channels?add=webhook",
    "/people",
)
KEPT = re.compile(
    r"open\.feishu\.cn|im\.message\.\w+|card\.action\.trigger|App (?:ID|Secret)|Encrypt Key|open_id|cli_|ou_|"
    r"pond|web|bridge|millpond\.toml|/\S+|https?://\S+|Telegram|Slack|Discord|Webhook|BotFather|Millpond|IANA|Europe/Berlin|TLS|"
    r"OpenAI|Anthropic|Brave|Tavily|SearXNG|English|MILLPOND_\w+|IDs?|xox\w-|xapp-|api\.slack\.com|connections:write|token|webhook|127\.0\.0\.1|\+00"
)
"""Names, commands and data that Chinese texts keep."""
RESTARTS = r"Failed to load resource|ERR_|401|503"
"""Complaints of a browser about requests while the server starts again."""


@contextmanager
def fresh(**environment: str) -> Iterator[Pond]:
    """A Millpond that was just installed, at a port that it keeps."""
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as name:
        pond = Pond(Path(name), {"MILLPOND_CHANNELS__WEB__PORT": str(free_port()), **environment})
        try:
            yield pond
        finally:
            pond.stop()
            shut_down(Path(name))


@pytest.fixture
def model(portal: BlockingPortal) -> Iterator[FakeOpenAI]:
    with portal.wrap_async_context_manager(fake_openai(lambda _body: Say("I am real."))) as server:
        yield server


@pytest.fixture
def telegram(portal: BlockingPortal) -> Iterator[FakeTelegram]:
    with portal.wrap_async_context_manager(fake_telegram()) as server:
        yield server


def set_up(page: Page, model: FakeOpenAI, *, button: str = "Test and save") -> None:
    page.get_by_label("Server address").fill(model.base_url)
    page.get_by_label("API key").fill(KEY)
    page.get_by_label("Model name").fill("real-1")
    page.get_by_role("button", name=button).click()


def test_a_fresh_start_leads_to_the_first_real_answer_without_leaving_the_page(
    browser: Browser, model: FakeOpenAI
) -> None:
    with fresh() as pond, visiting(browser, pond.url) as visit:
        visit.forgive(RESTARTS)
        log_in(visit, pond)
        page = visit.page
        page.get_by_role("link", name="Set up a model").click()
        expect(page.get_by_role("heading", name="Set up a model")).to_be_visible()
        visit.shoot("settings-first")

        set_up(page, model)

        expect(page.get_by_role("heading", name="pond is ready")).to_be_visible()
        visit.shoot("settings-ready")
        page.get_by_role("link", name="Start a conversation").click()
        page.get_by_label("Message", exact=True).fill("Who are you?")
        page.keyboard.press("Enter")
        expect(page.get_by_text("I am real.").first).to_be_visible()
        visit.shoot("settings-answer")

        config = pond.folder / "millpond.toml"
        written = tomllib.loads(config.read_text())["bots"]["pond"]["model"]
        assert written == {"base_url": model.base_url, "name": "real-1", "api_key_file": "pond.model.key"}
        key = pond.folder / "pond.model.key"
        assert key.read_text() == f"{KEY}\n"
        assert {stat.S_IMODE(path.stat().st_mode) for path in (key, config)} == {0o600}
        assert KEY not in page.content()
        assert (pond.folder / "bots" / "pond" / "AGENTS.md").is_file()


# What operators change afterwards


def test_the_page_shows_from_what_the_app_of_each_platform_is_made(browser: Browser) -> None:
    with fresh() as pond, visiting(browser, pond.url) as visit:
        log_in(visit, pond)
        for kind, button, name, part in (
            ("slack", "Show the app manifest", "App manifest", "chat:write"),
            ("feishu", "Show the app's permissions", "App permissions", '"im:message:send_as_bot"'),
        ):
            visit.page.goto(f"{pond.url}/settings/channels?add={kind}")
            visit.page.get_by_role("button", name=button).click()
            expect(visit.page.get_by_label(name, exact=True)).to_contain_text(part)
            visit.shoot(f"settings-{kind}")
        for name in (*EVENTS, CALLBACK):
            expect(visit.page.get_by_text(name, exact=True)).to_be_visible()


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"MILLPOND_CHANNELS__WEB__PORT": str(free_port()), "MILLPOND_BOTS__POND__TITLES": "words"}


@pytest.fixture(scope="module")
def plant() -> Callable[[Path], None]:
    def planted(folder: Path) -> None:
        (folder / "millpond.toml").write_text(FILE)

    return planted


FILE = """\
# Kept by hand
[bots.pond]
language = "en"  # for guests

[channels.bridge]
type = "webhook"
url = "http://127.0.0.1:9/in"
secret = "a secret of the bridge in this test"
port = 0
access = { policy = "pairing" }
"""


@pytest.mark.parametrize("kind", ["wide-light", "wide-dark", "phone-light", "phone-dark"])
def test_the_settings_can_be_used_by_everybody_and_fit_their_screen(
    millpond: Pond, browser: Browser, kind: str
) -> None:
    with visiting(browser, millpond.url, phone="phone" in kind, dark="dark" in kind) as visit:
        log_in(visit, millpond)
        for place in PLACES:
            page = settled(visit, place)
            visit.shoot(f"settings{re.sub('[^a-z]', '-', place)}-{kind}")

            assert visit.axe() == [], place
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), place


def test_every_word_of_the_settings_is_chinese_for_a_browser_in_chinese(millpond: Pond, browser: Browser) -> None:
    with visiting(browser, millpond.url, locale="zh-CN") as visit:
        log_in(visit, millpond)
        english: dict[str, list[str]] = {}
        for place in PLACES:
            page = settled(visit, place)
            visit.shoot(f"settings{re.sub('[^a-z]', '-', place)}-chinese")
            left = [text for text in page.evaluate(ENGLISH) if re.search("[A-Za-z]{2,}", KEPT.sub("", text))]
            english |= {place: left} if left else {}

        assert english == {}


def settled(visit: Visit, place: str) -> Page:
    page = visit.open(f"/settings{place}")
    expect(page.locator("main .card").first).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    return page


def test_a_model_that_does_not_answer_is_told_and_can_be_saved_all_the_same(
    visit: Visit, portal: BlockingPortal
) -> None:
    page = visit.open("/settings")
    visit.forgive("422")
    with portal.wrap_async_context_manager(fake_openai(lambda _body: Failure(401, "no"))) as server:
        set_up(page, server)

        expect(page.get_by_role("alert")).to_contain_text("rejected the API key (401)")
    expect(page.get_by_role("button", name="Save anyway")).to_be_visible()
    page.get_by_label("Server address").fill("http://user:password@127.0.0.1/v1")
    page.get_by_role("button", name="Test and save").click()

    field = page.get_by_label("Server address")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()


def test_limits_are_saved_with_the_comments_and_used_after_a_restart(visit: Visit, millpond: Pond) -> None:
    visit.forgive(RESTARTS)
    page = visit.open("/settings/bots")
    expect(page.get_by_label("Conversation titles")).to_be_disabled()
    page.get_by_label("Tokens per day, per person").fill("70000")
    page.get_by_label("Language of the bot's built-in messages").select_option("zh")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#toasts")).to_contain_text("The settings were saved.")
    config = millpond.folder / "millpond.toml"
    assert 'language = "zh"  # for guests' in config.read_text()

    page.get_by_role("button", name="Restart now").click()

    expect(page.locator("#toasts")).to_contain_text("Millpond has restarted.")
    expect(page.get_by_text("Your saved settings are not in effect yet.")).to_be_hidden()
    millpond.ask("ann", "hello")
    page.goto(f"{millpond.url}/system/usage")
    expect(page.get_by_label("Today's limits")).to_contain_text("of 70,000 tokens")
    page.goto(f"{millpond.url}/system/audit")
    expect(page.get_by_role("row", name=re.compile("settings.change.*bots.pond.language"))).to_be_visible()


def test_a_server_for_voice_messages_is_tested_and_saved(visit: Visit, millpond: Pond, portal: BlockingPortal) -> None:
    spoken, heard = Plain(b"OggS" + bytes(8)), Plain(b'{"text": "Hello."}', "application/json")
    server = fake_openai(lambda body: spoken if "voice" in body else heard)
    with portal.wrap_async_context_manager(server) as audio:
        page = visit.open("/settings/bots")
        page.get_by_label("Address of a server with an OpenAI-compatible audio API").fill(audio.base_url)
        page.get_by_label("Speech-to-text model for voice messages").fill("whisper-1")
        page.get_by_label("Text-to-speech model for spoken answers").fill("tts-1")
        page.locator("form").filter(has_text="Text-to-speech model for spoken answers").get_by_role("button").click()
        expect(page.locator("#toasts")).to_contain_text("whisper-1 transcribed the word as “Hello.”")
        expect(page.locator("#toasts")).to_contain_text("The settings were saved.")

    written = tomllib.loads((millpond.folder / "millpond.toml").read_text())["bots"]["pond"]
    assert written["speech"] == {"name": "tts-1", "voice": "alloy", "base_url": audio.base_url, "api_key": ""}


def test_servers_that_fail_in_a_test_can_be_saved_all_the_same(
    visit: Visit, millpond: Pond, portal: BlockingPortal
) -> None:
    visit.forgive("422")
    with portal.wrap_async_context_manager(fake_openai(lambda _body: Failure(401, "no"))) as server:
        page = visit.open("/settings/bots")
        page.get_by_label("Address of a server with an OpenAI-compatible audio API").fill(server.base_url)
        page.get_by_label("Speech-to-text model for voice messages").fill("whisper-9")
        page.get_by_label("Text-to-speech model for spoken answers").fill("")
        page.locator("form").filter(has_text="Text-to-speech model for spoken answers").get_by_role("button").click()
        page.get_by_role("button", name="Save anyway").click()
        expect(page.locator("#toasts")).to_contain_text("The settings were saved.")
        expect(page.get_by_role("button", name="Save anyway")).to_be_hidden()
        page.reload()
        page.get_by_label("Provider", exact=True).select_option("searxng")
        page.get_by_label("Your SearXNG server address").fill(server.base_url)
        page.locator("form").filter(has_text="Your SearXNG server address").get_by_role("button").click()
        page.get_by_role("button", name="Save anyway").click()
        expect(page.locator("#toasts")).to_contain_text("The settings were saved.")

    written = tomllib.loads((millpond.folder / "millpond.toml").read_text())["bots"]["pond"]
    assert written["transcription"]["name"] == "whisper-9"
    assert written["web"]["search_url"] == server.base_url


def test_a_bot_is_created_and_deleted(visit: Visit) -> None:
    visit.forgive("422")
    page = visit.open("/settings/bots")
    page.get_by_text("Create a bot", exact=True).click()
    page.get_by_label("New bot name").fill("Heron")
    page.get_by_role("button", name="Create the bot").click()
    expect(page.get_by_text("A name must begin with a letter a-z")).to_be_visible()
    page.get_by_label("New bot name").fill("heron")
    page.get_by_role("button", name="Create the bot").click()

    card = page.locator(".card").filter(has=page.get_by_role("heading", name="heron", exact=True))
    expect(card.get_by_label("Language of the bot's built-in messages")).to_be_visible()
    card.get_by_role("button", name="Delete this bot").click()
    card.get_by_role("button", name="Delete heron?").click()

    expect(card).to_have_count(0)
    expect(page.get_by_role("button", name="Delete this bot")).to_have_count(0)


def test_a_file_that_somebody_else_changed_is_not_overwritten(visit: Visit, millpond: Pond) -> None:
    visit.forgive("409")
    page = visit.open("/settings/bots")
    page.get_by_label("Messages per minute, per person").fill("6")
    config = millpond.folder / "millpond.toml"
    config.write_text(config.read_text() + "\n# mine\n")

    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_role("alert")).to_contain_text("The configuration file has changed since you opened it")
    assert config.read_text().endswith("# mine\n")


def test_people_are_approved_and_banned_with_the_keyboard(visit: Visit) -> None:
    page = visit.open("/settings/people")
    page.get_by_label("Approve by").select_option("id")
    page.get_by_label("Code or ID").focus()
    page.keyboard.type("ann")
    page.keyboard.press("Enter")

    row = page.get_by_role("row", name=re.compile("ann.*approved"))
    expect(row).to_be_visible()
    row.get_by_role("button", name="Ban").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name=re.compile("ann.*banned"))).to_be_visible()


async def arrived(millpond: Pond, sender: str, name: str) -> None:
    """Somebody writes to the bot, and receives a pairing code."""
    async with bus_of(millpond.folder) as bus:
        await PairingCodes(bus, "bridge").offer(Stranger(id=sender, name=name, session=f"bridge:{sender}"))


def test_people_who_arrive_are_shown_without_a_reload_and_approved_by_a_button(
    visit: Visit, millpond: Pond, portal: BlockingPortal
) -> None:
    page = visit.open("/settings/people")
    page.get_by_label("Code or ID").fill("half a code")

    portal.call(arrived, millpond, "u-7", "Otto")

    waiting = page.get_by_role("region", name="Waiting for approval on bridge")
    expect(waiting.get_by_role("row", name=re.compile("Otto.*u-7"))).to_be_visible()
    assert visit.axe() == []
    waiting.get_by_role("button", name="Approve").focus()
    page.keyboard.press("Enter")

    expect(page.get_by_role("row", name=re.compile("Otto.*u-7.*approved"))).to_be_visible()
    expect(waiting).to_be_hidden()
    expect(page.get_by_label("Code or ID")).to_have_value("half a code")


HIDE = """() => {
  Object.defineProperty(document, "hidden", {configurable: true, get: () => window.away});
  window.away = true;
}"""
"""Lets the page believe that its tab is hidden."""


def test_a_hidden_list_of_people_asks_for_nothing_and_is_read_when_it_is_shown(
    visit: Visit, millpond: Pond, portal: BlockingPortal
) -> None:
    page = visit.page
    page.clock.install()
    visit.open("/settings/people")
    expect(page.get_by_label("Code or ID")).to_be_visible()
    page.evaluate(HIDE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/people" in request.url else None)
    portal.call(arrived, millpond, "u-8", "Ida")

    page.clock.run_for(60_000)
    assert asked == []
    page.evaluate("() => { window.away = false; document.dispatchEvent(new Event('visibilitychange')); }")

    expect(page.get_by_role("row", name=re.compile("Ida.*u-8"))).to_be_visible()


def test_telegram_is_connected_and_its_owner_found(
    visit: Visit, millpond: Pond, portal: BlockingPortal, telegram: FakeTelegram
) -> None:
    page = visit.open("/settings/channels?add=telegram")
    page.get_by_text("Advanced").first.click()
    page.get_by_label("Platform API address").first.fill(telegram.base_url)
    page.get_by_label("Bot token").fill(telegram.bot.token)
    page.get_by_role("button", name="Test", exact=True).first.click()
    expect(page.get_by_text("The platform accepted the token.")).to_be_visible()
    visit.shoot("settings-telegram")
    link = page.get_by_role("link", name="pond_bot").inner_text()
    page.get_by_role("button", name="Wait for my message").click()
    ann = telegram.direct(telegram.person("Ann", id=4711))
    portal.call(ann.say, f"/start {link.partition('start=')[2]}")

    expect(page.get_by_label("Your Telegram user ID")).to_have_value("4711")
    page.get_by_role("button", name="Save", exact=True).first.click()

    expect(page.locator("#toasts")).to_contain_text("The channel was saved.")
    written = tomllib.loads((millpond.folder / "millpond.toml").read_text())
    assert written["channels"]["telegram"]["token_file"] == "telegram.token"
    assert telegram.bot.token not in (millpond.folder / "millpond.toml").read_text()
    assert written["bots"]["pond"]["admins"] == ["telegram:4711"]
