"""Changing the configuration file while a process runs: reading it, checking a change, and writing it whole.

All functions block.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from daemon.config import Config, Finding, Loaded, load
from daemon.config.environment import PREFIX, Table
from daemon.errors import OutputError
from daemon.setup.config_place import Place, place_of
from daemon.setup.config_tables import SecretFile
from daemon.setup.questions import AnswerRefused
from daemon.setup.setup_files import checked, write, write_templates
from daemon.setup.toml_editor import differences

_FROM = "environment "
"""The beginning of the source of a key that a variable sets."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The configuration file at one moment, and its meaning."""

    place: Place
    loaded: Loaded

    @property
    def digest(self) -> str:
        """SHA-256 of the file's text, which changes with every change of the file."""
        return hashlib.sha256(self.place.text.encode()).hexdigest()

    @property
    def locked(self) -> dict[str, str]:
        """Dotted path → the variable that sets it; a change of the file would have no effect."""
        variables = {path: source.removeprefix(_FROM) for path, source in self.loaded.sources.items()}
        return {path: name for path, name in variables.items() if name.upper().startswith(PREFIX)}


@dataclass(frozen=True, kw_only=True)
class Change:
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
        self, file: Path | None, environ: Mapping[str, str], faults: Callable[[Config], Iterable[Finding]]
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

    def usable(self) -> Loaded:
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
                raise AnswerRefused(key, "", f"the variable {variable} sets this key. Change or remove the variable")
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
