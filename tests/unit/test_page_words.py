"""The page's texts in other languages: in Chinese each text has a translation, and no script has a text without one.

Other languages may lack a few texts, so that a new text needs no translator of each: the page shows them in English.
"""

import json
import re
from collections import Counter
from itertools import chain
from pathlib import Path

from channels.command_menu import menu
from channels.web import error_response
from channels.web.static import FILES
from tests.tables import each_row
from workers.tools import BUILTIN

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<template>`(?:\\.|[^`\\])*`)"""
    r"""|(?<=[(,=:\[!&|?;\s])/(?![/*\s])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*(?=[,.;)\s\]])""",
    re.DOTALL,
)
"""Comments, strings, templates and regular expressions of a script; only the second and the third are texts."""

CALL = re.compile(r'\b(?:t|parts)\(\s*"((?:\\.|[^"\\])*)"|\? "((?:\\.|[^"\\])*)" : "((?:\\.|[^"\\])*)"\)')
COUNTED = re.compile(r'\bcounted\((?:[^()"]|\([^()]*\))*, "(\w[^"]*)"(?:, "([^"]*)")?\)')
MARKED = re.compile(r'data-t>([^<]*)<|data-t-label aria-label="([^"]*)"')
PLACE = re.compile(r"\{\w+\}")

WORDS = re.compile(r"[A-Za-z’']{2,}[,.:;]? +[A-Za-z(]{2,}|^[A-Z][a-z]+\b(?!/)")
"""Two words, or one with a capital letter: what a person reads. A class, an attribute or a key is one small word."""

OURS = re.compile(
    r"(?:Abort|Type)Error|Arrow(?:Down|Left|Right|Up)|Page(?:Down|Up)|Enter|Escape|Home|End|Tab|Files|voice message|"
    r"Content-Type|Accept|\(pointer: fine\)|input, .*|mp-chat textarea|noopener .*|millpond (?:page|trace ').*|"
    r"calm clear .*|Telegram|Slack|Discord|BotFather|Brave|Tavily|SearXNG|alder brook .*|"
    r"The attribute | cannot be set to a string\.|English|Deutsch|Tiếng Việt|Bahasa Indonesia|journalctl -o cat|"
    r"docker compose logs|"
    r"\s+(?:1c abnf|abap agda) [\s\S]*"
)
"""Literals that are no text of the page: keys, queries, commands, words of names, languages, errors of a programmer."""

TABLES: dict[str, dict[str, str]] = {
    path.stem: json.loads(path.read_text()) for path in (FILES / "translation").glob("*.json")
}
"""The translation of each text, by the language's tag."""

CHINESE = TABLES["zh-CN"]
SINGULAR = frozenset(["de", "es", "fr", "pt-BR"])
"""Languages in which one thing has another form than several."""

COVERED = 0.95
"""The share of texts that a language has at least, besides Chinese, which has all."""


def scripts() -> dict[str, str]:
    return {path.name: path.read_text() for path in FILES.glob("*.js") if "." not in path.stem}  # without libraries


def used() -> set[str]:
    """The texts that scripts and the document name."""
    found = {text for text in chain(*MARKED.findall((FILES / "index.html").read_text())) if text}
    for script in scripts().values():
        found |= {match[1] for match in CALL.finditer(script) if match[1]}
        found |= {f"{{n}} {match[2] or match[1] + 's'}" for match in COUNTED.finditer(script)}
    return found - {"by {who}"}  # the example of words.js


def ones() -> set[str]:
    """The texts with a singular, such as ``{n} note``."""
    return {f"{{n}} {match[1]}" for script in scripts().values() for match in COUNTED.finditer(script)}


def bare(script: str) -> list[str]:
    """Literals of a script that a person would read, and that are not translated."""
    found: list[str] = []
    plurals = {text for match in COUNTED.finditer(script) for text in match.groups()}
    for token in TOKEN.finditer(script):
        text = token["string"] or token["template"]
        if text is None or re.search(r"(?:\bt|\bparts)\(\s*$", script[: token.start()]):
            continue
        pieces = re.split(r"\$\{(?:[^{}]|\{[^{}]*\})*\}", text[1:-1]) if token["template"] else [text[1:-1]]
        found += [piece for piece in pieces if WORDS.search(piece) and not OURS.fullmatch(piece)]
        found = [piece for piece in found if piece not in plurals]
    return found


def test_each_text_of_the_page_is_translated_to_chinese_and_each_translation_is_of_the_page_or_of_the_server() -> None:
    sources = [path for name in ("channels", "daemon", "workers") for path in Path(name).rglob("*.py")]
    server = set(chain(*(re.findall(r"\w+", path.read_text()) for path in sources)))

    assert sorted(used() - set(CHINESE)) == []
    words = {text: text.removeprefix("error:").rpartition(".")[2] for text in set(CHINESE) - used()}
    assert [text for text, word in words.items() if word not in server and word.rpartition("_")[2] not in server] == []


@each_row("tag", sorted(set(TABLES) - {"zh-CN"}))
def test_nearly_all_texts_are_translated_to_each_language_and_none_that_is_no_more(tag: str) -> None:
    texts = {*CHINESE, *menu("en").values(), *(ones() if tag in SINGULAR else ())}

    assert sorted(set(TABLES[tag]) - texts) == []
    assert len(TABLES[tag]) >= COVERED * len(texts), sorted(texts - set(TABLES[tag]))


@each_row("tag", sorted(TABLES))
def test_a_translation_has_the_placeholders_of_its_text_and_a_line_of_its_own(tag: str) -> None:
    pairs = TABLES[tag].items()

    assert [text for text, said in pairs if Counter(PLACE.findall(text)) != Counter(PLACE.findall(said))] == []
    assert [text for text, said in pairs if not said] == []
    written = (FILES / "translation" / f"{tag}.json").read_text()
    assert written == json.dumps(TABLES[tag], ensure_ascii=False, indent=2) + "\n", (
        "a text stands twice, or in another form"
    )


def test_the_page_offers_the_languages_that_it_has() -> None:
    offered = re.findall(r'"([\w-]+)": "', (FILES / "page-language.js").read_text())

    assert sorted(offered) == sorted({"en", *TABLES})


def test_no_script_contains_a_text_without_a_translation() -> None:
    assert {name: found for name, script in scripts().items() if (found := bare(script))} == {}
    assert bare('fill(main, h("p", null, "Nothing was found"), `Show ${n} more lines`, t("Save it"))') == [
        "Nothing was found",
        "Show ",
        " more lines",
    ]


def test_each_error_code_of_the_api_has_a_translation() -> None:
    codes = {kind.code for kind in error_response._KINDS} | set(error_response._CODES.values())
    for path in FILES.parent.rglob("*.py"):
        codes |= set(re.findall(r'problem\(\s*\d+,\s*"(\w+)"', path.read_text()))

    assert sorted(codes - {key.removeprefix("error:") for key in CHINESE}) == []


def test_each_action_of_the_audit_log_has_a_translation() -> None:
    deeds = {
        deed for path in FILES.parent.rglob("*.py") for deed in re.findall(r'request, "(\w+\.\w+)"', path.read_text())
    }

    assert {"session.branch", "memory.edit"} <= deeds
    assert sorted(deeds - set(CHINESE)) == []


def test_each_builtin_tool_has_a_purpose_on_the_page() -> None:
    [purposes] = re.findall(r"PURPOSES = \{(.*?)\n\};", (FILES / "tools.js").read_text(), re.DOTALL)

    assert sorted(re.findall(r"(\w+): t\(", purposes)) == sorted(BUILTIN.names)
