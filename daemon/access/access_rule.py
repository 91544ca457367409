"""Whether somebody is heard on a push channel. Pure."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from daemon.config import AccessConfig

Verdict = Literal["heard", "code", "silent", "banned"]
"""``code``: a stranger who is given a code; ``silent``: not heard, and not told."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an administrator decided about a person or a group."""

    state: Literal["paired", "banned", "free"]
    """``paired``: let in; ``free``: no longer banned, and a stranger again."""
    name: str = ""
    by: str = ""
    """Who decided it: ``<channel>:<sender>``, or the user of a command line."""
    time: str = ""
    """ISO 8601, UTC."""
    at: str = ""
    """Stream id of the command that said so: an older one that arrives late changes nothing."""


class Speaker(msgspec.Struct, frozen=True, kw_only=True):
    """Who says something, and where; ids as the platform gives them."""

    sender: str
    chat: str
    in_group: bool
    is_admin: bool


def verdict(config: AccessConfig, entries: Mapping[str, Entry], who: Speaker) -> Verdict:
    """Whether ``who`` is heard, by what the configuration and administrators say; a ban has the first word."""
    ids = [who.sender, who.chat] if who.in_group else [who.sender]
    states = {entries[each].state for each in ids if each in entries}
    if "banned" in states:
        return "banned"
    if who.is_admin or config.policy == "open":
        return "heard"
    if config.policy == "closed":
        return "silent"
    if "paired" in states or any(each in config.allow for each in ids):
        return "heard"
    return "code" if config.policy == "pairing" and not who.in_group else "silent"
