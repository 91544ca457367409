"""Objects of platforms in shapes of ours, as far as they fit.

What has another shape than expected is left out field by field (``lenient``), so that what can be understood is not
lost with the rest.
"""

from collections.abc import Mapping
from typing import Any, TypeVar, get_args, get_origin

import msgspec


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What all of them are: immutable, and open to fields that are not known yet."""


_S = TypeVar("_S", bound=Shape)


UNFITTING = (msgspec.ValidationError, UnicodeEncodeError)
"""What is raised for a value of another shape; the second for a name that holds half a character."""


def lenient(kind: type[_S], found: Mapping[str, Any]) -> _S:
    """``found`` as a ``kind``; what has another shape than expected is left out, field by field."""
    try:
        return msgspec.convert(found, kind)
    except UNFITTING:
        fitting: dict[str, Any] = {}
        for field in msgspec.structs.fields(kind):
            try:
                fitting[field.name] = _fitting(field.type, found[field.encode_name])
            except (KeyError, *UNFITTING):
                continue
        return kind(**fitting)


def _fitting(kind: Any, found: Any) -> Any:
    """``found`` as a ``kind``, perhaps a shape, or none, or several of one. Raises: those of ``UNFITTING``."""
    parts = get_args(kind)
    shape = next((each for each in (kind, *parts) if isinstance(each, type) and issubclass(each, Shape)), None)
    if shape is None:
        return msgspec.convert(found, kind)
    if get_origin(kind) is tuple:
        return tuple(lenient(shape, each) for each in objects_in(found))
    return lenient(shape, msgspec.convert(found, dict[str, Any]))


def nested(found: Any, *keys: str) -> Any:
    """What stands under ``keys`` in objects within objects; None: nothing."""
    for key in keys:
        fields: dict[str, Any] = found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]
        found = fields.get(key)
    return found


def objects_in(found: Any) -> list[dict[str, Any]]:
    """The objects in ``found``, if it is a list; what else is in it is left out."""
    several: list[Any] = msgspec.convert(found, list[Any]) if isinstance(found, list) else []
    return [each for each in several if isinstance(each, dict)]
