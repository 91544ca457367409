"""The first steps of commands: the configuration, quiet logs, a connection."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from daemon.bus import Bus
    from daemon.config import Config, Loaded
    from daemon.process import Process

PATIENCE_S = 2.0
"""Limit for a command that waits for an unavailable server; the bus itself tries for some seconds more."""

_T = TypeVar("_T")


def loaded(ctx: click.Context) -> "Loaded":
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
