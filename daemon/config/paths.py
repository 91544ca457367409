"""The locations of data and files."""

from pathlib import Path

from daemon.config.schema import Config
from daemon.errors import ConfigError

FILE_NAME = "millpond.toml"


def data_path(config: Config) -> Path:
    """The folder of all data.

    Raises:
        ConfigError: ``data_dir`` is empty, or starts with ``~`` and there is no such home folder.
    """
    return expanded(config.data_dir)


def bot_workspace(config: Config, name: str) -> Path:
    """The folder of a bot's files; ``name`` must be a bot of ``config``.

    Raises:
        ConfigError: as ``data_path``.
    """
    workspace = config.bots[name].workspace
    return expanded(workspace) if workspace else data_path(config) / "bots" / name


def expanded(text: str) -> Path:
    """A folder with ``~`` replaced by the home folder.

    Raises:
        ConfigError: it is empty, or there is no such home folder.
    """
    if not text:
        raise ConfigError("the path must not be empty")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"the home folder in {text} was not found. Write the full path.") from error
