"""Names of folders and files in an export: for people to read, safe on every file system, no two the same. Pure."""

import re
from collections.abc import Sequence
from urllib.parse import unquote

MOST_CHARS = 60

# What is no letter, digit or one of these separates words, or may not stand in a name somewhere.
_OTHERS = re.compile(r"[^\w.~-]+")


def names_of(keys: Sequence[str]) -> dict[str, str]:
    """A name for each of the session keys or scopes: its number, and what can be read of it, as ``1_web_王峰``."""
    return {key: f"{number}_{_readable(key)}" for number, key in enumerate(keys, 1)}


def _readable(key: str) -> str:
    # A part may have been encoded once more inside a scope.
    return _OTHERS.sub("_", unquote(unquote(key)))[:MOST_CHARS]
