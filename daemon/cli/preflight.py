"""Checks of the configuration on this machine, before a port is opened or a channel is polled."""

import os
import shutil
from collections.abc import Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from daemon.config import BotConfig, Config, ConfigProblem, ModelConfig, PushConfig, bot_workspace, data_path
from daemon.config import load as load_config
from daemon.errors import ConfigError
from daemon.services import ROLES, load

if TYPE_CHECKING:
    from pathlib import Path

    from daemon.config import LoadedConfig, McpConfig

EQUIPPING = "workers.agent.bot_checks:faults"
OWN_FOLDERS = ("redis", "transcripts", "usage", "search")
"""In the data directory; docs/forgetting.md lists the contents."""

ADAPTER = "channels.push:adapter_of"
"""Found by import string, as services are: this room may not import the other rooms."""


def usable(path: "Path | None", roles: Collection[str] = ()) -> "LoadedConfig":
    """The configuration, which a process with these roles can start with; no roles: all.

    Raises:
        ConfigError: lists everything that is wrong, a line each.
    """
    return load_config(path, faults=partial(faults, roles=roles or ROLES))


def faults(config: Config, *, roles: Collection[str]) -> Iterator[ConfigProblem]:
    """Every reason why a process with these roles cannot start with ``config`` on this machine."""
    yield from _archive(config)
    works = bool({"agent", "consolidation"} & set(roles))
    if works or not config.redis.url:
        yield from _folder("data_dir", data_path(config))
    for name, bot in config.bots.items():
        if "agent" in roles:
            yield from tool_faults(name, bot, bot_workspace(config, name))
        if works and bot.workspace:
            yield from _folder(f"bots.{name}.workspace", bot_workspace(config, name))
            yield from _apart(f"bots.{name}.workspace", bot_workspace(config, name), data_path(config))
        if works:
            yield from _connections(f"bots.{name}.model", bot.model)
    if "channels" in roles:
        yield from _adapters(config)


def tool_faults(name: str, bot: BotConfig, workspace: "Path") -> Iterator[ConfigProblem]:
    """Tools of a bot that do not exist or do not fit into its prompts."""
    found: list[tuple[str, str]] = _found(EQUIPPING)(name, bot, workspace)
    yield from (ConfigProblem(f"bots.{name}.{key}", text) for key, text in found)


def missing_programs(config: Config) -> Iterator[ConfigProblem]:
    """Tool servers whose program was not found; their bots run without these tools."""
    for name, bot in config.bots.items():
        for server, wanted in bot.mcp.items():
            if wanted.command and not program_found(wanted):
                text = f"program {wanted.command!r} was not found or cannot be run"
                path = f"bots.{name}.mcp.{server}.command"
                yield ConfigProblem(path, f"{text}. Install the program, or specify its full path.")


def program_found(server: "McpConfig") -> bool:
    """Whether the program of a tool server can be run here."""
    given = server.env.get("PATH")
    return shutil.which(server.command, path=given.reveal() if given else os.environ.get("PATH")) is not None


def _archive(config: Config) -> Iterator[ConfigProblem]:
    from daemon.archive.storage_factory import storage_of

    try:
        storage_of(config.archive, data_path(config))
    except ConfigError as error:
        yield ConfigProblem("archive.url", _without(str(error), "archive.url"))


def _folder(path: str, folder: "Path") -> Iterator[ConfigProblem]:
    """A folder that is not there and cannot be made."""
    there = next(each for each in (folder, *folder.absolute().parents) if os.path.lexists(each))
    if not there.is_dir():
        yield ConfigProblem(path, f"{there} is not a folder. Move the file, or set another folder")
    elif there != folder and not os.access(there, os.W_OK | os.X_OK):
        text = f"{folder} cannot be created because {there} is not writable. Change the permissions of {there}"
        yield ConfigProblem(path, f"{text}, or set another folder")


def _apart(path: str, workspace: "Path", data: "Path") -> Iterator[ConfigProblem]:
    """A workspace with the files of the server or the archive: a restore of the workspace would overwrite them."""
    files, own = workspace.resolve(), data.resolve()
    if own.is_relative_to(files) or any(files.is_relative_to(own / each) for each in OWN_FOLDERS):
        yield ConfigProblem(
            path, f"{workspace} is the folder in which Millpond stores its own data (data_dir). Set another folder"
        )


def _connections(path: str, model: ModelConfig) -> Iterator[ConfigProblem]:
    """What the environment says of the way to each model's server."""
    from daemon.proxies import certificates, proxy_of

    for each in model.chain:
        try:
            proxy_of(each.base_url)
            certificates(each.base_url)
        except ConfigError as error:
            yield ConfigProblem(f"{path}.base_url", str(error))
            return


def _adapters(config: Config) -> Iterator[ConfigProblem]:
    for name, channel in config.channels.items():
        if isinstance(channel, PushConfig) and channel.enabled:
            try:
                _found(ADAPTER)(name, channel)
            except ConfigError as error:
                yield ConfigProblem(f"channels.{name}", _without(str(error), f"channels.{name}"))


def _without(text: str, path: str) -> str:
    return text.removeprefix(f"{path}: ").rstrip(".")


def _found(target: str) -> Any:
    """What an import string names, which is no service."""
    return load(target)
