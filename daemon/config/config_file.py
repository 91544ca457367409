"""The configuration file: its path and its tables."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from daemon.config.config_keys import readable
from daemon.config.environment import Table, variable
from daemon.config.schema import Config
from daemon.errors import ConfigError

# The locations of data and files.

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


MAX_BYTES = 1_048_576


def read_tables(path: Path | None, environ: Mapping[str, str]) -> tuple[Path | None, Table]:
    """The path of the file and its tables; both empty if no file was named and no default file exists.

    ``path`` if given, else ``MILLPOND_CONFIG``, else ``millpond.toml`` in the data directory.

    Raises:
        ConfigError: a named file is missing, or a file cannot be read, is no UTF-8 or is no TOML.
    """
    named = variable(environ, "MILLPOND_CONFIG")
    if path is None and not named:
        default = expanded(variable(environ, "MILLPOND_DATA_DIR") or Config().data_dir) / FILE_NAME
        return (default, _tables(default)) if _is_there(default) else (None, {})
    path = path or expanded(named)
    return path, _tables(path)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a folder that may not be searched: opening the file will say so
        return True


def _tables(path: Path) -> Table:
    try:
        return tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{readable(str(path))}: the file is not valid TOML: {error}. Correct that line.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{readable(str(path))}: the file cannot be parsed as TOML: a number is too long, or values are nested "
            "too deeply. Simplify the file."
        ) from error


def _text(path: Path) -> str:
    content = _content(path)
    if len(content) > MAX_BYTES:
        raise ConfigError(
            f"{readable(str(path))}: the file is larger than {MAX_BYTES:,} bytes, so it is not a configuration file. "
            "Correct the path."
        )
    try:
        return content.decode("utf-8-sig")  # some editors put a byte order mark first, which TOML does not know
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        # Not "from error": that carries the whole file.
        raise ConfigError(f"{readable(str(path))}: line {line} is not UTF-8. Save the file as UTF-8.") from None


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except IsADirectoryError as error:
        raise ConfigError(
            f"{readable(str(path))} is a folder. Specify a file in this folder, such as "
            f"{readable(str(path / FILE_NAME))}."
        ) from error
    except FileNotFoundError as error:
        raise ConfigError(f"{readable(str(path))} was not found. Create the file or correct the path.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "the file name is not valid"
        raise ConfigError(
            f"{readable(str(path))} cannot be read: {reason}. Check the path and the file's permissions."
        ) from error
