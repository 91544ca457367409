"""Writing the results of the setup: the configuration, its secrets, a workspace's first files. All functions block."""

import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from daemon.config import Config, Finding, load
from daemon.config.config_file import MAX_BYTES
from daemon.config.environment import Table, is_table
from daemon.durable import FILE_MODE, FOLDER_MODE, whole_file
from daemon.errors import ConfigError, OutputError
from daemon.setup.config_tables import SecretFile
from daemon.setup.toml_editor import changed, toml_of

TEMPLATES = Path(__file__).with_name("templates")
NAMES = ("AGENTS.md", "SOUL.md", "USER.md")
HEAD = (
    "# Written by the setup of Millpond. docs/configuration.md describes all keys. Check this file with `millpond "
    "config check`.\n\n"
)


class Written(msgspec.Struct, frozen=True, kw_only=True):
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
    faults: Callable[[Config], Iterable[Finding]] = lambda _config: (),
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


def write(path: Path, before: str, tables: Table, files: Sequence[SecretFile], *, stamp: str) -> Written:
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
        return Written(changed=False)
    backup = path.with_name(f"{path.name}.{stamp}.bak") if before and text != before else None
    if backup:
        _write(backup, before)
    for file in files:
        _write(path.with_name(file.name), file.secret.reveal() + "\n")
    _write(path, text)
    return Written(changed=True, backup=backup)


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
