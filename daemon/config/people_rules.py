"""Rules for people with several identities. Pure."""

from collections.abc import Iterator

from daemon.config.config_reader import Finding
from daemon.config.schema import Config
from daemon.config.type_descriptions import got
from daemon.errors import BadSessionKey
from daemon.sessionkey import SessionKey


def people_findings(config: Config) -> Iterator[Finding]:
    """Every rule that ``config.people`` violates."""
    known: dict[str, str] = {}
    for name, person in config.people.items():
        here = f"people.{name}.identities"
        if len(person.identities) < 2:
            yield Finding(here, "the list contains only one identity. Name at least two identities to link")
        for identity in person.identities:
            if problem := _problem(config, identity):
                yield Finding(here, problem, ("channels",))
            elif identity in known:
                whose = "twice" if known[identity] == name else f"in people.{known[identity]} too"
                yield Finding(here, f"{got(identity)} is listed {whose}. List each identity only once")
            known.setdefault(identity, name)


def _problem(config: Config, identity: str) -> str:
    """What is wrong with one identity; empty when nothing is."""
    try:
        key = SessionKey.parse(identity)
    except BadSessionKey:
        key = None
    if key is None or key.thread or str(key) != identity:
        return f"expected <channel>:<sender> as shown by /whoami, got {got(identity)}"
    channel = config.channels.get(key.channel)
    if channel is None:
        return f"{got(identity)} names a channel that does not exist. Choose one of {', '.join(config.channels)}"
    bot = config.bots.get(channel.bot)
    if bot is not None and bot.memory.scope not in ("auto", "person"):
        return (
            f"{got(identity)} talks to bots.{channel.bot}, whose memory.scope is "
            f"{bot.memory.scope!r}. Only memories of persons can be linked: set memory.scope to "
            '"person", or remove this identity'
        )
    return ""
