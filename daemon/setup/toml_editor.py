"""Tables as TOML that a person can go on editing. Pure."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from daemon.config.config_output import literal
from daemon.config.environment import Table, is_table

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEAD = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$")
_ANY_HEAD = re.compile(r"\s*\[")


def toml_of(tables: Table) -> str:
    """``tables`` as TOML: values first, then sections; reading it gives the same tables."""
    return "\n".join(_section((), tables)).strip("\n") + "\n"


def changed(text: str, tables: Table) -> str:
    """``text`` changed so that it holds ``tables``, with its comments and order wherever that can be done."""
    try:
        edited = "\n".join(_edited(text.splitlines(), tomllib.loads(text), tables)).rstrip("\n") + "\n"
        if tomllib.loads(edited) == tables:
            return edited
    except tomllib.TOMLDecodeError:
        pass  # a value over several lines, or another way of writing that is not understood here
    return toml_of(tables)


def _section(path: tuple[str, ...], table: Mapping[str, object]) -> Iterator[str]:
    values = {key: value for key, value in table.items() if not is_table(value) and not _tables(value)}
    if path and (values or not table):
        yield from ("", f"[{_dotted(path)}]")
    for key, value in values.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        if is_table(value):
            yield from _section((*path, key), value)
        for member in _tables(value):
            yield from ("", f"[[{_dotted((*path, key))}]]")
            yield from _inside((*path, key), member)


def _inside(path: tuple[str, ...], table: Table) -> Iterator[str]:
    """What stands below ``[[path]]``: everything in one line each, since a section would end it."""
    yield from (f"{_key(key)} = {_value(value)}" for key, value in table.items())


def _tables(value: object) -> Sequence[Table]:
    """The sections in a list of them; none of any other value."""
    members = cast("list[object]", value) if isinstance(value, list) else []
    return cast("list[Table]", members) if members and all(map(is_table, members)) else []


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(map(_key, path))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else literal(key)


def _value(value: object) -> str:
    if is_table(value):
        inside = ", ".join(f"{_key(key)} = {_value(member)}" for key, member in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, cast("list[object]", value))) + "]"
    return literal(value)


# Changing a text line by line


def _edited(lines: list[str], before: Table, after: Table) -> list[str]:
    for path, key, value in differences(before, after):
        lines = _with_value(lines, path, key, value)
    return lines


def differences(
    before: Table, after: Table, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, object | None]]:
    """Each key that is another afterwards, with its section; None: it is gone."""
    for key in before:
        if key not in after:
            yield path, key, None
    for key, value in after.items():
        old = before.get(key)
        if is_table(value) and (old is None or is_table(old)):
            yield from differences(old or {}, value, (*path, key))
        elif value != old or type(value) is not type(old):
            yield path, key, value


def _with_value(lines: list[str], path: tuple[str, ...], key: str, value: object | None) -> list[str]:
    begin, end = _place(lines, path)
    if begin is None:
        if value is None:
            return lines
        return [*lines, "", f"[{_dotted(path)}]", f"{_key(key)} = {_value(value)}"]
    own = re.compile(rf"\s*{re.escape(_key(key))}\s*=")
    at = next((at for at in range(begin, end) if own.match(lines[at])), None)
    new = [] if value is None else [f"{_key(key)} = {_value(value)}"]
    if at is not None:
        upto = _upto(lines, at, end)
        return [*lines[:at], *(line + _comment(lines[upto - 1]) for line in new), *lines[upto:]]
    while end > begin and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], *new, *lines[end:]]


def _upto(lines: list[str], at: int, end: int) -> int:
    """The line after a value that begins at the line ``at``, and may go over several."""
    return next((upto for upto in range(at + 1, end + 1) if _reads("\n".join(lines[at:upto]))), at + 1)


def _comment(line: str) -> str:
    """The comment behind a value, with the blanks before it; empty if it has none."""
    # A sign in a text begins no comment: without its end, what is before it cannot be read.
    at = next((at for at, sign in enumerate(line) if sign == "#" and _is_value(line[:at])), len(line))
    return line[len(line[:at].rstrip()) :] if at < len(line) else ""


def _is_value(text: str) -> bool:
    """Whether a key and its value end here, or the last line of a list."""
    return text.strip() != "" and (_reads(text) or _reads(f"list = [{text}"))


def _reads(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _place(lines: list[str], path: tuple[str, ...]) -> tuple[int | None, int]:
    """The lines of a section; None: there is no such heading."""
    begin = 0 if not path else None
    for at, line in enumerate(lines):
        if begin is not None and _ANY_HEAD.match(line):
            return begin, at
        found = _HEAD.match(line) if begin is None else None
        if found and _parts(found[1]) == path:
            begin = at + 1
    return begin, len(lines)


def _parts(heading: str) -> tuple[str, ...] | None:
    """The names in a heading as ``[bots."a b"]``; None when it is none."""
    try:
        table: object = tomllib.loads(f"[{heading}]")
    except tomllib.TOMLDecodeError:
        return None
    parts: list[str] = []
    while is_table(table) and table:
        ((name, table),) = table.items()
        parts.append(name)
    return tuple(parts)
