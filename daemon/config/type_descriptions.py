"""Descriptions of types for error messages: the allowed values, the given value, and the nearest correct name."""

import datetime as dt
import difflib
import re
from collections.abc import Iterable
from types import NoneType
from typing import Annotated, Literal, cast, get_args, get_origin

from msgspec import Meta

from daemon.config.secret import Secret
from daemon.config.section import Seconds

MAX_SHOWN_CHARS = 60
_PLAIN = re.compile(r"[\w-]+…?")


def bare(kind: object) -> tuple[object, Meta | None]:
    """A field's type without ``None``, and the limits it is annotated with."""
    for member in get_args(kind):
        if NoneType in get_args(kind) and member is not NoneType:
            return bare(member)
    if get_origin(kind) is Annotated:
        base, meta = get_args(kind)
        return base, meta
    return kind, None


def expected(kind: object, value: object) -> str:
    """The values that a key of this type accepts, for a sentence with "expected"; ``value`` is the given value."""
    base, meta = bare(kind)
    if get_origin(base) is Literal:
        return "one of " + ", ".join(get_args(base))
    if get_origin(base) is tuple:
        return "a list of strings"
    if base is bool:
        return "true or false"
    if base is int or base is float:
        unit = " of seconds" if kind == Seconds else ""
        return f"a {'whole ' if base is int else ''}number{unit}{_limits(meta, value)}"
    return _text(meta)


def _limits(meta: Meta | None, value: object) -> str:
    if meta is None:
        return ""
    if meta.gt is not None:
        # The upper limit is only news to who went beyond it.
        beyond = isinstance(value, int | float) and meta.le is not None and value > meta.le
        return f" above {meta.gt:,}" + (f" and at most {meta.le:,}" if beyond else "")
    return f" from {meta.ge:,} to {meta.le:,}"


def _text(meta: Meta | None) -> str:
    if meta is None or meta.max_length is None:
        return "text"
    if meta.pattern is None:
        return f"text of at most {meta.max_length} characters"
    return f"text of {meta.min_length} to {meta.max_length} letters, digits and _ . -"


def got(value: object) -> str:
    """The value of a key, for a sentence with "got"; cut if it is long."""
    if isinstance(value, str):
        return repr(value if len(value) <= MAX_SHOWN_CHARS else value[:MAX_SHOWN_CHARS] + "…")
    if isinstance(value, list | tuple):
        wrong = [got(item) for item in cast("Iterable[object]", value) if not isinstance(item, str)]
        return f"a list with {wrong[0]}" if wrong else "a list"
    # A number of thousands of digits cannot even be printed.
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 10**15):
        return str(value).lower()
    return sort_of(value)


def sort_of(value: object) -> str:
    """The kind of a value that must not be shown."""
    sorts: list[tuple[type | tuple[type, ...], str]] = [
        (bool, "true or false"),
        ((int, float), "a number"),
        ((str, Secret), "text"),
        ((list, tuple), "a list"),
        (dict, "a section"),
        ((dt.date, dt.time), "a date or time"),
    ]
    return next((name for kind, name in sorts if isinstance(value, kind)), "something else")


def nearest(name: str, names: Iterable[str]) -> str:
    """The name in ``names`` that was probably meant; empty if none is similar."""
    by_folded = {candidate.casefold(): candidate for candidate in names}
    found = difflib.get_close_matches(name[:80].casefold(), by_folded, n=1)
    return by_folded[found[0]] if found else ""


def printable(text: str) -> str:
    """A key or name for a line of an error: quoted and escaped unless it is plain, and cut if it is long."""
    shown = text if len(text) <= MAX_SHOWN_CHARS else text[:MAX_SHOWN_CHARS] + "…"
    return shown if _PLAIN.fullmatch(shown) else repr(shown)


def readable(text: str) -> str:
    """A path or variable name for a line of an error: quoted and escaped if it is not printable."""
    return text if text.isprintable() else repr(text)
