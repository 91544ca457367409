"""Channel types from other packages, found by their entry points in the group ``millpond.channels``.

An entry point is named as the type and names an ``Adapter``. It is looked for only when a configuration names a type
that is not one of ours, and loaded only then: importing the modules of other packages is slow.
"""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, cast

import msgspec

from daemon.config.channels import PushConfig
from daemon.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "millpond.channels"


class Adapter(msgspec.Struct, frozen=True, kw_only=True):
    """The object that an entry point of the group refers to."""

    config: type[PushConfig]
    """Its sections ``[channels.<name>]``; the tag is the type, and every key has a default."""
    connect: str
    """``module:name`` of ``connect(process, name, config)``, an async context manager that gives the ``Channel``; only
    processes that have to do with the platform import it."""


def installed() -> list[str]:
    """The names of the channel types from other packages."""
    return sorted({point.name for point in _points()})


def adapter(tag: str) -> Adapter | None:
    """The adapter of a type; None if no package provides it.

    Raises:
        ConfigError: several packages bring it, or the one that does cannot be used; says which, and why.
    """
    found = sorted({point for point in _points() if point.name == tag}, key=_package)
    if not found:
        return None
    if len(found) > 1:
        packages = " and ".join(map(_package, found))
        raise ConfigError(f"type {tag!r} is provided by several packages: {packages}. Uninstall all but one.")
    [point] = found
    try:
        loaded: object = point.load()
    except Exception as error:
        # Whatever is wrong in another's package, a person has to be told which one it is.
        raise ConfigError(_unusable(point, f"{type(error).__name__}: {error}")) from error
    if not isinstance(loaded, Adapter):
        raise ConfigError(
            _unusable(
                point,
                f"the entry point refers to an object of type {type(loaded).__name__}, not to a daemon.config.Adapter",
            )
        )
    if problem := _problem(loaded, tag):
        raise ConfigError(_unusable(point, problem))
    return loaded


@cache
def connect_of(kind: type[PushConfig]) -> str:
    """The import string of ``connect`` for a section of one of these types. Errors: as for ``adapter``."""
    tag = str(kind.__struct_config__.tag)
    found = adapter(tag)
    if found is None:
        raise ConfigError(f"no installed package provides the channel type {tag!r} anymore")
    return found.connect


def _points() -> "Iterable[EntryPoint]":
    from importlib.metadata import entry_points  # noqa: PLC0415 - seldom needed, and start-up is counted in milliseconds

    return entry_points(group=GROUP)


def _problem(loaded: Adapter, tag: str) -> str:
    given = cast("object", loaded.config)
    if not (isinstance(given, type) and issubclass(given, PushConfig)):
        return "the adapter's config is not a subclass of daemon.config.PushConfig"
    config = loaded.config
    if config.__struct_config__.tag != tag:
        return (
            f"the adapter's config has the tag {config.__struct_config__.tag!r}, but the entry point is named {tag!r}"
        )
    if without := _without_default(config):
        return f"the adapter's config has keys without a default: {', '.join(without)}"
    module, colon, name = loaded.connect.partition(":")
    if not (module and colon and name):
        return f"the adapter's connect value is {loaded.connect!r}, but it must have the form module:name"
    return ""


def _without_default(config: type[PushConfig]) -> Iterable[str]:
    return [entry.name for entry in msgspec.structs.fields(config) if entry.required]


def _package(point: "EntryPoint") -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def _unusable(point: "EntryPoint", reason: str) -> str:
    return (
        f"package {_package(point)}, which provides type {point.name!r}, cannot be used: "
        f"{reason}. Update or uninstall it."
    )
