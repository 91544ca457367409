"""Tool names that every model's API accepts, for tools with other names. Pure."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from workers.tools.registry import NAME_MAX_CHARS, Tool

TOOL_NAME = re.compile(rf"[a-zA-Z0-9_-]{{1,{NAME_MAX_CHARS}}}")
"""Of a function (OpenAI, "Function calling"; Anthropic and the others take no more)."""

PROPERTY_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""Of a property of its arguments (Anthropic, "input_schema.properties: Property keys should match pattern")."""


def named(tools: Sequence[Tool], taken: Iterable[str]) -> tuple[Tool, ...]:
    """``tools``, each under a name of its own that models take and that is not ``taken``."""
    used, names = set(taken), dict[int, str]()
    for at, tool in enumerate(tools):
        if TOOL_NAME.fullmatch(tool.name) and tool.name not in used:
            used.add(tool.name)
            names[at] = tool.name
    # By their own names, not as they come: a server that lists its tools in another order changes nothing.
    for at, tool in sorted(enumerate(tools), key=lambda each: each[1].name):
        if at not in names:
            names[at] = _numbered(tool.name, TOOL_NAME, "tool", used)
            used.add(names[at])
    return tuple(tool if tool.name == names[at] else replace(tool, name=names[at]) for at, tool in enumerate(tools))


def property_names(own: Iterable[str]) -> Mapping[str, str]:
    """The property names that strict servers refuse, each with one that they take instead."""
    found, used = dict[str, str](), set(own)
    for name in sorted(used):
        if not PROPERTY_NAME.fullmatch(name):
            found[name] = _numbered(name, PROPERTY_NAME, "field", used)
            used.add(found[name])
    return found


def _numbered(name: str, rule: re.Pattern[str], otherwise: str, used: Collection[str]) -> str:
    plain = _plain(name) or otherwise
    number, found = 1, plain[:NAME_MAX_CHARS]
    while found in used or not rule.fullmatch(found):
        number += 1
        found = f"{plain[: NAME_MAX_CHARS - len(str(number)) - 1]}_{number}"
    return found


def _plain(name: str) -> str:
    """``name`` in letters, digits, ``_`` and ``-``: accents go, each run of other signs becomes ``_``."""
    letters = "".join(each for each in unicodedata.normalize("NFKD", name) if not unicodedata.combining(each))
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", letters).strip("_")
