"""Translates the command line's answers and errors to Chinese.

Public: ``chinese`` translates a text, ``templates`` has the translations.
Begin with ``errors.toml``. A template has ``{}`` for each name or number; a text without a template stays English.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

__all__ = ["chinese", "templates"]


@cache
def templates() -> Mapping[str, str]:
    """Chinese by English template, the most specific first. ``{0}`` is the first value of the English text."""
    found: dict[str, str] = {}
    for path in Path(__file__).parent.glob("*.toml"):
        for table in tomllib.loads(path.read_text(encoding="utf-8")).values():
            found |= table
    return dict(sorted(found.items(), key=lambda each: len(each[0].replace("{}", "")), reverse=True))


def chinese(text: str) -> str:
    """``text`` in Chinese; unchanged where no template fits.

    The values in a text may be texts themselves. Lines, indented texts, and a text after a name and a colon, are
    translated by themselves.
    """
    if not text.strip():
        return text
    name, colon, rest = text.partition(": ")
    for template, said in templates().items():
        if values := _values(template, text):
            return said.format(*map(chinese, values[1:]))
        if " " not in name.strip() and _values(template, rest):
            return f"{name}{colon}{chinese(rest)}"
    if indent := text[: -len(text.lstrip())]:
        return f"{indent}{chinese(text.lstrip())}"
    if "\n" in text:
        return "\n".join(map(chinese, text.split("\n")))
    return f"{name}{colon}{chinese(rest)}" if colon else text


def _values(template: str, text: str) -> tuple[str, ...]:
    """``text`` and the values in it; empty if the template does not fit."""
    pieces = template.split("{}")
    if ("\n" in text and "\n" not in template) or not all(piece in text for piece in pieces):
        return ()
    found = re.fullmatch("(.*?)".join(map(re.escape, pieces)), text, re.DOTALL)
    return (text, *found.groups()) if found else ()
