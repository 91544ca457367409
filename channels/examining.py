"""What ``millpond doctor`` says of the push channels."""

from channels.telegram.api import connect
from channels.telegram.examined import examined
from daemon.cli.finding import Finding, warning
from daemon.config import Config, PushConfig, TelegramConfig


async def examine(name: str, config: Config) -> list[Finding]:
    """The lines of the channel ``name``; empty when it is none of which anything can be said."""
    channel = config.channels[name]
    if not isinstance(channel, PushConfig):
        return []
    found = await _telegram(name, channel) if isinstance(channel, TelegramConfig) else []
    if channel.access.policy == "closed" or (channel.access.policy is None and not channel.access.allow):
        found.append(warning(f"channel {name}", _closed(name, config.bots[channel.bot].admins)))
    return found


async def _telegram(name: str, config: TelegramConfig) -> list[Finding]:
    async with connect(config.base_url, config.token) as api:
        remarks = await examined(api, config, name=name)
    return [Finding(check=f"channel {name}", state=each.state, text=each.text) for each in remarks]


def _closed(name: str, admins: tuple[str, ...]) -> str:
    heard = "only administrators are heard" if admins else "nobody is heard"
    return f"access is closed: {heard}; set channels.{name}.access.policy, to pairing for example"
