"""Mentions in texts of people, as names. Pure.

Discord writes ``<@1>`` for a person, ``<@&1>`` for a role, ``<#1>`` for a channel, ``<:wave:1>`` for an emoji and
``</help:1>`` for a command (Reference, "Message Formatting").
"""

import re
from collections.abc import Collection, Mapping

from channels.discord.api_types import Content, Member, User

_marked = re.compile(r"<(?:(@!?|@&|#)(\d{1,20})|a?(:\w{1,64}:)\d{1,20}|(/[^<>:\n]{1,100}):\d{1,20})>")


def name_of(user: User, member: Member | None = None) -> str:
    """A person's name as Discord shows it."""
    return (member.nick if member else None) or user.global_name or user.username


def names_of(content: Content) -> dict[str, str]:
    """The names of the people whom a message mentions, by their IDs."""
    return {each.id: name_of(each, each.member) for each in content.mentions}


def plain(text: str, names: Mapping[str, str]) -> str:
    """``text`` as people read it. ``names``: of people, channels and roles, by ID."""

    def read(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[3] or found[4] or ""
        sign = "#" if found[1] == "#" else "@"
        return f"{sign}{names.get(found[2]) or found[2]}"

    return _marked.sub(read, text)


def without_call(text: str, called: Collection[str]) -> str:
    """``text`` without the mentions of the bot at its beginning. ``called``: the IDs of the bot and of its roles."""
    at = 0
    while found := re.compile(r"\s*<@[!&]?(\d{1,20})>[\s,:]*").match(text, at):
        if found[1] not in called:
            break
        at = found.end()
    return text[at:]
