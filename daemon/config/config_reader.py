"""Reads all given keys: each key must be known and its value must fit its type. The source of each key is recorded.

What is wrong becomes a ``ConfigProblem`` and is left out, so that one walk finds all of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo

from daemon.config.channel_plugins import adapter, installed
from daemon.config.config_keys import (
    NAME_RULE,
    Section,
    all_keys,
    bare,
    elsewhere,
    expected,
    fields_of,
    got,
    is_name,
    is_section,
    is_texts,
    join,
    members_of,
    nearest,
    section_listed,
    sort_of,
)
from daemon.config.environment import Table, Variable, is_table, value_of, variable_of
from daemon.config.secret import Secret, decode_secret, holds_secret, read_secret_file
from daemon.config.section import PathText
from daemon.errors import ConfigError


class ConfigProblem(msgspec.Struct, frozen=True):
    """A problem of the configuration."""

    path: str
    """Dotted path of the key."""
    text: str
    """What is wrong and what is allowed; never holds a secret."""
    needs: tuple[str, ...] = ()
    """Other keys that it speaks of: when one of those is wrong itself, this says nothing new."""


@dataclass
class ConfigReader:
    """The state of a reading."""

    folder: Path
    """Where the file lies: relative paths in it start there."""
    names: Mapping[str, Iterable[str]]
    """Of the bots and the channels that are given, for suggestions."""
    findings: list[ConfigProblem] = field(default_factory=list[ConfigProblem])
    sources: dict[str, str] = field(default_factory=dict[str, str])
    """Dotted path of every key that was given → ``file`` or ``environment <variable>``."""
    warnings: list[str] = field(default_factory=list[str])
    foreign: dict[str, Section] = field(default_factory=dict[str, Section])
    """Dotted path of each section whose type another package brings → its struct."""
    inline: list[str] = field(default_factory=list[str])
    """Dotted path of each secret that stands in the file itself."""
    _dropped: set[str] = field(default_factory=set[str])

    def section(self, path: str, kind: Section, given: object) -> Table:
        """The usable values of a section, ready to be converted to ``kind``."""
        if not is_table(given):
            self._not_a_section(path, kind, given)
            return {}
        fields = fields_of(kind)
        clean: Table = {}
        for key, value in given.items():
            here = join(path, key)
            if key in fields:
                self._entry(clean, here, fields[key], value)
            elif key != kind.__struct_config__.tag_field:
                self._unknown(path, key, kind, value)
        self._secret_files(path, fields, clean)
        return clean

    def leaf(self, path: str, kind: object, value: object) -> object:
        """The value of a key, or ``UNSET`` if the key does not accept the value."""
        self._note(path, value)
        raw = value_of(value.text, kind) if isinstance(value, Variable) else value
        try:
            converted = msgspec.convert(raw, cast("Any", kind), dec_hook=decode_secret)
        except msgspec.ValidationError:
            instead = sort_of(raw) if bare(kind)[0] is Secret else got(raw)
            return self.refuse(path, f"expected {expected(kind, raw)}, got {instead}")
        if isinstance(converted, str) and not _encodes(converted):
            return self.refuse(path, "expected text, got bytes that are not UTF-8")
        if kind == PathText:
            return self._absolute(path, cast("str", converted), isinstance(value, Variable))
        if isinstance(converted, Secret) and not isinstance(value, Variable) and holds_secret(converted):
            self.inline.append(path)
        return raw

    def refuse(self, path: str, text: str) -> object:
        """Record that the key at ``path`` cannot be used. Returns ``UNSET``."""
        self.findings.append(ConfigProblem(path, text))
        self._dropped.add(path)
        return msgspec.UNSET

    def refused(self, path: str) -> bool:
        """Whether a value was given at ``path`` but cannot be used."""
        return any(path == dropped or path.startswith(f"{dropped}.") for dropped in self._dropped)

    def _entry(self, clean: Table, path: str, entry: FieldInfo, value: object) -> None:
        if is_section(entry.type):
            clean[entry.name] = self.section(path, entry.type, value)
        elif is_texts(entry.type):
            clean[entry.name] = self._texts(path, get_args(entry.type)[1], value)
        elif get_origin(entry.type) is dict:
            clean[entry.name] = self._named(path, get_args(entry.type)[1], value)
        elif (member := section_listed(entry.type)) is not None:
            clean[entry.name] = self._listed(path, member, value)
        elif (usable := self.leaf(path, entry.type, value)) is not msgspec.UNSET:
            clean[entry.name] = usable

    def _named(self, path: str, kind: object, given: object) -> Table:
        """The sections of ``[bots.<name>]``, ``[channels.<name>]`` and the like."""
        if not is_table(given):
            self._note(path, given)
            instead = sort_of(given.text if isinstance(given, Variable) else given)
            self.refuse(path, f"expected sections [{path}.<name>], got {instead}")
            return {}
        clean: Table = {}
        for name, value in given.items():
            here = join(path, name)
            if not is_name(name):
                # Not dropped: what stands in the section is checked like any other's.
                self.findings.append(ConfigProblem(here, f"the name is not valid: {NAME_RULE}"))
            member, tag = self._member(here, name, kind, value)
            if member is not None:
                clean[name] = self.section(here, member, value) | tag
        return clean

    def _texts(self, path: str, kind: object, given: object) -> Table:
        """The texts of a section whose keys are free."""
        if not is_table(given):
            self._note(path, given)
            self.refuse(path, f"expected a section [{path}], got {sort_of(given)}")
            return {}
        clean: Table = {}
        for key, value in given.items():
            # The names of variables of the environment are read without regard to case.
            name = key.upper() if isinstance(value, Variable) else key
            if (usable := self.leaf(join(path, name), kind, value)) is not msgspec.UNSET:
                clean[name] = usable
        return clean

    def _listed(self, path: str, kind: Section, given: object) -> list[Table]:
        """The sections ``[[path]]``, in order; each has its place, from 1, in the paths below."""
        self._note(path, given)
        if not isinstance(given, list):
            text = f"expected a list of sections [[{path}]], got {sort_of(given)}"
            if isinstance(given, Variable):
                text = (
                    f"an environment variable cannot set this list. Add the [[{path}]] sections to the "
                    "configuration file"
                )
            self.refuse(path, text)
            return []
        members = cast("list[object]", given)
        return [self.section(f"{path}[{place}]", kind, member) for place, member in enumerate(members, 1)]

    def _member(self, path: str, name: str, kind: object, value: object) -> tuple[Section | None, Table]:
        """Which struct a named section is, and its tag: where there are several, ``type`` or else its name says so."""
        members = members_of(kind)
        if len(members) == 1:
            return next(iter(members.values())), {}
        here = join(path, "type")
        given = value.get("type", name) if is_table(value) else name
        tag = given.text.strip().lower() if isinstance(given, Variable) else given
        if is_table(value) and "type" in value:
            self._note(here, given)
        if isinstance(tag, str) and tag in members:
            return members[tag], {"type": tag}
        try:
            found = adapter(tag) if isinstance(tag, str) else None
        except ConfigError as error:
            self.refuse(here, str(error))
            return None, {}
        if found is not None:
            self.foreign[path] = found.config
            return found.config, {"type": tag}
        known = ", ".join([*members, *installed()])
        missing = here not in self.sources
        what = (
            f"this setting is missing. Choose one of {known}"
            if missing
            else f"{got(tag)} is not a type in this version of Millpond ({known}), and no installed package provides it"
        )
        self.refuse(here, what)
        return None, {}

    def _secret_files(self, path: str, fields: dict[str, FieldInfo], clean: Table) -> None:
        """Read the file of each secret that is given by file."""
        for key, entry in fields.items():
            file = clean.get(f"{key}_file")
            if not file or entry.type is not Secret:
                continue
            here = join(path, f"{key}_file")
            if clean.get(key):
                self.refuse(here, f"{key} is also set. Set only one of the two")
                continue
            try:
                clean[key], warning = read_secret_file(Path(cast("str", file)))
            except ConfigError as error:
                self.refuse(here, str(error))
            else:
                self.warnings += [f"{here}: {warning}"] if warning else []

    def _absolute(self, path: str, text: str, from_variable: bool) -> object:
        if not text.isprintable():
            return self.refuse(path, f"expected a path, got {got(text)}")
        try:
            found = Path(text).expanduser()
            base = Path.cwd() if from_variable else self.folder
            return str(found if found.is_absolute() else base / found) if text else ""
        except (OSError, RuntimeError):
            return self.refuse(
                path,
                f"{got(text)} cannot be resolved, because the home folder or the current folder was not found. "
                "Write the full path",
            )

    def _unknown(self, section: str, key: str, kind: Section, value: object) -> None:
        path = join(section, key)
        self._note(path, value)
        if isinstance(value, Variable):
            near = nearest(value.name.upper(), map(variable_of, all_keys(self.names)))
        else:
            near = nearest(key, fields_of(kind)) or elsewhere(section, key)
        self.refuse(path, "unknown key; " + (f"did you mean {near}?" if near else _allowed(kind)))

    def _not_a_section(self, path: str, kind: Section, given: object) -> None:
        self._note(path, given)
        if isinstance(given, Variable):
            first = variable_of(join(path, next(iter(fields_of(kind)))))
            self.refuse(
                path,
                f"this is a section, not a single setting. Set each setting of the section separately, such as {first}",
            )
        else:
            self.refuse(path, f"expected a section [{path}], got {sort_of(given)}")

    def _note(self, path: str, value: object) -> None:
        variable = _variable_in(value)
        self.sources[path] = f"environment {variable.name}" if variable else "file"


def _variable_in(value: object) -> Variable | None:
    """The variable that ``value`` came from; of a section of them, the first."""
    while isinstance(value, dict) and value:
        value = next(iter(cast("dict[str, object]", value).values()))
    return value if isinstance(value, Variable) else None


def _allowed(kind: Section) -> str:
    return "allowed are " + ", ".join(fields_of(kind))


def _encodes(text: str) -> bool:
    # Undecodable bytes of the environment arrive as lone surrogates, which no file and no socket takes.
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in text)
