"""People whose identities the configuration links: ``[people.<name>]``."""

from collections.abc import Iterator

import structlog

from daemon.config import Config
from daemon.errors import MillpondError, brief
from daemon.jobs import Host
from daemon.memory.memory_location import home_of
from daemon.people.link_requests import Asking
from daemon.scope import person_scope
from daemon.sessionkey import SessionKey

BY = "config"

_log = structlog.get_logger()


def scopes_of(config: Config, name: str) -> dict[str, list[str]]:
    """The scopes of one configured person, by bot: each bot remembers people for itself."""
    found: dict[str, list[str]] = {}
    for identity in config.people[name].identities:
        key = SessionKey.parse(identity)
        channel = config.channels[key.channel]
        found.setdefault(channel.bot, []).append(person_scope(channel.bot, key.channel, key.chat))
    return found


def wanted(config: Config) -> Iterator[tuple[str, str]]:
    """Every two scopes that the configuration links: the one that stays, and the one that becomes a part of it."""
    for name in config.people:
        for into, *members in scopes_of(config, name).values():
            for member in members:
                yield into, member


async def link_configured(host: Host) -> int:
    """Ask for every link of the configuration that is not there yet; how many were asked for. Never raises."""
    asking, asked = Asking(host), 0
    try:
        for into, member in wanted(host.config):
            if await home_of(host.bus, into) == await home_of(host.bus, member) or await asking.is_asked(into, member):
                continue
            await asking.link(into, member, by=BY)
            asked += 1
    except MillpondError as error:  # the next start tries again
        _log.warning("people.unlinked", reason=brief(error))
    return asked
