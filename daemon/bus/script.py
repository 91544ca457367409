"""Lua scripts, which are stored beside their Python callers.

A script is one atomic step: it checks everything first and writes after, reads the time from the server, and is
harmless when it arrives twice or late.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

pack: Callable[[Any], bytes] = msgspec.msgpack.Encoder().encode
"""Values as one argument of a script, which has them by ``cmsgpack.unpack``; as arguments of their own each costs
several times as much. No bytes: the server knows only text before Redis 7.

Raises:
    UnicodeEncodeError: a text is no valid Unicode.
"""


@dataclass(frozen=True)
class Script:
    """The text of a script, and the hash that calls it."""

    name: str
    text: bytes
    sha: bytes


def load_script(caller: str, name: str, *, with_parts: tuple[str, ...] = ()) -> Script:
    """The file ``name`` beside ``caller`` (its ``__file__``), preceded by the functions of ``with_parts``."""
    folder = Path(caller).parent
    text = b"\n".join((folder / part).read_bytes() for part in (*with_parts, name))
    return Script(name=name, text=text, sha=hashlib.sha1(text, usedforsecurity=False).hexdigest().encode())
