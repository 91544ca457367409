"""Converts JSON Schemas of tool servers to a form that every model's API accepts. Pure.

What strict servers refuse and the protocol allows: references, which are replaced by what they refer to; a schema that
is no object's, or a choice of several; arrays that do not say of what; names of properties with other signs than
``[a-zA-Z0-9_.-]``; forms of older drafts. Only the server itself knows all of its rules, and it holds each call
against them: a schema that was mended allows the same or more.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from urllib.parse import unquote

import msgspec

from workers.tools.registry import NAME_MAX_CHARS, Tool

# Tool names that every model's API accepts, for tools with other names. Pure.

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


SCHEMA_MAX_BYTES = 16_384
"""Largest schema that a model is told of."""

NODES_MAX = 2_000
"""Schemas within a schema; references that refer to each other can stand for any number of them."""

FOLLOWED_DEPTHS = (8, 3, 2, 1)
"""How deep references are followed: less deep where the schema would become too large."""

Schema = Mapping[str, Any]

_ONE = frozenset(
    (
        *("additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"),
        *("unevaluatedItems", "unevaluatedProperties"),
    )
)
_SEVERAL = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_BY_NAME = frozenset(("patternProperties", "properties"))
_LEFT_OUT = frozenset(
    (
        *("$anchor", "$comment", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef"),
        *("$ref", "$schema", "$vocabulary", "additionalItems", "definitions", "dependencies", "dependentRequired"),
        *("dependentSchemas",),
    )
)
"""What names and joins schemas, and what few servers of models know."""

_WITH_CONTENT = frozenset((*_ONE, *_SEVERAL, *_BY_NAME, "const", "default", "enum", "examples", "required", "type"))
"""Keywords of JSON Schema that hold objects or lists."""

_CHOICES = ("allOf", "anyOf", "oneOf")
_NOT_AT_THE_TOP = ("const", "else", "enum", "if", "not", "then")
"""Refused there by OpenAI and Anthropic, as are the choices."""


class _TooLarge(Exception):
    """There are more than ``NODES_MAX`` schemas."""


class RepairedSchema(msgspec.Struct, frozen=True, kw_only=True):
    """A schema that models take."""

    parameters: Schema
    own_names: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """Of properties that are called otherwise in ``parameters``: that name, and the server's."""
    lost: tuple[str, ...] = ()
    """What could not be looked up, and says nothing to the model now."""

    def arguments(self, written: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments that a model wrote, as the server names them."""
        return cast("dict[str, Any]", _own(written, self.parameters, self.own_names)) if self.own_names else written


def mended(schema: object) -> RepairedSchema:
    """``schema`` as a model is told of it; what is empty or missing takes an object of any kind.

    Raises:
        ValueError: it cannot be used; the text says why.
    """
    if schema is True or not schema:
        schema = {}
    if not isinstance(schema, dict):
        raise ValueError("the tool's schema is not valid")  # noqa: TRY004 - as every other fault of a schema
    try:
        return _mended(cast("dict[str, Any]", schema))
    except RecursionError as error:
        raise ValueError("the tool's schema is nested too deeply") from error


def _mended(schema: Schema) -> RepairedSchema:
    from workers.tools.argument_check import ArgumentCheck  # noqa: PLC0415 - see ``Tool.argument_check``

    names = property_names(set(_names_in(schema)))
    for depth in FOLLOWED_DEPTHS:
        mender = _Mender(schema, names, depth=depth)
        try:
            found = mender.whole()
        except _TooLarge:
            continue
        if len(msgspec.json.encode(found)) <= SCHEMA_MAX_BYTES:
            ArgumentCheck(found)
            own = {alias: name for name, alias in names.items()}
            return RepairedSchema(parameters=found, own_names=own, lost=tuple(dict.fromkeys(mender.lost)))
    raise ValueError(f"the tool's schema is larger than {SCHEMA_MAX_BYTES:,} bytes")


def _names_in(value: object) -> Iterator[str]:
    """Every name of a property, wherever it stands."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            section = cast("dict[str, object]", each)
            left += section.values()
            if isinstance(known := section.get("properties"), dict):
                yield from cast("dict[str, object]", known)
            if isinstance(required := section.get("required"), list):
                yield from (name for name in cast("list[object]", required) if isinstance(name, str))
        elif isinstance(each, list):
            left += cast("list[object]", each)


class _Mender:
    """Mends one schema, references being followed ``depth`` deep."""

    def __init__(self, root: Schema, names: Mapping[str, str], *, depth: int) -> None:
        self._root = root
        self._names = names
        self._depth = depth
        self._left = NODES_MAX
        self.lost: list[str] = []

    def whole(self) -> dict[str, Any]:
        """All of it, as an object's."""
        found = self._schema(self._root, ())
        for choice in _CHOICES:
            self._join(found, found.pop(choice, ()), needs_all=choice == "allOf")
        for key in _NOT_AT_THE_TOP:
            found.pop(key, None)
        if not _may_be_object(found):
            raise ValueError(f"the tool's schema has the type {found['type']!r}, not object"[:200])
        found["type"] = "object"
        properties = found.setdefault("properties", {})
        for name in found.get("required", ()):
            properties.setdefault(name, {})
        return found

    def _join(self, found: dict[str, Any], parts: Sequence[dict[str, Any]], *, needs_all: bool) -> None:
        """Have ``found`` allow what its parts allow, all of them together or any."""
        objects = [part for part in parts if _may_be_object(part)]
        if parts and not objects:
            raise ValueError("the tool's schema does not describe an object")
        properties = found.setdefault("properties", {})
        for part in objects:
            for choice in _CHOICES:
                self._join(part, part.pop(choice, ()), needs_all=choice == "allOf")
            for name, each in part.get("properties", {}).items():
                known = properties.setdefault(name, each)
                if each and known != each:
                    others = known["anyOf"] if known.keys() == {"anyOf"} else [known]
                    properties[name] = {"anyOf": [*others, *([] if each in others else [each])]}
        required = [part.get("required", []) for part in objects]
        needed = [name for each in required for name in each if needs_all or all(name in other for other in required)]
        if needed:
            found["required"] = [*dict.fromkeys([*found.get("required", ()), *needed])]

    def _schema(self, value: object, refs: tuple[str, ...]) -> dict[str, Any]:
        self._left -= 1
        if self._left < 0:
            raise _TooLarge
        if value is False:
            return {"not": {}}
        if not isinstance(value, dict):
            return {}  # true, or nothing that could be meant
        section = cast("dict[str, Any]", value)
        found = {
            key: self._keyword(key, each, refs)
            for key, each in section.items()
            if key not in _LEFT_OUT and _says_something(key, each) and _is_known(key, each)
        }
        if "$ref" in section:
            found = {**self._followed(section["$ref"], refs), **found}
        return self._tidied(found)

    def _keyword(self, key: str, value: Any, refs: tuple[str, ...]) -> Any:
        if key == "items" and isinstance(value, list):
            return {"anyOf": self._schemas(cast("list[object]", value), refs)} if value else {}
        if key in _ONE:
            return value if isinstance(value, bool) and key != "items" else self._schema(value, refs)
        if key in _SEVERAL and isinstance(value, list):
            return self._schemas(cast("list[object]", value), refs)
        if key in _BY_NAME and isinstance(value, dict):
            known = cast("dict[str, object]", value).items()
            return {self._names.get(name, name): self._property(name, each, refs) for name, each in known}
        if key == "required" and isinstance(value, list):
            names = [name for name in cast("list[object]", value) if isinstance(name, str)]
            return [self._names.get(name, name) for name in dict.fromkeys(names)]
        return value

    def _schemas(self, values: Sequence[object], refs: tuple[str, ...]) -> list[dict[str, Any]]:
        return [self._schema(each, refs) for each in values]

    def _property(self, name: str, value: object, refs: tuple[str, ...]) -> dict[str, Any]:
        found = self._schema(value, refs)
        if name in self._names:
            said = found.get("description")
            return {**found, "description": f"{name}: {said}" if said else name}
        return found

    def _followed(self, ref: object, refs: tuple[str, ...]) -> dict[str, Any]:
        target = self._target(ref) if isinstance(ref, str) and ref.startswith("#") else None
        if not isinstance(target, dict):
            self.lost.append(str(ref)[:100])
            return {}
        section = cast("dict[str, Any]", target)
        if ref not in refs and len(refs) < self._depth:
            return self._schema(section, (*refs, cast("str", ref)))
        # Where it comes back to itself, or gets too deep, only what kind of thing it is.
        return {key: section[key] for key in ("type", "description") if isinstance(section.get(key), str)}

    def _target(self, ref: str) -> object:
        found: object = self._root
        for part in ref[1:].split("/")[1:] if len(ref) > 1 else ():
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict):
                found = cast("dict[str, object]", found).get(key)
            elif isinstance(found, list) and key.isdecimal() and int(key) < len(cast("list[object]", found)):
                found = cast("list[object]", found)[int(key)]
            else:
                return None
        return found if ref == "#" or ref.startswith("#/") else None

    @staticmethod
    def _tidied(found: dict[str, Any]) -> dict[str, Any]:
        """Without what older drafts allowed, and with what strict servers miss."""
        required, named = found.get("required"), found.get("type")
        is_array = named == "array" or (isinstance(named, list) and "array" in named)
        if is_array and not isinstance(found.get("items"), dict):
            found["items"] = {}
        for key, kind in (*((key, dict) for key in _BY_NAME), *((key, list) for key in _SEVERAL)):
            if not isinstance(found.get(key, kind()), kind) or found.get(key) == []:
                del found[key]  # PHP, for one, writes an empty object as []
        if required is not None and not isinstance(required, list):
            del found["required"]
        elif required and isinstance(known := found.get("properties"), dict):
            for name in cast("list[str]", required):
                cast("dict[str, Any]", known).setdefault(name, {})
        for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if isinstance(was := found.get(exclusive), bool):
                del found[exclusive]
                if was and limit in found:
                    found[exclusive] = found.pop(limit)
        return found


def _is_known(key: str, value: object) -> bool:
    """Whether nothing is hidden in a keyword: what others made up may hold references, which no one looks up."""
    return key in _WITH_CONTENT or not isinstance(value, dict | list)


def _says_something(key: str, value: object) -> bool:
    if key in ("description", "title"):
        return isinstance(value, str)
    return value is not None or key in ("const", "default")


def _may_be_object(schema: Schema) -> bool:
    kind = schema.get("type", "object")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _own(value: object, schema: Schema, names: Mapping[str, str]) -> object:
    parts = [*_parts(schema)]
    if isinstance(value, list):
        items = [each["items"] for each in parts if isinstance(each.get("items"), dict)]
        return [_own(each, {"anyOf": items}, names) for each in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    found = dict[str, object]()
    for name, each in cast("dict[str, object]", value).items():
        known = [part["properties"][name] for part in parts if name in part.get("properties", {})]
        others = [part["additionalProperties"] for part in parts if isinstance(part.get("additionalProperties"), dict)]
        found[names.get(name, name) if known else name] = _own(each, {"anyOf": known or others}, names)
    return found


def _parts(schema: Schema) -> Iterator[Schema]:
    """A schema, and all those of which it is made up."""
    yield schema
    for key in ("allOf", "anyOf", "oneOf"):
        for each in schema.get(key, ()):
            yield from _parts(each)
    for key in ("if", "then", "else"):
        if isinstance(each := schema.get(key), dict):
            yield from _parts(cast("Schema", each))
