"""The path of the configuration, and its existing contents."""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from daemon.config import Config, Secret
from daemon.config.environment import Table, is_table, variable
from daemon.config.paths import FILE_NAME, expanded
from daemon.config.secret import read_secret_file
from daemon.errors import ConfigError
from daemon.setup.setup_files import text_of


@dataclass(frozen=True, kw_only=True)
class Place:
    """The configuration file before anything is asked."""

    path: Path
    data_dir: str
    """As the configuration has to say it; empty: the one that everybody looks in."""
    text: str
    """The file's contents; empty if it does not exist."""
    tables: Table

    def section(self, *names: str) -> Table:
        """One section of the file; empty if it does not exist."""
        table = self.tables
        for name in names:
            inner = table.get(name)
            table = inner if is_table(inner) else {}
        return table

    def word(self, key: str, *names: str) -> str:
        """A text of a section; empty if it is not set."""
        value = self.section(*names).get(key)
        return value if isinstance(value, str) else ""

    def secret(self, key: str, *names: str) -> Secret | None:
        """A secret of a section, by value or by file; None if it is not set or unreadable."""
        if value := self.word(key, *names):
            return Secret(value)
        file = self.word(f"{key}_file", *names)
        if not file:
            return None
        try:
            # What follows a / is taken as it is when it is absolute.
            return Secret(read_secret_file(self.path.parent / expanded(file))[0])
        except ConfigError:
            return None

    @property
    def bots(self) -> list[str]:
        """Names of the configured bots."""
        return list(self.section("bots"))

    def channels(self, kind: str, bot: str = "") -> Iterator[str]:
        """Names of the channels of a type, of one bot or of all."""
        for name, channel in self.section("channels").items():
            if not is_table(channel) or channel.get("type", name) != kind:
                continue
            if not bot or channel.get("bot", bot) == bot:
                yield name

    def free_channel(self, kind: str, bot: str) -> str:
        """A name for another channel of a type."""
        names = (kind, f"{kind}-{bot}", *(f"{kind}-{number}" for number in range(2, 100)))
        return next(name for name in names if name not in self.section("channels"))


def place_of(config: Path | None, data_dir: str | None, environ: Mapping[str, str]) -> Place:
    """The path of the configuration, from ``--config``, ``--data-dir`` and the environment.

    Raises:
        ConfigError: it cannot be read, or is no TOML.
    """
    usual = variable(environ, "MILLPOND_DATA_DIR") or Config().data_dir
    folder = expanded(data_dir or usual)
    named = variable(environ, "MILLPOND_CONFIG")
    if config is None:
        config = expanded(named) if named and not data_dir else folder / FILE_NAME
    path = Path(os.path.realpath(config))
    text = text_of(path)
    try:
        tables: Table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{path}: the file is not valid TOML: {error}. Correct the configuration file, or move the file away to "
            "start over."
        ) from error
    if data_dir is None and isinstance(tables.get("data_dir"), str):
        return Place(path=path, data_dir="", text=text, tables=tables)
    told = str(folder.absolute()) if folder.absolute() != expanded(Config().data_dir).absolute() else ""
    return Place(path=path, data_dir=told, text=text, tables=tables)


def strings(value: object) -> tuple[str, ...]:
    """The texts of a list; none of anything else."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, str))
