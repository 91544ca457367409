"""The keys of the configuration, and descriptions of their types for error messages."""

import datetime as dt
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import NoneType
from typing import Annotated, Literal, TypeGuard, cast, get_args, get_origin

import msgspec
from msgspec import Meta
from msgspec.structs import FieldInfo

from daemon.config.schema import Config
from daemon.config.secret import Secret
from daemon.config.section import Seconds

# Descriptions of types for error messages: the allowed values, the given value, and the nearest correct name.

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
        limits = _limits(meta, value)
        if kind == Seconds:
            return f"a number of seconds{limits}"
        return f"a whole number{limits}" if base is int else f"a number{limits}"
    return _text(meta)


def _limits(meta: Meta | None, value: object) -> str:
    if meta is None:
        return ""
    if meta.gt is not None:
        # The upper limit is only news to who went beyond it.
        beyond = isinstance(value, int | float) and meta.le is not None and value > meta.le
        return f" above {meta.gt:,} and at most {meta.le:,}" if beyond else f" above {meta.gt:,}"
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


# All keys that a configuration can contain, derived from the schema.

Section = type[msgspec.Struct]

NAME_RULE = (
    "a name must begin with a letter a-z or a digit, contain only a-z, 0-9, _ and -, and have at most 64 characters"
)
"""Of bots and channels: they stand in session keys, folders and variables."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def is_name(text: str) -> bool:
    """Whether a bot or a channel can have this name."""
    return _NAME.fullmatch(text) is not None


def is_section(kind: object) -> TypeGuard[Section]:
    """Whether a field of this type is a section."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def section_listed(kind: object) -> Section | None:
    """The section type in a list field; None if the field is not a list of sections."""
    member = get_args(kind)[0] if get_origin(kind) is tuple else None
    return member if is_section(member) else None


def is_texts(kind: object) -> bool:
    """Whether a field of this type is a section with free keys and text values."""
    return get_origin(kind) is dict and not any(map(is_section, members_of(get_args(kind)[1]).values()))


@cache
def fields_of(kind: Section) -> dict[str, FieldInfo]:
    """The keys of a section."""
    return {entry.name: entry for entry in msgspec.structs.fields(kind)}


def members_of(kind: object) -> dict[str, Section]:
    """The structs that a named section can be, by their tags. A struct without a tag has its own name."""
    members = get_args(kind) or (kind,)
    return {str(member.__struct_config__.tag): member for member in members if is_section(member)}


def join(path: str, key: str) -> str:
    """The dotted path of ``key`` in the section ``path``."""
    return f"{path}.{printable(key)}" if path else printable(key)


def all_keys(names: Mapping[str, Iterable[str]], kind: Section = Config, path: str = "") -> Iterator[str]:
    """The dotted paths of all possible keys, for bots and channels with these names.

    Lists of sections are left out: no variable can set what is in them.
    """
    for key, entry in fields_of(kind).items():
        here = join(path, key)
        if is_section(entry.type):
            yield from all_keys(names, entry.type, here)
        elif is_texts(entry.type):
            yield f"{here}.<name>"
        elif get_origin(entry.type) is dict:
            yield from _named_keys(names, get_args(entry.type)[1], here)
        elif section_listed(entry.type) is None:
            yield here


def _named_keys(names: Mapping[str, Iterable[str]], kind: object, path: str) -> Iterator[str]:
    members = members_of(kind)
    for name in names.get(path, ("<name>",)):
        yield from (f"{path}.{name}.type",) if len(members) > 1 else ()
        for member in [members[name]] if name in members else members.values():
            yield from all_keys(names, member, f"{path}.{name}")


def elsewhere(section: str, key: str) -> str:
    """The correct place of a key that was written into the wrong section; empty if unknown."""
    known = all_keys({"bots": ["<name>"], "channels": ["<name>"]})
    found = [path for path in known if path.rpartition(".")[2] == key]
    near = [path for path in found if path.partition(".")[0] == section.partition(".")[0]]
    return (near or found or [""])[0]
