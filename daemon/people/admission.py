"""Whether a bot still accepts messages from a person."""

from daemon.access import Access, Speaker, is_listed, verdict
from daemon.config import PushConfig
from daemon.jobs import Host
from daemon.memory.memory_files import bot_of
from daemon.people.link_dependencies import name_of
from daemon.sessionkey import SessionKey


async def is_admitted(host: Host, scope: str) -> bool:
    """Whether the bot accepts messages of the person of ``scope``.

    Raises:
        ConfigError: the bot is not configured here.
        BusUnavailable: Redis is away.
    """
    person = SessionKey.parse(name_of(scope))
    config = host.config.channels.get(person.channel)
    if not isinstance(config, PushConfig):
        return config is not None  # pull channels have no access rules
    is_admin = is_listed(host.bot(bot_of(scope)), channel=person.channel, sender=person.chat)
    speaker = Speaker(sender=person.chat, chat="", in_group=False, is_admin=is_admin)
    return verdict(config.access, await Access(host.bus, person.channel).read(), speaker) == "heard"
