"""All keys that a configuration can contain, derived from the schema."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TypeGuard, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo

from daemon.config.schema import Config
from daemon.config.type_descriptions import printable

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
