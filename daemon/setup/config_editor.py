"""Changing the configuration file while a process runs: reading it, checking a change, and writing it whole.

The list holds no key that runs a program, names a file or a folder, opens a port or moves data to another place.
Whoever has the token of the API must not get the rights of the user that Millpond runs as.

All functions block.
"""

import copy
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from daemon.config import TOOLS, BotConfig, Config, ConfigProblem, LoadedConfig, PushConfig, load
from daemon.config.environment import PREFIX, Table, is_table
from daemon.errors import OutputError
from daemon.setup.config_tables import SecretFile, differences
from daemon.setup.questions import AnswerRefused
from daemon.setup.setup_files import ConfigPlace, checked, place_of, write, write_templates

# Settings that operators may change over the API. Pure.

Value = str | bool | int | float | list[str] | None
"""A value from a form; None: the setting gets its default."""

EACH = ("person", "chat", "bot")

BOT_KEYS = (
    *("language", "time_zone", "titles", "admins", "groups_may", "tools", "context_budget_tokens"),
    *("model.context_window_tokens", "model.max_completion_tokens", "model.vision"),
    *("model.prices.input", "model.prices.cached_input", "model.prices.output", "model.prices.currency"),
    *(f"limits.{limit}.{each}" for limit in ("tokens_per_day", "cost_per_day", "messages_per_minute") for each in EACH),
    "limits.reserved_for_memory",
)
"""Of a bot. The address, the name and the key of a model are changed together, see ``tables.set_model``."""

CHANNEL_KEYS = (
    *("enabled", "access.policy", "access.allow", "access.groups"),
    *("streaming", "typing", "hear_reactions", "parts_max"),
)
"""Of a channel of a chat platform."""


def values_of(config: Config) -> dict[str, Value]:
    """The value of every setting that may be changed, by its dotted path; no secret is one of them."""
    return {path: _plain(section, key) for path, section, key in _places(config)}


def with_changes(tables: Table, config: Config, changes: Mapping[str, Value]) -> Table:
    """``tables`` with the changed settings.

    Raises:
        AnswerRefused: a path is none of the settings that may be changed, or a tool reaches further than the others.
    """
    after = copy.deepcopy(tables)
    known = {path: (section, key) for path, section, key in _places(config)}
    for path, value in changes.items():
        if path not in known:
            text = "this setting cannot be changed here. Change the configuration file on the server"
            raise AnswerRefused(path[:100], "", text)
        section, key = known[path]
        if key == "tools":
            _check_tools(path, value, cast("BotConfig", section).tools)
        _set(after, path.split("."), value)
    return after


def _places(config: Config) -> Iterator[tuple[str, msgspec.Struct, str]]:
    """Path, section and key below that section of every setting."""
    for name, bot in config.bots.items():
        yield from ((f"bots.{name}.{key}", bot, key) for key in BOT_KEYS)
    for name, channel in config.channels.items():
        if isinstance(channel, PushConfig):
            yield from ((f"channels.{name}.{key}", channel, key) for key in CHANNEL_KEYS)


def _plain(section: msgspec.Struct, key: str) -> Value:
    value: object = section
    for part in key.split("."):
        value = getattr(value, part)
    return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else cast("Value", value)


def _check_tools(path: str, value: Value, before: tuple[str, ...]) -> None:
    """Refuse a new tool that does not stay within a conversation's own files, as ``shell`` does not."""
    for tool in value if isinstance(value, list) else []:
        if tool not in TOOLS and tool not in before:
            text = f"tools other than {', '.join(TOOLS)} can be added only in the configuration file on the server"
            raise AnswerRefused(path, tool, text)


def _set(table: Table, path: list[str], value: Value) -> None:
    for part in path[:-1]:
        inner = table.get(part)
        if not is_table(inner):
            if value is None:
                return
            inner = table[part] = {}
        table = inner
    if value is None:
        table.pop(path[-1], None)
    else:
        table[path[-1]] = value


_FROM = "environment "
"""The beginning of the source of a key that a variable sets."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration file at one moment, and its meaning."""

    place: ConfigPlace
    loaded: LoadedConfig

    @property
    def digest(self) -> str:
        """SHA-256 of the file's text, which changes with every change of the file."""
        return hashlib.sha256(self.place.text.encode()).hexdigest()

    @property
    def locked(self) -> dict[str, str]:
        """Dotted path → the variable that sets it; a change of the file would have no effect."""
        variables = {path: source.removeprefix(_FROM) for path, source in self.loaded.sources.items()}
        return {path: name for path, name in variables.items() if name.upper().startswith(PREFIX)}


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change that can be written."""

    settings: Settings
    tables: Table
    files: Sequence[SecretFile]
    keys: tuple[str, ...]
    """Dotted paths of the changed keys, and names of the files with secrets."""
    config: Config
    """The configuration afterwards."""


class Editor:
    """Edits the configuration of one process."""

    def __init__(
        self, file: Path | None, environ: Mapping[str, str], faults: Callable[[Config], Iterable[ConfigProblem]]
    ) -> None:
        """``file``: as the command line names it; ``faults``: as for ``daemon.config.config_loader``."""
        self._file = file
        self._environ = dict(environ)
        self._faults = faults

    @property
    def environ(self) -> Mapping[str, str]:
        """The variables that override the file."""
        return self._environ

    def read(self) -> Settings:
        """The file as it is now.

        Raises:
            ConfigError: it cannot be used.
        """
        return Settings(place=place_of(self._file, None, self._environ), loaded=load(self._file, environ=self._environ))

    def usable(self) -> LoadedConfig:
        """The configuration to start with. Raises: as ``read``, also for reasons of this machine."""
        return load(self._file, environ=self._environ, faults=self._faults)

    def change(self, settings: Settings, tables: Table, files: Sequence[SecretFile] = ()) -> Change:
        """Check that ``tables`` can take the place of the file.

        Raises:
            ConfigError: the configuration could not be used.
            AnswerRefused: a variable of the environment sets one of the changed keys.
            OutputError: the folder cannot be written.
        """
        place = settings.place
        keys = tuple(".".join((*path, key)) for path, key, _ in differences(place.tables, tables))
        for key in keys:
            if variable := settings.locked.get(key):
                raise AnswerRefused(
                    key, "", f"the environment variable {variable} controls this setting. Change or remove the variable"
                )
        if place.data_dir and not place.text:
            tables = {"data_dir": place.data_dir, **tables}
        config = checked(place.path, tables, files, self._environ, faults=self._faults)
        keys += tuple(f"file {file.name}" for file in files)
        return Change(settings=settings, tables=tables, files=files, keys=keys, config=config)

    def write(self, change: Change, *, stamp: str) -> str:
        """Write a change; the name of the copy of the previous file, empty if there is none.

        Raises:
            OutputError: something cannot be written, or the file has changed since it was read.
        """
        place = change.settings.place
        written = write(place.path, place.text, change.tables, change.files, stamp=stamp)
        return written.backup.name if written.backup else ""


def first_files(change: Change, bot: str, workspace: Path) -> list[str]:
    """The names of the bot's first files, if the configuration or the bot is new; existing files stay unchanged."""
    if change.settings.place.text.strip() and bot in change.settings.loaded.config.bots:
        return []
    config = change.config.bots[bot]
    values = {
        "bot": bot,
        "owner": "?",
        "time_zone": config.time_zone,
        "language": {"en": "English", "zh": "中文"}[config.language],
    }
    try:
        return write_templates(workspace, language=config.language, values=values)
    except OutputError:
        return []  # the bot answers without them
