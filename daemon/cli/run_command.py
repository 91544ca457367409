"""``millpond run``: the bots, until they are told to stop."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from daemon.cli.command_setup import config_path
from daemon.cli.output.table_output import tell
from daemon.services import HEALTH, KEEPING, RIGHTS, ROLES, TERMINAL, Service, load, service

if TYPE_CHECKING:
    from daemon.config import Config, LoadedConfig
    from daemon.process import Launch


FIRST_OUTPUT = Path("/proc/1/fd/1")
"""Standard output of the first process. In a container, its runtime keeps everything that is written there."""


@click.command()
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(list(ROLES)),
    help="Role to run in this process. Can be repeated. Default: all roles, plus a chat if started in a terminal.",
)
@click.pass_context
def run(ctx: click.Context, roles: tuple[str, ...]) -> None:
    """Run the bots until SIGINT or SIGTERM. A second signal stops the bots immediately."""
    from daemon.cli.preflight import usable
    from daemon.concurrency import share_heap

    read: LoadedConfig | None = usable(config_path(ctx), roles)
    share_heap()
    while read is not None:
        read = _run(read, config_path(ctx), roles)


def _run(read: "LoadedConfig", file: Path | None, roles: tuple[str, ...]) -> "LoadedConfig | None":
    """Run until the services have ended; the configuration to start them again with, None at the end."""
    import anyio

    from daemon.config import data_path
    from daemon.process import Launch

    config = read.config
    data_dir = data_path(config)
    talks = not roles and sys.stdin.isatty() and sys.stdout.isatty() and _has_terminal(config)
    log_to(config, data_dir / "logs" if talks else None)
    introduce(config, data_dir)
    for text in read.warnings:
        _say(f"Warning: {text}.")
    launch = Launch(file=file, roles=roles)
    anyio.run(_serve, config, launch, talks)
    return launch.again


def _has_terminal(config: "Config") -> bool:
    from daemon.config import TerminalConfig

    return any(isinstance(channel, TerminalConfig) and channel.enabled for channel in config.channels.values())


def log_to(config: "Config", folder: "Path | None") -> None:
    """Send logs to a file in ``folder``, or to standard error.

    Raises:
        ConfigError: the folder cannot be made.
    """
    from daemon import log

    try:
        log.configure(config.run.log_level, folder=folder)
        log.take_over()
    except OSError as error:
        from daemon.errors import ConfigError

        raise ConfigError(
            f"data_dir: {folder} cannot be created: {error.strerror}. Set data_dir (or "
            "MILLPOND_DATA_DIR) to a folder that this user can write."
        ) from error


def introduce(config: "Config", data_dir: "Path") -> None:
    """Print where the data lies, whether others can enter it, and which models answer."""
    from daemon.cli.doctor.machine_checks import open_to_others
    from daemon.model.dialect import server_of

    _say(f"Data directory: {data_dir}")
    if warned := open_to_others(data_dir):
        _say(f"Warning: {warned}")
    offline = [name for name, bot in config.bots.items() if bot.model.offline]
    if offline:
        _say(
            f"No real model is set for {', '.join(offline)}, so the offline mock model answers. Set up a model with "
            "`millpond init`, or set OPENAI_API_KEY and OPENAI_MODEL."
        )
    for name, bot in config.bots.items():
        if not bot.model.offline:
            _say(f"Model of {name}: {bot.model.name} at {server_of(bot.model).removeprefix('anthropic:')}")


def _announce(line: str) -> None:
    _say(f"Millpond listens on {line}" if line.startswith("http") else line)


def _invite(link: str) -> None:
    _say(f"page: {link}")


def is_read_by_one(output: TextIO, first: Path = FIRST_OUTPUT) -> bool:
    """Whether ``output`` is a terminal, and not the ``first`` output, which a container keeps."""
    if not output.isatty():
        return False
    try:
        return not os.path.samestat(os.fstat(output.fileno()), first.stat())
    except OSError:
        return True  # another user's first process, or no such file on this system


def _say(line: str) -> None:
    tell(line)
    sys.stdout.flush()


async def _serve(config: "Config", launch: "Launch", talks: bool) -> None:
    import anyio
    from anyio import to_thread

    from daemon.config import data_path
    from daemon.run import open_process, run_services

    services: list[tuple[list[Service], list[Service]]] = []
    loaded = anyio.Event()

    async def load_services() -> None:
        services.append(await to_thread.run_sync(_services, config, launch.roles, talks))
        loaded.set()

    invite = _invite if is_read_by_one(sys.stdout) else None
    async with anyio.create_task_group() as tg:
        tg.start_soon(load_services)  # while the embedded server starts, which takes 50 ms
        async with open_process(config, data_path(config), announce=_announce, invite=invite, launch=launch) as process:
            await loaded.wait()
            [(within, beside)] = services
            await run_services(process, within, beside=beside)


def _services(config: "Config", roles: tuple[str, ...], talks: bool) -> tuple[list[Service], list[Service]]:
    """The services that keep the process running, and those beside them."""
    within = [load(KEEPING), *(service(role) for role in roles or ROLES), *([load(TERMINAL)] if talks else [])]
    beside: list[Service] = [partial(load(RIGHTS), roles=roles or tuple(ROLES))]
    if config.health.port is not None:
        beside.append(load(HEALTH))
    return within, beside
