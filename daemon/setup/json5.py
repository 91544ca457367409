"""JSON as people write it into configurations: with comments, trailing commas, bare keys and single quotes. Pure."""

import json
import re
from typing import cast

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<double>"(?:[^"\\]|\\.)*")|(?P<single>'(?:[^'\\]|\\.)*')"""
    r"""|(?P<comma>,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[\]}]))|(?P<key>[A-Za-z_$][\w$]*)(?=\s*:)""",
    re.DOTALL,
)


def read_json5(text: str) -> dict[str, object]:
    """The object that ``text`` holds; an empty one for any other value.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        value = _value(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(_TOKEN.sub(_plain, text))


def _plain(found: re.Match[str]) -> str:
    if found["double"]:
        return found["double"]
    if found["single"]:
        inner = found["single"][1:-1].replace("\\'", "'")
        return '"' + re.sub(r'(?<!\\)"', '\\"', inner) + '"'
    return f'"{found["key"]}"' if found["key"] else ""
