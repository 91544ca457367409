"""The token of a data directory: made once, read by every process and command that works with this directory.

Whoever can read the file can read everything else in the data directory too, so its token has the rights of operators.
The file holds the whole header of a request: ``curl -H @FILE`` reads it, and no token stands on a command line, where
other users of the machine can see it.
"""

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

import msgspec

from daemon.config.secret import Secret, read_secret_file, secret_problem
from daemon.durable import folder_below, whole_file
from daemon.errors import ConfigError

FILE_NAME = "api.header"
HEADER = "Authorization: Bearer "

TOKEN_BYTES = 32
"""256 random bits, as in a visitor's cookie."""

TOKEN_MIN_CHARS = 32
"""A shorter token is the rest of a damaged file: ``TOKEN_BYTES`` are 43 characters."""

FINGERPRINT_CHARS = 16
"""Of the SHA-256: enough to tell tokens apart, and useless to somebody who wants to guess one of 256 bits."""


class LocalToken(msgspec.Struct, frozen=True, kw_only=True):
    """The token of one data directory."""

    secret: Secret
    path: Path
    made: bool
    """Whether this call made the file."""
    warning: str
    """A sentence if other users may read the file; else empty."""


def local_token(data_dir: Path) -> LocalToken:
    """The token of ``data_dir``, made if it is missing; of several processes at once, one makes it. Blocks.

    Raises:
        ConfigError: the file cannot be made or read, or holds no token.
    """
    made = _make(data_dir)
    found = known_token(data_dir)
    if found is None:
        raise ConfigError(
            f"{data_dir / FILE_NAME} was removed while Millpond was reading the file. Start Millpond again."
        )
    return LocalToken(secret=found.secret, path=found.path, made=made, warning=found.warning)


def known_token(data_dir: Path) -> LocalToken | None:
    """The token of ``data_dir``; None if it was not made yet. Blocks; errors as for ``local_token``."""
    path = data_dir / FILE_NAME
    if not os.path.lexists(path):
        return None
    try:
        text, warning = read_secret_file(path)
    except ConfigError as error:
        reason = str(error).partition(". ")[0]
        raise ConfigError(f"the API token is damaged: {reason}. Delete the file and start again.") from error
    if path.stat().st_uid not in (0, os.geteuid(), data_dir.stat().st_uid):
        raise ConfigError(
            f"{path} belongs to another user, who can read the token in this file. Delete the file and start again."
        )
    secret = Secret(text.removeprefix(HEADER))
    if not text.startswith(HEADER) or secret_problem(secret) or len(secret.reveal()) < TOKEN_MIN_CHARS:
        raise ConfigError(
            f"the API token is damaged: {str(path)!r} must contain one line of the form {HEADER}<token>, with a token "
            f"of at least {TOKEN_MIN_CHARS} characters. Delete the file and start again."
        )
    return LocalToken(secret=secret, path=path, made=False, warning=warning)


def fingerprint(token: Secret) -> str:
    """The name of a token where processes compare theirs; the token cannot be had from it."""
    return hashlib.sha256(token.reveal().encode()).hexdigest()[:FINGERPRINT_CHARS]


def _make(data_dir: Path) -> bool:
    """Make the file (0600) unless it is there; it appears whole, for one of all who try."""
    if os.path.lexists(data_dir / FILE_NAME):
        return False
    try:
        with (
            folder_below(data_dir, make=True) as folder,
            suppress(FileExistsError),
            whole_file(folder, FILE_NAME, replace=False) as file,
        ):
            file.write(f"{HEADER}{secrets.token_urlsafe(TOKEN_BYTES)}\n".encode())
            return True
    except OSError as error:
        raise ConfigError(
            f"the API token file {data_dir / FILE_NAME} cannot be written: {error.strerror}. Correct the data "
            "directory's permissions, or set token_file in the web channel's section."
        ) from error
    return False
