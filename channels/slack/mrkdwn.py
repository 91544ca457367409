"""Slack's form of writing, and what it reads as: plain text, in which people and channels have names. Pure.

Slack escapes ``&``, ``<`` and ``>`` in what people write; what stands in ``<…>`` is a person, a channel, a link or
something special (docs.slack.dev, "Formatting message text").
"""

import re
from collections.abc import Iterator, Mapping

from channels.name_directory import name_in
from channels.text.text_split import sound

__all__ = ["name_in", "sound"]

NOBODY: Mapping[str, str] = {}
"""No names are known."""

_marked = re.compile(r"<([^<>\s][^<>\n]*)>")
_escaped = re.compile(r"&(lt|gt|amp);")
_either = re.compile(f"{_marked.pattern}|{_escaped.pattern}")
_PLAIN = {"lt": "<", "gt": ">", "amp": "&"}

SHOWN_AS_IS = ("mailto:", "tel:")
"""Links that say no more than what is shown for them."""


def plain(text: str, names: Mapping[str, str] = NOBODY) -> str:
    """``text`` as people read it; ``names`` are those of people by id, who are called by their id otherwise."""
    # In one go: an escaped mark is none, also once it is unescaped.
    return sound(_either.sub(lambda found: _read(found[1], names) if found[1] else _PLAIN[found[2]], text))


def people_in(text: str) -> Iterator[str]:
    """The ids of the people whom ``text`` names."""
    for marked in _marked.finditer(text):
        if marked[1].startswith("@"):
            yield marked[1][1:].partition("|")[0]


def without_call(text: str, user: str) -> str:
    """``text`` without the name of ``user`` that it begins with."""
    called = re.match(rf"(?:\s*<@{re.escape(user)}(?:\|[^<>\n]*)?>[\s,:]*)+", text)
    return text[called.end() :] if called else text


def unescaped(text: str) -> str:
    """``text`` with what Slack escapes as it was written."""
    return _escaped.sub(lambda found: _PLAIN[found[1]], text)


def linked(url: str, label: str) -> str:
    """A link as people read it, who see its ``label``."""
    if not label or label == url:
        return url
    # A link that Slack found in a text is shown as it was written: without a scheme, or with another case.
    bare = url.partition("://")[2] or url
    if url.startswith(SHOWN_AS_IS) or label.rstrip("/").casefold() == bare.rstrip("/").casefold():
        return label
    return f"[{label}]({url})"


def _read(marked: str, names: Mapping[str, str]) -> str:
    """What stands in ``<…>``, as people read it."""
    what, _, label = marked.partition("|")
    label = unescaped(label)
    sign, name = what[:1], what[1:]
    if sign == "@":
        return f"@{names.get(name) or label.removeprefix('@') or name}"
    if sign == "#":
        return f"#{label.removeprefix('#') or name}"
    if sign == "!":
        return _special(name, label)
    return linked(unescaped(what), label)


def _special(name: str, label: str) -> str:
    kind, _, rest = name.partition("^")
    if kind == "date":
        return label or rest
    if kind == "subteam":
        return f"@{label.removeprefix('@') or rest}"
    return label or f"@{kind}"
