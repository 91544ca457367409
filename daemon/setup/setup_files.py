"""Writing the results of the setup: the configuration, its secrets, a workspace's first files. All functions block."""

import os
import secrets
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from daemon.config import Config, ConfigProblem, Secret, load
from daemon.config.config_file import FILE_NAME, MAX_BYTES, expanded
from daemon.config.environment import Table, is_table, variable
from daemon.config.secret import read_secret_file
from daemon.durable import FILE_MODE, FOLDER_MODE, whole_file
from daemon.errors import ConfigError, OutputError
from daemon.setup.config_tables import SecretFile, changed, toml_of

TEMPLATES = Path(__file__).with_name("templates")
NAMES = ("AGENTS.md", "SOUL.md", "USER.md")
HEAD = (
    "# Written by the setup of Millpond. docs/configuration.md describes all keys. Check this file with `millpond "
    "config check`.\n\n"
)


class WrittenConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The result for the configuration."""

    changed: bool
    backup: Path | None = None
    """A copy of the previous file."""


def text_of(path: Path) -> str:
    """The current contents of the configuration file; empty if it does not exist.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1).decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(f"{path} cannot be read: {reason}. Check the file and its permissions.") from error


def checked(
    path: Path,
    tables: Table,
    files: Sequence[SecretFile],
    environ: Mapping[str, str],
    *,
    faults: Callable[[Config], Iterable[ConfigProblem]] = lambda _config: (),
) -> Config:
    """The configuration that ``tables`` would be in the place of ``path``; nothing is left behind.

    ``faults``: as for ``load``.

    Raises:
        ConfigError: it could not be used.
        OutputError: the folder cannot be written.
    """
    draft = path.with_name(f".{secrets.token_hex(8)}.{path.name}")
    try:
        _write(draft, toml_of(_with_secrets(tables, files)))
        return load(draft, environ=environ, faults=faults).config
    except ConfigError as error:
        raise ConfigError(str(error).replace(str(draft), str(path))) from None
    finally:
        draft.unlink(missing_ok=True)


def _with_secrets(tables: Table, files: Sequence[SecretFile]) -> Table:
    """``tables`` with the secrets in the place of the files that are not written yet."""
    texts = {file.name: file.secret.reveal() for file in files}
    found: Table = {}
    for key, value in tables.items():
        if is_table(value):
            found[key] = _with_secrets(value, files)
        elif key.endswith("_file") and isinstance(value, str) and value in texts:
            found[key.removesuffix("_file")] = texts[value]
        else:
            found[key] = value
    return found


def write(path: Path, before: str, tables: Table, files: Sequence[SecretFile], *, stamp: str) -> WrittenConfig:
    """Write the secrets and then the configuration, each whole or not at all.

    ``before`` is what the file said when everything was asked, ``stamp`` goes into the name of its copy.

    Raises:
        OutputError: something cannot be written.
    """
    if text_of(path) != before:
        raise OutputError(f"{path} was changed by another program during the setup, so nothing was written. Try again.")
    text = changed(before, tables) if before else HEAD + toml_of(tables)
    same = text == before and all(_holds(path.with_name(file.name), file) for file in files)
    if same:
        return WrittenConfig(changed=False)
    backup = path.with_name(f"{path.name}.{stamp}.bak") if before and text != before else None
    if backup:
        _write(backup, before)
    for file in files:
        _write(path.with_name(file.name), file.secret.reveal() + "\n")
    _write(path, text)
    return WrittenConfig(changed=True, backup=backup)


def _holds(path: Path, file: SecretFile) -> bool:
    try:
        return path.read_text(encoding="utf-8").strip() == file.secret.reveal()
    except (OSError, UnicodeDecodeError):
        return False


def write_templates(workspace: Path, *, language: str, values: Mapping[str, str]) -> list[str]:
    """The names of the first files that were created in a workspace; existing files stay unchanged.

    Raises:
        OutputError: one cannot be written.
    """
    written: list[str] = []
    for name in NAMES:
        text = (TEMPLATES / language / name).read_text(encoding="utf-8")
        for key, value in values.items():
            text = text.replace(f"{{{key}}}", value)
        if put_new(workspace / name, text.encode()):
            written.append(name)
    return written


def put_new(path: Path, content: bytes) -> bool:
    """Whether a file was written; an existing one is not replaced.

    Raises:
        OutputError: it cannot be written.
    """
    if os.path.lexists(path):
        return False
    _write_bytes(path, content, replace=False)
    return True


def _write(path: Path, text: str) -> None:
    _write_bytes(path, text.encode(), replace=True)


def _write_bytes(path: Path, content: bytes, *, replace: bool) -> None:
    try:
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with whole_file(folder, path.name, replace=replace) as file:
                os.fchmod(file.fileno(), FILE_MODE)
                file.write(content)
        finally:
            os.close(folder)
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror or type(error).__name__}. Check the folder and its permissions."
        ) from error


# The path of the configuration, and its existing contents.


class ConfigPlace(msgspec.Struct, frozen=True, kw_only=True):
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


def place_of(config: Path | None, data_dir: str | None, environ: Mapping[str, str]) -> ConfigPlace:
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
        return ConfigPlace(path=path, data_dir="", text=text, tables=tables)
    told = str(folder.absolute()) if folder.absolute() != expanded(Config().data_dir).absolute() else ""
    return ConfigPlace(path=path, data_dir=told, text=text, tables=tables)


def strings(value: object) -> tuple[str, ...]:
    """The texts of a list; none of anything else."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, str))
