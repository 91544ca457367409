"""Texts that must never be shown, and their displayable forms."""

import os
import re
import stat
from pathlib import Path

from daemon.errors import ConfigError

STARS = "********"
MAX_FILE_BYTES = 65_536
SECRET_MIN_CHARS = 8
"""A shorter secret is not looked for in texts; keys of providers have 20 characters and more."""
_OTHERS_MAY_READ = 0o044
_USER_INFO = re.compile(r"(://[^:/?#]*):.*@", re.DOTALL)
# redis-py takes a password from the query as well.
_QUERY_PASSWORD = re.compile(r"([?&](?:sentinel_)?password=)[^&#]*", re.IGNORECASE)


class Secret:
    """Holds a secret. Printing, formatting or encoding it gives stars; only ``reveal()`` returns the text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The secret itself, for the line of code that sends it."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self.reveal() == other.reveal()

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        return STARS if self._text else ""

    def __repr__(self) -> str:
        return f"Secret('{self}')"


def decode_secret(kind: type, value: object) -> object:
    """For msgspec's ``dec_hook``: a text becomes a ``Secret``."""
    if kind is not Secret:
        raise NotImplementedError(f"{kind} is not a type of the configuration")
    if not isinstance(value, str):
        raise TypeError("a secret must be a string")
    return Secret(value)


def encode_secret(value: object) -> object:
    """For msgspec's ``enc_hook``: a ``Secret`` becomes stars."""
    if isinstance(value, Secret):
        return str(value)
    raise NotImplementedError(f"values of type {type(value)} cannot be encoded")


def masked_url(url: Secret) -> str:
    """The address with only its password starred; a password with unescaped ``@`` or ``/`` in it is starred whole."""
    return _QUERY_PASSWORD.sub(rf"\1{STARS}", _USER_INFO.sub(rf"\1:{STARS}@", url.reveal()))


def holds_secret(secret: Secret) -> bool:
    """Whether a text is secret. An address is secret only if it contains a password."""
    return bool(secret) and ("://" not in secret.reveal() or masked_url(secret) != secret.reveal())


def readable_by_others(state: os.stat_result) -> bool:
    """Whether other users may read the file of a secret."""
    # What root made for another user's group to read is how services are handed their secrets.
    handed = state.st_uid == 0 and os.geteuid() != 0
    return bool(state.st_mode & (stat.S_IROTH if handed else _OTHERS_MAY_READ))


def without(text: str, secret: Secret) -> str:
    """``text`` with stars for ``secret``, if that is long enough to be one: servers of one's own take ``none`` or ``x``
    for a key, which occur in other words."""
    return text.replace(secret.reveal(), STARS) if len(secret.reveal()) >= SECRET_MIN_CHARS else text


def secret_problem(secret: Secret) -> str:
    """The reason why a secret cannot be sent in an HTTP header; empty if it can."""
    text = secret.reveal()
    fine = text.isascii() and text.isprintable() and " " not in text
    return "" if fine else "the value must be one line of ASCII characters without spaces"


def read_secret_file(path: Path) -> tuple[str, str]:
    """The stripped text of a secret's file, and a warning if other users can read the file (else an empty text).

    Raises:
        ConfigError: not there, not a plain file, not readable, empty, above 64 kB, or not UTF-8; never quotes the text.
    """
    shown = repr(str(path))
    try:
        state = path.stat()
        # Reading a pipe or a device may never end.
        if not stat.S_ISREG(state.st_mode):
            raise ConfigError(f"{shown} is not a file. Specify a file that contains the secret")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "the file name is not valid"
        raise ConfigError(
            f"{shown} cannot be read: {reason}. Create the file or correct the path and its permissions"
        ) from error
    warning = f"{shown} can be read by other users. Run chmod 600 on it" if readable_by_others(state) else ""
    return _text_of(content, shown), warning


def _text_of(content: bytes, shown: str) -> str:
    if len(content) > MAX_FILE_BYTES:
        raise ConfigError(f"{shown} is larger than {MAX_FILE_BYTES:,} bytes. The file must contain only the secret")
    # UnicodeDecodeError carries the bytes: it must not become the cause of an error that is shown.
    text = content.decode("utf-8-sig", errors="replace").strip()
    if "\ufffd" in text:
        raise ConfigError(f"{shown} is not UTF-8 text. Save it as UTF-8")
    if not text:
        raise ConfigError(f"{shown} is empty. Save the secret in the file")
    return text
