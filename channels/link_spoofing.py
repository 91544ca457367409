"""Links that show their target: a link whose text names another address is taken apart, so that both are seen. Pure.

The platforms read Markdown in dialects of their own. So no parser decides here what a link is: each ``](`` counts, with
the widest text that could be the link's. A blank between the two signs makes any dialect show what was written.
"""

import html
import re
import unicodedata
from collections.abc import Iterator

from daemon.printable import INVISIBLE

SCHEMES = frozenset({"http", "https", "mailto", "tel"})
"""Links to others (``tg:`` begins chats and payments) do something at a touch; they are shown as text."""

TEXT_MAX_CHARS = 300
"""Characters of a link's text; a longer one is not searched, and its target is shown."""

ENDINGS = frozenset(
    {
        *("com", "org", "net", "info", "biz", "edu", "gov", "mil", "int", "name", "pro", "mobi", "jobs", "travel"),
        *("app", "dev", "xyz", "online", "site", "website", "web", "store", "shop", "bank", "finance", "money", "pay"),
        *("club", "top", "icu", "live", "vip", "work", "cloud", "tech", "page", "link", "click", "zip", "mov", "blog"),
        *("news", "wiki", "art", "space", "world", "life", "today", "email", "support", "help", "chat", "digital"),
        *("agency", "group", "company", "global", "media", "network", "services", "solutions", "systems", "academy"),
        *("wallet", "crypto", "exchange", "credit", "insurance", "health", "care", "clinic", "law", "tax", "arpa"),
    }
)
"""The most used generic top-level domains. Two letters are a country, except the endings of files in ``_FILES``. A name
with another ending (``asyncio.run``) is an address only if a scheme, ``www.`` or a path says so."""

_FILES = frozenset({"js", "ts", "go", "cs", "vb", "hs", "db", "7z"})
"""Endings of two letters that are no country."""

_SCANNED = re.compile(r"\\.|\n[ \t>]*(?=\n)|[\[\]]", re.DOTALL)
_TARGET = re.compile(r"\(\s*(?:<([^<>\n]*)>|((?:\\.|\((?:\\.|[^\s()])*\)|[^\s()<>\\])*))(?=[\s)]|\Z)")
_DEFINED = re.compile(r":(?=\s*(?:<[^<>\n]*>|\S+)[ \t]*(?:[\"'(\n]|\Z))")
_FIRST = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t>]+)*\[?")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKUP = re.compile(r"[*~`\\!\u180b-\u180f\ufe00-\ufe0f]")
_WORDS = re.compile(r"[^\s<>()\[\]{}\"',;|]+")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*(?=:)")
_ENDING = re.compile(r"(?<=\w)\.([^\W\d_]{2,}|xn--[\w-]+)(?!\w)")
_STOP = re.compile(r"\u3002(?=[a-z])")
_NUMBERS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_PLACE = re.compile(r"(?:(https?)://)?([a-z0-9.-]+(?::\d+)?)(?![^/?#])(.*)", re.DOTALL)
_HOST = re.compile(r"(?<=://)[^/?#\s]+")
_ORDINARY = ".,;:!?_\u2026"


def honest(text: str) -> str:
    """Markdown ``text`` in which each link shows its target, unless the link's text names no other address.

    Reference definitions become text, so each link has its target beside it.
    """
    pieces: list[str] = []
    at = 0
    for begin, end in _labels(text):
        if end < at:
            continue  # in the target of the link before it
        behind = end + 1
        if _DEFINED.match(text, behind):
            if _FIRST.fullmatch(text, text.rfind("\n", 0, begin) + 1, begin):
                pieces += (text[at:behind], " ")
                at = behind
        elif text.startswith("(", behind):
            target = _TARGET.match(text, behind)
            if target and target.end() == len(text):
                break  # no link yet: the beginning of a text that is still being written
            if target is None or not _is_honest(text[begin:end], _address(target[1] or target[2] or "")):
                pieces += (text[at:behind], " ")
                at = target.end() if target else behind
                pieces.append(_in_ascii(text[behind:at]))
    return "".join((*pieces, text[at:]))


def _labels(text: str) -> Iterator[tuple[int, int]]:
    """For each ``]`` that may end a link's text: where the longest text that it may end begins, and where it ends."""
    opened: list[int] = []
    first: int | None = None
    for sign in _SCANNED.finditer(text):
        if sign[0] == "[":
            opened.append(sign.end())
            first = first or sign.end()
        elif sign[0] == "]" and first:
            # A bracket in code closes none: without an open one, the first of the paragraph may be meant.
            begin = opened[0] if opened else first
            # Of a longer one no more is needed than that it is.
            yield max(begin, sign.start() - TEXT_MAX_CHARS - 1), sign.start()
            if opened:
                opened.pop()
        elif sign[0][0] == "\n":
            opened, first = [], None


def _address(target: str) -> str:
    return html.unescape(_ESCAPED.sub(r"\1", target)).strip()


def _is_honest(label: str, target: str) -> bool:
    scheme = _SCHEME.match(target.lower())
    if scheme and scheme[0] not in SCHEMES:
        return False
    if len(label) > TEXT_MAX_CHARS:
        return False
    label = unicodedata.normalize("NFKC", INVISIBLE.sub("", _MARKUP.sub("", html.unescape(label))))
    words = (found[0].strip(_ORDINARY) for found in _WORDS.finditer(_STOP.sub(".", label.lower())))
    return all(_is_same(word, target.lower()) for word in words if _is_address(word))


def _is_address(word: str) -> bool:
    if "://" in word or word.startswith("www.") or _NUMBERS.search(word):
        return True
    return any(
        (len(ending) == 2 and ending not in _FILES) or ending in ENDINGS or not ending.isascii() or "-" in ending
        # Behind a path or a port the ending of a host is not the last.
        or word.partition(ending)[2][:1] in ("/", ":")
        for ending in _ENDING.findall(word)
    )  # fmt: skip


def _is_same(word: str, target: str) -> bool:
    """Whether the address ``word`` is ``target`` or the host of it."""
    if target.startswith("mailto:"):
        return word == target.removeprefix("mailto:")
    named, real = _PLACE.fullmatch(word), _PLACE.fullmatch(target)
    if not named or not real or (named[1] and named[1] != real[1]):
        return False
    if _host(named[2]) != _host(real[2]):
        return False
    return named[3] in ("", "/") or named[3].rstrip("/") == real[3].rstrip("/")


def _host(name: str) -> str:
    return name.removeprefix("www.").rstrip(".")


def _in_ascii(target: str) -> str:
    """``target`` with a host in other letters as the name that is looked up: these letters look like others."""
    return _HOST.sub(lambda found: ".".join(map(_punycode, found[0].split("."))), target)


def _punycode(label: str) -> str:
    if label.isascii():
        return label
    plain = unicodedata.normalize("NFKC", label).casefold()
    return plain if plain.isascii() else f"xn--{plain.encode('punycode').decode()}"
