"""Script in everything that somebody else can write: it is shown, and it never runs."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from anyio.from_thread import BlockingPortal
from playwright.sync_api import Page, expect

from daemon.printable import INVISIBLE
from daemon.scope import folder_of
from tests.page.browsing import Visit
from tests.page.conftest import Pond
from tests.page.planting import dead_letter, said

IMAGE = "<img src=x onerror=alert(1)>"
SCRIPT = "<script>alert(2)</script>"
FRAME = '<iframe srcdoc="<script>alert(3)</script>"></iframe>'
LINKS = "[here](javascript:alert(4)) <a href='javascript:alert(5)'>there</a> [data](data:text/html,<b>alert(6)</b>)"
PICTURE = '![x](x"onerror="alert(7)) ![y](javascript:alert(8))'
EVIL = f"{IMAGE} {SCRIPT} {FRAME} {LINKS} {PICTURE} </textarea></style></script>{SCRIPT}"
SESSION = f"web:{quote(IMAGE, safe='')}"
FILE = "<svg onload=alert(9)>.md"
CALL = {"id": EVIL, "type": "function", "function": {"name": EVIL, "arguments": EVIL}}

LIVELY = """() => [...document.querySelectorAll("*")].flatMap((each) => {
  const ours = each.src?.startsWith(`${location.origin}/page/`);
  const alive = ["SCRIPT", "IFRAME", "OBJECT", "EMBED"].includes(each.tagName) && !ours;
  const armed = [...each.attributes].filter(({name, value}) =>
    /^on|^srcdoc$/i.test(name) || /^\\s*(javascript|data):/i.test(value));
  return alive || armed.length ? [each.outerHTML] : [];
})"""
"""Every element that would run something."""


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"MILLPOND_BOTS__POND__TOOLS": "time,list_files,read_file"}


@pytest.fixture(scope="module")
def plant(portal: BlockingPortal) -> Callable[[Path], None]:
    """Messages, names, calls and results full of it, in a conversation of our own and one of another channel."""
    wires = (
        {"role": "user", "content": EVIL},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": EVIL, "tool_call_id": EVIL},
        {"role": "assistant", "content": EVIL},
    )

    def planted(folder: Path) -> None:
        portal.call(lambda: said(folder, SESSION, *wires, sender=EVIL))
        portal.call(lambda: dead_letter(folder, SESSION, EVIL, reason=f"{IMAGE}: {SCRIPT}"))

    return planted


def holds(page: Page, text: str = IMAGE) -> None:
    """The page shows ``text`` as it is, and holds nothing that would run."""
    expect(page.locator("main")).to_contain_text(text)
    assert page.evaluate(LIVELY) == []


def test_messages_names_and_tool_output_are_shown_and_never_run(visit: Visit) -> None:
    page = visit.open(f"/s/{quote(SESSION, safe='')}")
    holds(page)
    for call in page.locator("details").all():
        call.evaluate("element => { element.open = true }")
    holds(page, SCRIPT)
    assert page.locator("main").get_by_role("link", name="here").count() == 0

    page.goto(f"{visit.url}/s/{quote(SESSION, safe='')}/context")
    expect(page.get_by_role("heading", name="The exact prompt")).to_be_visible()
    for part in page.locator("details").all():
        part.evaluate("element => { element.open = true }")
    holds(page)


def test_what_is_typed_and_streamed_is_shown_and_never_run(visit: Visit) -> None:
    page = visit.page
    field = page.get_by_role("textbox", name=re.compile("message", re.IGNORECASE))
    field.fill(EVIL)
    field.press("Enter")

    expect(page.locator("article.assistant:not(.live)")).to_have_count(1)
    holds(page, SCRIPT)


def test_file_names_are_shown_and_never_run(visit: Visit, millpond: Pond) -> None:
    millpond.ask("files", "hello")
    files = millpond.folder / "bots" / "pond" / "files" / folder_of("pond:person:web:files")
    files.mkdir(parents=True, exist_ok=True)
    (files / FILE).write_text(EVIL)
    millpond.ask("files", "use the tool list_files", f'use the tool read_file with {{"path": "{FILE}"}}')

    page = visit.open("/s/web%3Afiles")

    holds(page, FILE)
    for call in page.locator("details").all():
        call.evaluate("element => { element.open = true }")
    holds(page)


def test_memory_its_versions_history_and_search_are_shown_and_never_run(visit: Visit, millpond: Pond) -> None:
    name = f"{IMAGE} remembers"
    millpond.ask(name, f"Remember that {EVIL}", f"Remember that my name is {SCRIPT}", "hello", "thank you")
    millpond.daemon.post(name, "/compact")
    scope = f"pond:person:web:{quote(name, safe='')}"
    address = f"/memory/{quote(scope, safe='')}"
    page = visit.page
    millpond.until(lambda: page.request.get(f"{visit.url}/api{address}").json().get("version", 0), lambda at: at > 0)

    visit.open("/memory")
    holds(page)
    for rest in ("", "/versions/1", "?tab=history", "?tab=search&q=alert", "?tab=notes"):
        visit.open(f"{address}{rest}")
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        holds(page)
    visit.open(address)
    page.get_by_role("button", name="Edit").click()
    holds(page)


def test_dead_letters_and_the_audit_are_shown_and_never_run(visit: Visit) -> None:
    page = visit.open("/system/dead")
    page.get_by_role("button", name="Show text").first.click()
    holds(page)
    holds(page, SCRIPT)

    page.get_by_role("button", name="Drop all").first.click()
    page.get_by_role("button", name="Delete all 1 dead letters permanently?").click()
    expect(page.get_by_role("heading", name="No dead letters")).to_be_visible()
    page.get_by_role("link", name="Audit").click()
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    assert page.evaluate(LIVELY) == []


LABELS = (
    ("[https://bank.com](https://evil.com)", "https://bank.com (https://evil.com/)"),
    ("[Log in at **BANK**.com.](http://evil.com/bank.com)", "Log in at BANK.com. (http://evil.com/bank.com)"),
    ("[https://bank.com](http://bank.com)", "https://bank.com (http://bank.com/)"),
    ("[bank.com/a](https://bank.com/b)", "bank.com/a (https://bank.com/b)"),
    ("[bank.com](https://bank.com@evil.com)", "bank.com (https://bank.com@evil.com/)"),
    ("[10.0.0.1](https://10.0.0.2)", "10.0.0.1 (https://10.0.0.2/)"),
    ("[apple.com](https://\u0430\u0440\u0440\u04cf\u0435.com/x)", "apple.com (https://xn--80ak6aa92e.com/x)"),
    (
        "<https://\u0430\u0440\u0440\u04cf\u0435.com>",
        "https://\u0430\u0440\u0440\u04cf\u0435.com (https://xn--80ak6aa92e.com/)",
    ),
    ("[bank\uff0ecom](https://evil.com)", "bank\uff0ecom (https://evil.com/)"),
    ("[bank.\u200bcom](https://evil.com)", "bank.\ufffdcom (https://evil.com/)"),
    ("[bank.\u200dcom](https://evil.com)", "bank.\u200dcom (https://evil.com/)"),
    ("[a@bank.com](mailto:a@evil.com)", "a@bank.com (mailto:a@evil.com)"),
    ("[the bank](https://bank.com/login)", "the bank"),
    ("[bank.com](https://www.bank.com/login)", "bank.com"),
    ("[https://bank.com/a/](https://bank.com/a)", "https://bank.com/a/"),
    ("[a@bank.com](mailto:a@bank.com)", "a@bank.com"),
    ("https://bank.com/A?b=c#d and www.bank.com.", "https://bank.com/A?b=c#d and www.bank.com."),
    ("<https://e.org/\u6c34>", "https://e.org/\u6c34"),
    ("[x](https://%)", "[x](https://%)"),
    ("a\u202eb\u2066c\u200bd\ue000\U000e0041", "a\ufffdb\ufffdc\ufffdd\ue000\ufffd"),
)
"""Markdown, and what the page shows of it."""


def test_a_link_whose_text_names_another_address_shows_both(visit: Visit) -> None:
    shown = visit.page.evaluate(
        """async (texts) => {
          const {show} = await import("/page/markdown.js");
          return texts.map((text) => {
            const element = document.createElement("div");
            show(element, text);
            return element.textContent;
          });
        }""",
        [text for text, _ in LABELS],
    )

    assert [*zip([text for text, _ in LABELS], shown, strict=True)] == [*LABELS]


def test_the_page_shows_the_same_hidden_characters_as_a_terminal(visit: Visit) -> None:
    shown = visit.page.evaluate(
        """async () => {
          const {h} = await import("/page/dom.js");
          const all = Array.from({length: 0xE1000}, (_, at) => at).filter((at) => at < 0xD800 || at > 0xDFFF);
          const shown = [...h("p", null, all.map((at) => String.fromCodePoint(at)).join("")).textContent];
          return all.filter((at, index) => shown[index] !== String.fromCodePoint(at));
        }"""
    )

    hidden = {at for at in range(0xE1000) if INVISIBLE.match(chr(at)) and not 0xD800 <= at <= 0xDFFF}
    # A carriage return is a line end, and joiners stand in words and emoji.
    assert set(shown) == hidden - {0x0D, 0x200C, 0x200D}


def test_titles_and_lists_of_the_page_show_no_hidden_characters(visit: Visit, millpond: Pond) -> None:
    millpond.ask("hidden", "a\u202eb\u200bc")

    page = visit.open("/s/web%3Ahidden")

    expect(page).to_have_title("a\ufffdb\ufffdc · Millpond")
    expect(page.get_by_role("heading", level=1)).to_have_text("a\ufffdb\ufffdc")
    expect(page.get_by_role("navigation", name="Conversations")).to_contain_text("a\ufffdb\ufffdc")


@pytest.mark.parametrize(
    "path", ["/s/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "/memory/x%22onerror=alert(1)", "/system/%3Cscript%3E"]
)
def test_addresses_are_shown_and_never_run(visit: Visit, path: str) -> None:
    visit.forgive("40[04]")
    page = visit.open(path)
    expect(page.locator("main")).not_to_be_empty()

    assert page.evaluate(LIVELY) == []


def test_the_page_s_policy_refuses_what_would_slip_through(visit: Visit) -> None:
    visit.forgive("Content Security Policy|Executing inline|404")
    page = visit.page
    page.evaluate("document.body.insertAdjacentHTML('beforeend', `<img src=x onerror=\"window.ran = 1\">`)")
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 2'}))"
    )
    page.wait_for_timeout(200)

    assert page.evaluate("window.ran") is None
