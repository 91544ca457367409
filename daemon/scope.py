"""Scopes: whose memory a conversation belongs to, fixed by publish from a session's first message on."""

import hashlib

from daemon.config import BotConfig
from daemon.events import Inbound
from daemon.sessionkey import encode_part


def scope_of(inbound: Inbound, bot: BotConfig) -> str:
    """The scope of ``inbound``'s session.

    ``<bot>:person:<channel instance>:<sender>``, ``<bot>:group:<session>``, ``<bot>:session:<session>`` or
    ``<bot>:workspace``; each part percent-encoded.
    """
    kind: str = bot.memory.scope
    if kind == "auto":
        kind = "person" if inbound.chat_kind == "direct" else "group"
    name = encode_part(inbound.bot)
    if kind == "workspace":
        return f"{name}:workspace"
    if kind == "person":
        return person_scope(inbound.bot, inbound.channel, inbound.sender_id)
    return f"{name}:{kind}:{inbound.session}"


def person_scope(bot: str, channel: str, sender: str) -> str:
    """The scope of a person: ``<bot>:person:<channel instance>:<sender>``."""
    return f"{encode_part(bot)}:person:{encode_part(channel)}:{encode_part(sender)}"


FOLDER_MAX_CHARS = 200
"""Longest folder name that spells a scope out; file systems take 255 bytes."""

_SPELLED_OUT = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_.~")


def folder_of(scope: str) -> str:
    """Name of the folder that holds a scope's files or memory: one for each scope, and safe on every file system.

    All but small letters, digits and ``-_.~`` is percent-encoded, capitals too: there are file systems that take
    ``Ann`` and ``ann`` for one folder, and they are two people. What gets too long ends in a hash instead.
    """
    if not scope.strip("."):
        raise ValueError(f"{scope!r} is not a scope")
    name = "".join(chr(byte) if byte in _SPELLED_OUT else f"%{byte:02x}" for byte in scope.encode())
    if len(name) <= FOLDER_MAX_CHARS:
        return name
    # Longer than any that is spelled out, so the two kinds cannot meet.
    digest = hashlib.sha256(scope.encode()).hexdigest()
    return f"{name[: FOLDER_MAX_CHARS - len(digest) + 1]}~{digest}"
