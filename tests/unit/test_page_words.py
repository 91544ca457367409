"""The page's texts in Chinese: each text has a translation, and the scripts contain no text without one."""

import re
from itertools import chain

from channels.web import error_response
from channels.web.static import FILES
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
ENTRY = re.compile(r'^  "((?:\\.|[^"\\])*)": "((?:\\.|[^"\\])*)",$', re.MULTILINE)
PLACE = re.compile(r"\{\w+\}")

WORDS = re.compile(r"[A-Za-z’']{2,}[,.:;]? +[A-Za-z(]{2,}|^[A-Z][a-z]+\b(?!/)")
"""Two words, or one with a capital letter: what a person reads. A class, an attribute or a key is one small word."""

OURS = re.compile(
    r"(?:Abort|Type)Error|Arrow(?:Down|Left|Right|Up)|Page(?:Down|Up)|Enter|Escape|Home|End|Tab|Files|voice message|"
    r"Content-Type|Accept|\(pointer: fine\)|input, .*|mp-chat textarea|noopener .*|millpond (?:page|trace ').*|"
    r"calm clear .*|Telegram|Slack|Discord|BotFather|Brave|Tavily|SearXNG|alder brook .*|"
    r"The attribute | cannot be set to a string\.|English|journalctl -o cat|docker compose logs|"
    r"\s+(?:1c abnf|abap agda) [\s\S]*"
)
"""Literals that are no text of the page: keys, queries, commands, words of names, languages, errors of a programmer."""

OWN = re.compile(r"(?!zh)[^.]+\.js")
"""Scripts that were written here: neither libraries nor tables."""

SERVER = frozenset(["zh-api.js"])
"""Translations of words that the server sends, which no script names."""


def scripts() -> dict[str, str]:
    return {path.name: path.read_text() for path in FILES.glob("*.js") if OWN.fullmatch(path.name)}


def tables() -> dict[str, dict[str, str]]:
    return {path.name: dict(ENTRY.findall(path.read_text())) for path in FILES.glob("zh-*.js")}


def used() -> set[str]:
    """The texts that scripts and the document name."""
    found = {text for text in chain(*MARKED.findall((FILES / "index.html").read_text())) if text}
    for script in scripts().values():
        found |= {match[1] for match in CALL.finditer(script) if match[1]}
        found |= {f"{{n}} {match[2] or match[1] + 's'}" for match in COUNTED.finditer(script)}
    return found - {"by {who}"}  # the example of words.js


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


def test_each_text_of_the_page_has_a_translation_and_each_translation_is_used() -> None:
    translated = {text for table in tables().values() for text in table}
    of_scripts = {text for name, table in tables().items() if name not in SERVER for text in table}

    assert sorted(used() - translated) == []
    assert sorted(of_scripts - used()) == []


def test_a_translation_has_the_placeholders_of_its_text() -> None:
    pairs = [pair for table in tables().values() for pair in table.items()]

    assert [text for text, chinese in pairs if set(PLACE.findall(text)) != set(PLACE.findall(chinese))] == []
    assert [text for text, chinese in pairs if not chinese] == []


def test_each_line_of_a_table_is_a_translation() -> None:
    for name, table in tables().items():
        lines = [line for line in (FILES / name).read_text().splitlines() if line.startswith("  ")]
        assert len(lines) == len(table), f"{name}: a line is not a translation, or a text stands twice"


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

    assert sorted(codes - {key.removeprefix("error:") for key in tables()["zh-api.js"]}) == []


def test_each_action_of_the_audit_log_has_a_translation() -> None:
    deeds = {
        deed for path in FILES.parent.rglob("*.py") for deed in re.findall(r'request, "(\w+\.\w+)"', path.read_text())
    }

    assert {"session.branch", "memory.edit"} <= deeds
    assert sorted(deeds - set(tables()["zh-api.js"])) == []


def test_each_builtin_tool_has_a_purpose_on_the_page() -> None:
    [purposes] = re.findall(r"PURPOSES = \{(.*?)\n\};", (FILES / "tools.js").read_text(), re.DOTALL)

    assert sorted(re.findall(r"(\w+): t\(", purposes)) == sorted(BUILTIN.names)
