"""The configuration in force as TOML or plain values, secrets starred."""

import re
from collections.abc import Iterator, Mapping
from typing import cast

import msgspec

from daemon.config.config_keys import fields_of, join, readable
from daemon.config.config_loader import LoadedConfig
from daemon.config.schema import Config
from daemon.config.secret import STARS, Secret, masked_url

Values = dict[str, object]
_URLS = ("redis.url", "archive.url")
_QUERY = re.compile(r"(\?).+")
"""Of an address: some servers want their key there."""
_PLACE = re.compile(r"\[\d+\]")
_ESCAPED = re.compile(r'[\x00-\x1f\x7f"\\]')


def values(loaded: LoadedConfig, *, defaults: bool = False) -> Values:
    """The keys that were set, by section; with ``defaults`` all keys. Every bot and channel has a section."""
    return _section("", loaded.config, None if defaults else loaded.sources)


def toml(loaded: LoadedConfig, *, defaults: bool = False) -> str:
    """``values`` as TOML with the source of each key in a comment."""
    found = f"file: {readable(str(loaded.path))}" if loaded.path else "file: none"
    lines = [f"# {found}", *_offline(loaded.config), *_lines("", values(loaded, defaults=defaults), loaded.sources)]
    return "\n".join(lines) + "\n"


def _section(path: str, section: msgspec.Struct, given: Mapping[str, str] | None) -> Values:
    found: Values = {}
    for key in fields_of(type(section)):
        here, value = join(path, key), getattr(section, key)
        if isinstance(value, msgspec.Struct):
            found[key] = _section(here, value, given)
        elif listed := _structs(value):
            found[key] = [_section(f"{here}[{place}]", member, given) for place, member in enumerate(listed, 1)]
        elif isinstance(value, dict):
            found[key] = _named(here, cast("dict[str, object]", value), given)
        elif (given is None or here in given) and not getattr(section, f"{key}_file", ""):
            # A secret that was read from a file is shown by that file's name alone.
            found[key] = _shown(here, value)
    return {key: value for key, value in found.items() if value != {}}


def _named(path: str, members: Mapping[str, object], given: Mapping[str, str] | None) -> Values:
    return {
        name: _tag(member) | _section(f"{path}.{name}", member, given)
        if isinstance(member, msgspec.Struct)
        else _shown(f"{path}.{name}", member)
        for name, member in members.items()
    }


def _structs(value: object) -> list[msgspec.Struct]:
    """The sections in a list of them; none in any other value."""
    members = cast("tuple[object, ...]", value) if isinstance(value, tuple) else ()
    return [member for member in members if isinstance(member, msgspec.Struct)]


def _tag(section: msgspec.Struct) -> Values:
    config = section.__struct_config__
    return {config.tag_field: config.tag} if config.tag_field else {}


def _shown(path: str, value: object) -> object:
    if isinstance(value, Secret):
        return masked_url(value) if path in _URLS else str(value)
    if isinstance(value, str) and path.endswith("url"):
        return shown_url(value)
    return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value


def shown_url(url: str) -> str:
    """An address without what its query holds."""
    return _QUERY.sub(rf"\1{STARS}", url)


def _offline(config: Config) -> Iterator[str]:
    for name, bot in config.bots.items():
        if bot.model.offline:
            yield f"# {name} has no model: the offline mock model answers and states that it is not a real model"


def _lines(path: str, section: Values, sources: Mapping[str, str]) -> Iterator[str]:
    for key, value in section.items():
        if not isinstance(value, dict) and not _tables(value):
            source = sources.get(join(path, key), "its name" if key == "type" else "default")
            # TOML has no word for "unset".
            yield f"# {key} is not set" if value is None else f"{key} = {literal(value)}  # {source}"
    for key, value in section.items():
        if isinstance(value, dict):
            here, inner = join(path, key), cast("Values", value)
            named = path in ("bots", "channels", "people")
            if named or any(not isinstance(entry, dict) for entry in inner.values()):
                # A section inside a listed one belongs to the last of the list: TOML writes no place.
                yield f"\n[{_PLACE.sub('', here)}]"
            yield from _lines(here, inner, sources)
    for key, value in section.items():
        for place, member in enumerate(_tables(value), 1):
            here = join(path, key)
            yield f"\n[[{_PLACE.sub('', here)}]]"
            yield from _lines(f"{here}[{place}]", member, sources)


def _tables(value: object) -> list[Values]:
    members = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Values", member) for member in members if isinstance(member, dict)]


def literal(value: object) -> str:
    """A value in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(literal(item) for item in cast("list[object]", value)) + "]"
    if isinstance(value, str):
        return '"' + _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", value) + '"'
    return str(value)
