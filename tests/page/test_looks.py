"""How the page looks: wide and on a phone, light and dark; everybody can use it, and nothing sticks out."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import gethostname
from urllib.parse import quote

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Browser, expect

from tests.page.browsing import Visit, visiting
from tests.page.conftest import Pond, log_in
from tests.page.planting import dead_letter, long_conversation, queued_message, rates

SCOPE = quote("pond:person:web:ann", safe="")
PLACES = {
    "chat": "/s/web%3Aann",
    "prompt": "/s/web%3Aann/context",
    "turn": "/s/web%3Aann/turns/8",
    "long": "/s/web%3Along",
    "new": "/",
    "memories": "/memory",
    "memory": f"/memory/{SCOPE}",
    "versions": f"/memory/{SCOPE}?tab=versions",
    "version": f"/memory/{SCOPE}/versions/1",
    "history": f"/memory/{SCOPE}?tab=history",
    "search": f"/memory/{SCOPE}?tab=search&q=heron",
    "forget": f"/memory/{SCOPE}?tab=forget",
    "system": "/system",
    "approvals": "/system/approvals",
    "rates": "/system/history",
    "rates-day": "/system/history?period=day",
    "queue": "/system/queues",
    "due": "/system/queues?queue=due",
    "tools": "/system/tools",
    "logs": "/system/logs?id=web%3Aann%238",
    "dead": "/system/dead",
    "audit": "/system/audit",
}
ENGLISH = """() => {
  const data = ".session :is(.name, .more), .markdown, pre, code, .brand, .foot-bot, .rail-labels *, h1, .diff *," +
    "[lang]:not(html)";
  const seen = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.closest(data) && !node.parentElement.closest("noscript")) seen.push(node.textContent);
  }
  for (const name of ["aria-label", "title", "placeholder", "alt", "data-label", "aria-valuetext"]) {
    const named = [...document.body.querySelectorAll(`[${name}]`)].filter((each) => !each.matches(data));
    seen.push(...named.map((each) => each.getAttribute(name)));
  }
  return [...new Set([document.title, ...seen])];
}"""
"""All texts of a view that the page itself wrote, seen or read out."""
KEPT = re.compile(
    r"pond:person:web:ann|/\w+|#|`[^`]*`|pond|web(?::\w+)?|ann|long|offline|list_files|builtin|\w+-\d+-\w+|An odd one|"
    r"Where is the sluice\?|Remember that I live in Lisbon\.|"
    r"Returns the current date and time\.|List your files, or .*|The user said: .*|Millpond|MEMORY\.md|"
    rf"AGENTS\.md|SOUL\.md|EUR|systemd|Redis|JSON|Ctrl\+Enter|token|ID|HTTP|millpond \w+|{re.escape(gethostname())}"
)
"""Names and texts in the data of these tests, and words that Chinese texts keep."""
SETTLE_MS = 400  # what is drawn a moment after it was read, as the timeline, is to be in the picture
MARKDOWN = """\
What I know of herons:

# Otto
- lives at the **north sluice**, since *March*
- eats `fish`; see [the walk](https://example.org/walk)

| day | seen |
|---|---|
| Monday | 3 |

```python
def heron() -> str:
    return "Otto"
```
"""


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"MILLPOND_BOTS__POND__TOOLS": "time,list_files"}


@pytest.fixture(scope="module")
def plant(portal: BlockingPortal) -> Callable[[Path], None]:
    return lambda folder: portal.call(lambda: long_conversation(folder, "long", messages=2_000, settled=1_900))


@pytest.fixture(scope="module")
def lived(millpond: Pond, portal: BlockingPortal) -> Pond:
    millpond.ask(
        "ann", "Remember that I live in Lisbon.", "Remember that my heron is called Otto.", "hello", "thank you"
    )
    millpond.daemon.post("ann", "/compact")
    millpond.ask("ann", "use the tool list_files", MARKDOWN, "what is my heron called?")
    portal.call(lambda: dead_letter(millpond.folder, "web:ann", "Where is the sluice?", reason="attempts"))
    portal.call(lambda: dead_letter(millpond.folder, "web:ann", "An odd one", reason="unreadable"))
    portal.call(rates, millpond.folder)
    portal.call(queued_message, millpond.folder, "web:ann", "Where is the sluice?")
    return millpond


@pytest.fixture(params=["wide-light", "wide-dark", "phone-light", "phone-dark"], scope="module")
def seen(request: pytest.FixtureRequest, browser: Browser, lived: Pond) -> Iterator[tuple[Visit, str]]:
    with visiting(browser, lived.url, phone="phone" in request.param, dark="dark" in request.param) as visit:
        log_in(visit, lived)
        yield visit, request.param


@pytest.mark.parametrize("place", PLACES)
def test_a_place_can_be_used_by_everybody_and_fits_its_screen(seen: tuple[Visit, str], place: str) -> None:
    visit, kind = seen
    page = visit.open(PLACES[place])
    expect(page.locator("main")).not_to_be_empty()
    expect(page.get_by_text("Loading…")).to_have_count(0)
    page.wait_for_timeout(SETTLE_MS)

    visit.shoot(f"{place}-{kind}")

    assert visit.axe() == []
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "something sticks out to the right"
    visit.check()


def test_every_word_of_a_place_is_chinese_for_a_browser_in_chinese(lived: Pond, browser: Browser) -> None:
    with visiting(browser, lived.url, locale="zh-CN") as visit:
        log_in(visit, lived)
        english: dict[str, list[str]] = {}
        for place, path in PLACES.items():
            page = visit.open(path)
            expect(page.locator("main")).not_to_be_empty()
            expect(page.get_by_text("正在加载…")).to_have_count(0)
            page.wait_for_timeout(SETTLE_MS)
            visit.shoot(f"{place}-chinese")
            if left := [text for text in page.evaluate(ENGLISH) if _has_english(text)]:
                english[place] = left

        assert english == {}


def _has_english(text: str) -> bool:
    return re.search(r"[A-Za-z]{2,}", KEPT.sub("", text)) is not None


def test_the_language_is_chosen_and_kept(lived: Pond, browser: Browser) -> None:
    with visiting(browser, lived.url, locale="de-AT") as visit:
        log_in(visit, lived)
        page = visit.page
        expect(page.get_by_role("button", name="Abmelden")).to_be_visible()
        menu = page.get_by_role("combobox", name="Sprache")
        menu.focus()
        for key in (
            "ArrowDown",
            "ArrowUp",
            "Enter",
        ):  # the first key opens the list, the second goes from German to French
            page.keyboard.press(key)
        expect(page.get_by_role("button", name="Se déconnecter")).to_be_visible()
        page.get_by_role("combobox", name="Langue").select_option("繁體中文")
        expect(page.get_by_role("navigation", name="主導覽").get_by_role("link", name="記憶")).to_be_visible()
        page.reload()

        expect(page.get_by_role("button", name="登出")).to_be_visible()
        assert page.evaluate("document.documentElement.lang") == "zh-TW"
        page.get_by_role("combobox", name="語言").select_option("English")
        expect(page.get_by_role("button", name="Log out")).to_be_visible()
        page.evaluate("localStorage.setItem('language', 'zh')")  # as an earlier version of the page kept it
        page.reload()
        expect(page.get_by_role("button", name="退出登录")).to_be_visible()


@pytest.mark.parametrize(
    ("locale", "tag"),
    [
        *(
            ("zh-HK", "zh-TW"),
            ("zh-SG", "zh-CN"),
            ("fr-CA", "fr"),
            ("de-CH", "de"),
            ("es-MX", "es"),
            ("pt-PT", "pt-BR"),
        ),
        *(("ja", "ja"), ("ko-KR", "ko"), ("vi-VN", "vi"), ("id-ID", "id"), ("sv-SE", "en")),
    ],
)
def test_the_page_is_in_the_browsers_language_and_fits_its_screen(
    lived: Pond, browser: Browser, locale: str, tag: str
) -> None:
    with visiting(browser, lived.url, locale=locale) as visit:
        log_in(visit, lived)
        page = visit.open(PLACES["chat"])
        expect(page.get_by_text("What I know of herons:").first).to_be_visible()
        assert page.evaluate("document.documentElement.lang") == tag
        for width in (390, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(SETTLE_MS)
            visit.shoot(f"chat-{width}-{tag}")

            inside = "[...document.querySelectorAll('.side-head *, .places *, .bottom > *, .message footer *')]"
            assert page.evaluate(f"{inside}.every(each => each.getBoundingClientRect().right <= innerWidth)")
        assert visit.axe() == []


@pytest.mark.parametrize("width", [390, 768, 1440, 2560])
def test_the_chat_and_its_first_screen_fit_every_width(lived: Pond, browser: Browser, width: int) -> None:
    with visiting(browser, lived.url, phone=width == 390) as visit:
        visit.page.set_viewport_size({"width": width, "height": 900})
        log_in(visit, lived)
        for place, seen in ((PLACES["new"], "Talk to pond"), (PLACES["chat"], "What I know of herons:")):
            page = visit.open(place)
            expect(page.get_by_text(seen).first).to_be_visible()
            page.wait_for_timeout(SETTLE_MS)
            visit.shoot(f"{seen[:4].lower()}-{width}")

            assert visit.axe() == [], place
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), place
            field = page.get_by_label("Message", exact=True).bounding_box()
            assert field is not None and field["width"] > 120, place
        links = [link.bounding_box() or {} for link in page.locator(".places a").all()]
        if width > 390:
            assert len({round(link["y"] + link["height"] / 2) for link in links}) == 1, links  # one row
            side = page.locator(".side").bounding_box() or {}
            assert max(link["x"] + link["width"] for link in links) < side["width"], links


def test_the_numbers_of_a_memory_have_a_row_of_their_own_on_a_phone(lived: Pond, browser: Browser) -> None:
    with visiting(browser, lived.url, phone=True) as visit:
        log_in(visit, lived)
        line = visit.open("/memory").locator(".lines li").first
        name, numbers = (line.locator(part).bounding_box() or {} for part in (".name", ".soft.grow"))

        assert numbers["x"] == name["x"]
        assert numbers["y"] >= name["y"] + name["height"]


def test_the_buttons_below_a_memory_are_in_view_on_a_phone_while_it_is_edited(lived: Pond, browser: Browser) -> None:
    with visiting(browser, lived.url, phone=True) as visit:
        log_in(visit, lived)
        page = visit.open(PLACES["memory"])
        page.get_by_role("button", name="Edit").click()

        save = page.get_by_role("button", name="Save").bounding_box() or {}
        bar = page.get_by_role("navigation", name="Bottom navigation").bounding_box() or {}
        assert save["y"] + save["height"] < bar["y"]


def test_the_theme_is_chosen_and_kept(lived: Pond, browser: Browser) -> None:
    with visiting(browser, lived.url) as visit:
        log_in(visit, lived)
        page = visit.page
        expect(page.get_by_role("button", name="Log out")).to_be_visible()
        body = page.locator("body")
        light = body.evaluate("body => getComputedStyle(body).backgroundColor")
        page.get_by_role("button", name="Color theme: system").click()
        page.get_by_role("button", name="Color theme: light").click()
        expect(page.get_by_role("button", name="Color theme: dark")).to_be_visible()
        expect(body).not_to_have_css("background-color", light)
        dark = body.evaluate("body => getComputedStyle(body).backgroundColor")
        page.reload()

        expect(body).to_have_css("background-color", dark)


def test_a_phone_has_a_bar_at_its_foot_that_leads_everywhere(lived: Pond, browser: Browser) -> None:
    with visiting(browser, lived.url, phone=True) as visit:
        log_in(visit, lived)
        page = visit.page
        bar = page.get_by_role("navigation", name="Bottom navigation")
        bar.get_by_role("link", name="Memory").click()
        expect(page.get_by_role("heading", level=1, name="Memory")).to_be_visible()
        bar.get_by_role("button", name="Sessions").click()
        page.get_by_role("navigation", name="Conversations").get_by_title("ann", exact=True).click()
        expect(page.locator("article").first).to_be_visible()
