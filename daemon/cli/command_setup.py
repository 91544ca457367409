"""The first steps of commands: their import, the configuration, quiet logs, a connection."""

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from daemon.errors import (
    ArchiveError,
    BusUnavailable,
    ConfigError,
    DataError,
    EngineRefused,
    InboundError,
    Interrupted,
    LoginRefused,
    MillpondError,
    ModelUnavailable,
    NoSuchTranscript,
    NoSuchVersion,
    OutputError,
    SessionFull,
    Unreachable,
    VersionMoved,
)
from daemon.translation import chinese

if TYPE_CHECKING:
    from daemon.bus import Bus
    from daemon.config import Config, LoadedConfig
    from daemon.process import Process
    from daemon.wording import Language


class LazyGroup(click.Group):
    """A group that imports a command when it is called: all of them together take a tenth of a short command's time."""

    def __init__(self, *args: Any, lazy: Mapping[str, str], **settings: Any) -> None:
        """``lazy``: where each command is, as ``module:attribute`` below this package."""
        super().__init__(*args, **settings)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the alphabet."""
        return sorted({*self._lazy, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name; None: there is none."""
        if cmd_name in self._lazy and cmd_name not in self.commands:
            module, _, name = self._lazy[cmd_name].partition(":")
            self.add_command(getattr(import_module(f"daemon.cli.{module}"), name), cmd_name)
        return super().get_command(ctx, cmd_name)


# Exit codes of the ``millpond`` command, named as in ``sysexits.h``, and their errors.

FAILED = 1
EX_DATAERR = 65
"""The input cannot be used."""
EX_UNAVAILABLE = 69
"""Redis or the model is away."""
EX_CANTCREAT = 73
"""The file that was asked for cannot be written."""
EX_IOERR = 74
"""A file of the archive cannot be read or written."""
EX_TEMPFAIL = 75
"""Full, or not in time: the same command may succeed later."""
EX_CONFIG = 78
"""The configuration or the data directory has to be changed."""
INTERRUPTED = 130
"""128 + SIGINT."""

_CODES: tuple[tuple[type[Exception], int], ...] = (
    (ConfigError, EX_CONFIG),
    (EngineRefused, EX_CONFIG),
    (SessionFull, EX_TEMPFAIL),
    (VersionMoved, EX_TEMPFAIL),
    (NoSuchVersion, EX_DATAERR),
    (NoSuchTranscript, EX_DATAERR),
    (InboundError, EX_DATAERR),
    (DataError, EX_DATAERR),
    (OutputError, EX_CANTCREAT),
    (ArchiveError, EX_IOERR),
    (LoginRefused, EX_CONFIG),
    (BusUnavailable, EX_UNAVAILABLE),
    (ModelUnavailable, EX_UNAVAILABLE),
    (Unreachable, EX_UNAVAILABLE),
    (TimeoutError, EX_TEMPFAIL),
    (Interrupted, INTERRUPTED),
    (MillpondError, FAILED),
)


def code_of(error: Exception) -> int | None:
    """The exit code for ``error``; None for a bug, whose traceback is wanted."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), None)


def leaves(error: BaseException) -> list[BaseException]:
    """The exceptions inside ``error`` if it is a group (a task group raises one), otherwise ``error`` itself."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [leaf for each in group.exceptions for leaf in leaves(each)]
    return [error]


# The language of the command line: that of the first bot, also if the configuration has errors.

_VARIABLE = re.compile(r"MILLPOND_BOTS__\w+__LANGUAGE", re.IGNORECASE)


def translated(text: str) -> str:
    """``text``, an answer or an error in English, in the language of the command line."""
    return chinese(text) if language() == "zh" else text


@cache
def language() -> "Language":
    """``bots.<name>.language`` of the environment or of the first bot in the file; English if neither can be read."""
    for name, value in os.environ.items():
        if _VARIABLE.fullmatch(name):
            return "zh" if value == "zh" else "en"
    return "zh" if _of_file() == "zh" else "en"


def _of_file() -> object:
    import click

    from daemon.config.config_file import read_tables
    from daemon.config.environment import is_table
    from daemon.errors import ConfigError

    options = ctx.find_root().obj if (ctx := click.get_current_context(silent=True)) else None
    try:
        _, tables = read_tables(getattr(options, "config_path", None), os.environ)
    except ConfigError:
        return None
    bots = tables.get("bots")
    first = next(iter(bots.values()), None) if is_table(bots) else None
    return first.get("language") if is_table(first) else None


PATIENCE_S = 2.0
"""Limit for a command that waits for an unavailable server; the bus itself tries for some seconds more."""

_T = TypeVar("_T")


def loaded(ctx: click.Context) -> "LoadedConfig":
    """The configuration that the command works with.

    Raises:
        ConfigError: it cannot be used.
    """
    from daemon.config import load

    return load(config_path(ctx))


def config_path(ctx: click.Context) -> Path | None:
    """The configuration file that the command line names."""
    return getattr(ctx.obj, "config_path", None)


def with_bus(ctx: click.Context, work: Callable[["Bus"], Awaitable[_T]]) -> _T:
    """The result of ``work`` with the configured Redis. The embedded server is started if it does not run.

    Raises:
        ConfigError, EngineRefused, BusUnavailable: it cannot be used; the text says what to do.
    """
    import anyio

    from daemon import log
    from daemon.bus import open_bus
    from daemon.config import data_path

    config = loaded(ctx).config
    log.configure("warning")
    _check_there_is_something(config)

    async def connect() -> _T:
        async with open_bus(config.redis, data_path(config), patience_s=PATIENCE_S) as bus:
            return await work(bus)

    return anyio.run(connect)


def _check_there_is_something(config: "Config") -> None:
    """Looking must not make: a mistyped folder would become an empty Millpond."""
    from daemon.config import data_path
    from daemon.errors import ConfigError

    if not config.redis.url and not (data_path(config) / "redis").is_dir():
        raise ConfigError(
            f"{data_path(config)} does not contain Millpond data yet. Start Millpond with `millpond run`, or "
            "correct data_dir (or MILLPOND_DATA_DIR)."
        )


def with_process(ctx: click.Context, work: Callable[["Process"], Awaitable[_T]], *, makes: bool = True) -> _T:
    """The result of ``work`` with a connected process without services; errors as for ``with_bus``.

    With ``makes`` an empty Millpond is made where there is none.
    """
    import anyio

    from daemon import log
    from daemon.config import data_path
    from daemon.run import open_process

    config = loaded(ctx).config
    log.configure("warning")
    if not makes:
        _check_there_is_something(config)

    async def connect() -> _T:
        async with open_process(config, data_path(config), patience_s=PATIENCE_S) as process:
            return await work(process)

    return anyio.run(connect)
