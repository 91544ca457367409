"""The page's files: what they may not do, what they weigh, how they are answered with."""

import gzip
import hashlib
import re
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from channels.web.static import FILES, KINDS, Page, is_page
from tests.tables import each_row

HOSTILE = ("../static.py", "..%2fstatic.py", "%2e%2e/static.py", "/etc/passwd", "....//static.py", "index.html%00.js")
"""Names with which somebody may try to get at other files."""

WEIGHT_MAX = 130_000  # bytes that all own files of the page may take on their way to a browser
FIRST_MAX = 187_000  # bytes of the files of a chat, uncompressed: what a browser has to read before it shows one
LATER = frozenset(
    [
        "answers.js",
        "approvals.js",
        "choices.js",
        "formula.js",
        "found.js",
        "grammar-worker.js",
        "highlight.js",
        "labels.js",
        "code-languages.js",
        "memory.js",
        "prompt.js",
        "settings.js",
        "settings-bots.js",
        "settings-channels.js",
        "settings-form.js",
        "settings-people.js",
        "reminders.js",
        "system.js",
        "logs.js",
        "queues.js",
        "rates.js",
        "tools.js",
        "usage.js",
        "turns.js",
        "views.js",
        "views.css",
        "waiting.js",
    ]
)
"""Loaded when they are looked at. A translation, below ``translation``, is loaded with the page in its language."""

LIBRARIES = {
    "highlight.min.js": (
        "11.12.0",
        "1ed8fc5256b738b8875b74e4d3f0754f60d6411fb034d618dfbc4e6e6c9999d7",
        "highlight.txt",
    ),
    "temml.min.js": ("0.13.5", "1ab19148afe0dbc836b7a74f344071b3f3a70a7a8259ae4049e76894fcdf8d95", "temml.txt"),
    "Temml-STIX2.css": ("", "e8e17549df716ffc30d3a063dcde31aa3199b1309373e4fe54c87375f98826d0", "temml.txt"),
    "STIXTwoMath.woff2": ("", "47964782013ecb844d9ca5db9c6b156684d42888a6e79120be5f5b339cf162b2", "stix.txt"),
}
"""Libraries as their packages contain them (@highlightjs/cdn-assets, es/; temml, dist/): version, SHA-256, licence.
They are loaded when a message contains code or a formula.

The font is that of the package @fontsource/stix-two-math 5.3.0, reduced by fonttools (``pyftsubset --no-hinting
--flavor=woff2 --layout-features=ssty,dtls,ss01,ss04``) to the characters of formulas:
U+0020-007E U+00A0 U+00AC U+00B1 U+00B7 U+00D7 U+00F7 U+0131 U+0237 U+02C6-02DD U+0302-0338 U+0391-03D6 U+03F0-03F6
U+2010-2044 U+2057 U+2061-2064 U+20D0-20D7 U+20DB-20DC U+2102-2138 U+2190-21D9 U+2200-22FF U+2308-230B U+23B4-23B5
U+23DC-23DF U+25A1 U+25B3 U+25CB U+27E8-27EB U+27F5-27FC U+2A00-2A06 U+2A7D-2A7E U+2AAF-2AB0 U+1D400-1D4CF
U+1D504-1D56B U+1D6A4-1D71B U+1D7CE-1D7E1."""

LANGUAGES = (157, "9049d1651c95141e398fc33ef5dada62bb3541e463a862b1b3c6f2196a9b5f79")
"""Languages of code as the package @highlightjs/cdn-assets contains them (es/languages/), without those that are in
highlight.min.js: their number, and the SHA-256 of all files."""

GRAMMARS = (192, "40db7ddaa30b1b1a70e67b81f356c12f4c005c62b4d60cef1eafb9439b441916")
"""Languages of code as the package refractor 5.0.0 contains them (lang/), the grammars of which they are made, and
lib/prism-core.js."""

MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|setHTML|"
    r"\beval\b|new Function|javascript:|srcdoc(?!\$)|import\(\s*(?!`/page/)[^\"'\s]"
)
"""Ways in which a text could become markup or a script."""


def files(*kinds: str) -> list[Path]:
    return sorted(path for path in FILES.iterdir() if path.suffix in kinds)


def own(*kinds: str) -> list[Path]:
    """Files that were written here."""
    return [path for path in files(*kinds) if path.name not in LIBRARIES]


class Plain:
    async def read(self, _request: Request) -> Response:
        return PlainTextResponse("curl me")


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    app = Starlette(routes=Page(Plain()).routes())  # type: ignore[arg-type]
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://pond") as client:
        client.headers["Accept-Encoding"] = "identity"
        yield client


@each_row("path", own(".js"))
def test_no_script_makes_markup_of_text(path: Path) -> None:
    found = [line for line in path.read_text().splitlines() if MARKUP.search(line)]

    assert found == []


def test_the_document_has_no_script_style_or_handler_of_its_own() -> None:
    document = (FILES / "index.html").read_text()

    assert re.findall(r"<script(?![^>]*\bsrc=\"/page/)[^>]*>", document) == []
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=", document) == []


def test_nothing_is_loaded_from_elsewhere_and_nothing_that_is_not_there() -> None:
    for path in files(".html", ".js", ".css"):
        text = path.read_text()
        for address in re.findall(r"(?:src=|href=|from |import |import\(|href: |url\()\"?([\"/][^\")\s$]*)", text):
            name = address.strip('"')
            if name.startswith("/page/"):
                assert (FILES / name.removeprefix("/page/")).is_file(), f"{path.name}: {name}"
        assert not re.search(r"(?:src=|@import |from |url\()[\"']?(?:https?:)?//", text), path.name


def test_the_page_weighs_little() -> None:
    sizes = {path.name: len(path.read_bytes()) for path in own(*KINDS)}
    sent = sum(len(gzip.compress(path.read_bytes(), mtime=0)) for path in own(*KINDS))

    assert sent < WEIGHT_MAX
    assert sum(size for name, size in sizes.items() if name not in LATER) < FIRST_MAX


def test_a_library_is_the_published_one_with_its_licence() -> None:
    assert {path.name for path in files(*KINDS) if re.search(r"\.min\.js|woff2|Temml", path.name)} == set(LIBRARIES)
    for name, (version, digest, licence) in LIBRARIES.items():
        content = (FILES / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest, name
        assert version.encode() in content, name
        assert "Copyright " in (FILES.parent / "licenses" / licence).read_text(), name


def test_every_language_of_code_is_the_published_one_and_named() -> None:
    names = [re.findall(r"[^\s`]+", part) for part in (FILES / "code-languages.js").read_text().split("`")[1::2]]
    libraries, grammars = ({name.split("/")[0] for name in table} for table in names)

    assert published("languages") == LANGUAGES
    assert published("grammars") == GRAMMARS
    assert sorted(f"{name}.min.js" for name in libraries) == sorted(
        path.name for path in (FILES / "languages").iterdir()
    )
    assert [name for name in grammars if not (FILES / "grammars" / f"{name}.js").is_file()] == []
    assert "Lea Verou" in (FILES.parent / "licenses" / "refractor.txt").read_text()


def test_the_files_of_a_grammar_are_all_there() -> None:
    for path in (FILES / "grammars").iterdir():
        for name in re.findall(r"^import .* from '\./([^']+)'", path.read_text(), re.MULTILINE):
            assert (FILES / "grammars" / name).is_file(), f"{path.name}: {name}"


def published(folder: str) -> tuple[int, str]:
    """The number of the files in a folder, and the SHA-256 of all of them."""
    found = sorted((FILES / folder).iterdir())
    return len(found), hashlib.sha256(b"".join(path.read_bytes() for path in found)).hexdigest()


def test_type_spacing_colours_and_motion_come_from_one_set_of_variables() -> None:
    literal = re.compile(
        r"font-size: *[\d.]+px|#[0-9a-f]{3,8}\b(?=[,;) ])|(?:transition|animation):[^;}]*[ :][\d.]+m?s|"
        r"(?<![a-z-])(?:padding|margin|gap)[a-z-]*:[^;}]*?[ :-](?:[2468]|1[0246]|20|24|32|48)px"
    )
    for path in own(".css"):
        rules = re.sub(r":root \{.*?\n\}|@media \(prefers-reduced-motion.*", "", path.read_text(), flags=re.DOTALL)
        assert literal.findall(rules) == [], path.name


def test_every_file_is_of_a_kind_that_is_served() -> None:
    assert [path.name for path in FILES.rglob("*") if path.is_file() and path.suffix not in KINDS] == []


@each_row(
    "path", ["/", "/s/web:a", "/s/web%3Aa/m/4", "/s/a/turns/0", "/memory", "/memory/web:a", "/system/dead", "/login"]
)
async def test_an_address_of_the_page_answers_a_browser_with_the_document(client: httpx2.AsyncClient, path: str):
    browser = await client.get(path, headers={"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"})
    other = await client.get(path, headers={"Accept": "*/*"})

    assert browser.status_code == 200
    assert browser.headers["content-type"] == "text/html; charset=utf-8"
    assert browser.text == (FILES / "index.html").read_text()
    assert "Accept" in browser.headers["vary"].split(", ")
    assert other.status_code == (200 if path == "/" else 404)
    assert path != "/" or other.text == "curl me"


async def test_only_own_files_run_and_none_talks_to_others(client: httpx2.AsyncClient) -> None:
    policy = (await client.get("/login", headers={"Accept": "text/html"})).headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == rules["frame-ancestors"] == "'none'"
    assert {rules[name] for name in ("script-src", "style-src", "connect-src", "font-src")} == {"'self'"}
    assert "unsafe" not in policy


@each_row("path", files(*KINDS))
async def test_a_file_comes_once_and_then_only_when_it_changed(client: httpx2.AsyncClient, path: Path) -> None:
    first = await client.get(f"/page/{path.name}")
    again = await client.get(f"/page/{path.name}", headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    changed = await client.get(f"/page/{path.name}", headers={"If-None-Match": '"other"'})

    assert first.content == changed.content == await anyio.Path(path).read_bytes()
    assert first.headers["content-type"] == KINDS[path.suffix]
    assert first.headers["cache-control"] == "no-cache"
    assert (again.status_code, again.content) == (304, b"")


async def test_a_browser_that_takes_it_gets_a_file_compressed(client: httpx2.AsyncClient) -> None:
    small = await client.get("/page/app.js", headers={"Accept-Encoding": "gzip, br"})
    plain = await client.get("/page/app.js")

    assert small.headers["content-encoding"] == "gzip"
    assert int(small.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert small.content == plain.content
    assert small.headers["etag"] != plain.headers["etag"]
    assert small.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


@each_row("name", [*HOSTILE, "static.py", "", "app.JS"])
async def test_no_name_reaches_another_file(client: httpx2.AsyncClient, name: str) -> None:
    assert (await client.get(f"/page/{name}")).status_code == 404


def test_nothing_of_the_api_counts_as_the_page() -> None:
    for path in ("/api/sessions", "/metrics", "/systems", "/memorys", "/login/x", "/s", "/page", "//page/x"):
        assert not is_page(path), path
    for path in ("/login", "/system", "/system/dead", "/memory/a", "/s/a", "/page/app.js"):
        assert is_page(path), path
