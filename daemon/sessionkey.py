"""Session keys: ``<channel instance>:<chat id>[:<thread>]``, each part percent-encoded.

The same text names a session in Redis keys, in URLs and on the command line. Encoding leaves only ``A-Za-z0-9-_.~``, so
a part can never hold the ``:`` that separates parts, nor the braces of a Redis hash tag.
"""

import re
from urllib.parse import quote, unquote_to_bytes

import msgspec

from daemon.errors import BadSessionKey

MAX_KEY_CHARS = 512
"""Longest encoded key; it stands in some fifteen Redis key names and in URLs."""


_plain = re.compile(r"[A-Za-z0-9_.~-]+(?::[A-Za-z0-9_.~-]+){1,2}").fullmatch
"""A key with nothing encoded in it, as most are."""

_unreserved = re.compile(r"[A-Za-z0-9_.~-]*").fullmatch
"""A part that needs no encoding."""


class SessionKey(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a session's key, decoded."""

    channel: str
    """Channel instance: the name of its section in the configuration."""
    chat: str
    thread: str = ""
    """Empty when the chat has no threads."""

    def __str__(self) -> str:
        name = f"{encode_part(self.channel)}:{encode_part(self.chat)}"
        return f"{name}:{encode_part(self.thread)}" if self.thread else name

    @classmethod
    def parse(cls, text: str) -> "SessionKey":
        """The key in ``text``. Characters that need encoding may also be written as they are.

        Raises:
            BadSessionKey: no key: too few or many parts, an empty part, a broken escape, a control character, too long.
        """
        if _plain(text) and len(text) <= MAX_KEY_CHARS:
            channel, chat, *thread = text.split(":")
            return cls(channel=channel, chat=chat, thread=thread[0] if thread else "")
        parts = [_decode_part(part, text) for part in text.split(":")]
        if len(parts) not in (2, 3):
            raise BadSessionKey(
                f"session {text[:80]!r} cannot be parsed. Write <channel>:<name> or "
                "<channel>:<chat>:<thread>, and write : inside a part as %3A."
            )
        return _checked(cls(channel=parts[0], chat=parts[1], thread=parts[2] if len(parts) == 3 else ""), parts, text)

    @classmethod
    def of_channel(cls, text: str, channel: str) -> "SessionKey":
        """As ``parse``, but a text without ``:`` is the literal name of a chat of ``channel``."""
        if ":" in text:
            return cls.parse(text)
        return _checked(cls(channel=channel, chat=text), [text], text)


def encode_part(part: str) -> str:
    """``part`` with all characters percent-encoded except unreserved ones (RFC 3986 section 2.3)."""
    # Most parts are numbers or plain names: finding out costs a fraction of quoting.
    return part if _unreserved(part) else quote(part, safe="")


def _decode_part(part: str, whole: str) -> str:
    for at in [i for i, char in enumerate(part) if char == "%"]:
        if len(part[at + 1 : at + 3]) != 2 or not all(c in "0123456789abcdefABCDEF" for c in part[at + 1 : at + 3]):
            raise BadSessionKey(
                f"session {whole[:80]!r} cannot be parsed: % must be followed by two hex digits. Write a "
                "plain % as %25."
            )
    try:
        return unquote_to_bytes(part).decode("utf-8")
    except UnicodeError:
        raise BadSessionKey(
            f"session {whole[:80]!r} cannot be parsed: its percent-escapes are not valid UTF-8"
        ) from None


def _checked(key: SessionKey, parts: list[str], whole: str) -> SessionKey:
    if not all(parts):
        raise BadSessionKey(f"session {whole[:80]!r} cannot be parsed: a part of the name is empty")
    if any(ord(char) < 0x20 or ord(char) == 0x7F for part in parts for char in part):
        raise BadSessionKey(f"session {whole[:80]!r} cannot be parsed: control characters are not allowed in a name")
    try:
        encoded = str(key)
    except UnicodeEncodeError:
        raise BadSessionKey(f"session {whole[:80]!r} cannot be parsed: the name is not valid Unicode") from None
    if len(encoded) > MAX_KEY_CHARS:
        raise BadSessionKey(
            f"the session name has {len(encoded)} characters when encoded, but at most "
            f"{MAX_KEY_CHARS} are allowed. Shorten it."
        )
    return key
