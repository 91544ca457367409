"""The checks of push channels for ``millpond doctor``."""

import anyio

from channels.base import Health
from channels.discord.api import connect as connect_discord
from channels.discord.health_check import examined as examined_discord
from channels.feishu.api import AccessToken
from channels.feishu.api import connect as connect_feishu
from channels.feishu.health_check import examined as examined_feishu
from channels.push import connect as open_adapter
from channels.slack.api import connect as connect_slack
from channels.slack.health_check import examined as examined_slack
from channels.telegram.api import connect
from channels.telegram.health_check import examined
from daemon.cli.command_setup import leaves
from daemon.cli.doctor.doctor_finding import Finding, error, ok, warning
from daemon.config import (
    Config,
    DiscordConfig,
    FeishuConfig,
    PushConfig,
    SlackConfig,
    TelegramConfig,
    TestingConfig,
    data_path,
)
from daemon.errors import MillpondError
from daemon.run import open_process

ASK_S = 15.0
"""Limit for a platform's answer about the bot's identity."""


async def examine(name: str, config: Config) -> list[Finding]:
    """The lines of the channel ``name``; empty when it is none of which anything can be said."""
    channel = config.channels[name]
    if not isinstance(channel, PushConfig):
        return []
    if isinstance(channel, TelegramConfig):
        found = await _telegram(name, channel)
    elif isinstance(channel, SlackConfig):
        found = await _slack(name, channel)
    elif isinstance(channel, FeishuConfig):
        found = await _feishu(name, channel)
    elif isinstance(channel, DiscordConfig):
        found = await _discord(name, channel)
    elif isinstance(channel, FeishuConfig):
        found = await _feishu(name, channel)
    else:
        # The one for tests has nothing to say.
        found = [] if isinstance(channel, TestingConfig) else [await _health(name, channel, config)]
    if channel.access.policy == "closed" or (channel.access.policy is None and not channel.access.allow):
        found.append(warning(f"channel {name}", _closed(name, config.bots[channel.bot].admins)))
    return found


async def _telegram(name: str, config: TelegramConfig) -> list[Finding]:
    async with connect(config.base_url, config.token) as api:
        remarks = await examined(api, config, name=name)
    return [Finding(check=f"channel {name}", state=each.state, text=each.text) for each in remarks]


async def _slack(name: str, config: SlackConfig) -> list[Finding]:
    async with connect_slack(config.base_url, config.bot_token) as api:
        remarks = await examined_slack(api, config, name=name)
    return [Finding(check=f"channel {name}", state=each.state, text=each.text) for each in remarks]


async def _discord(name: str, config: DiscordConfig) -> list[Finding]:
    async with connect_discord(config.base_url, config.token) as api:
        remarks = await examined_discord(api, config, name=name)
    return [Finding(check=f"channel {name}", state=each.state, text=each.text) for each in remarks]


async def _feishu(name: str, config: FeishuConfig) -> list[Finding]:
    async with connect_feishu(config.base_url, AccessToken(config.app_id, config.app_secret)) as api:
        remarks = await examined_feishu(api, config, name=name)
    return [Finding(check=f"channel {name}", state=each.state, text=each.text) for each in remarks]


async def _health(name: str, channel: PushConfig, config: Config) -> Finding:
    """What the adapter of a webhook, or of another package, says of itself."""
    health = Health(ok=False, text=f"the platform did not respond within {ASK_S:g} s")
    try:
        with anyio.move_on_after(ASK_S):
            async with (
                open_process(config, data_path(config)) as process,
                open_adapter(process, name, channel) as adapter,
            ):
                health = await adapter.health()
    except Exception as problem:  # noqa: BLE001 - another package's code, or Redis is away: doctor has to go on
        first = leaves(problem)[0]
        reason = f"{first}" if isinstance(first, MillpondError) else f"{type(first).__name__}: {first}"
        health = Health(ok=False, text=f"the channel could not be checked: {reason}")
    return (ok if health.ok else error)(f"channel {name}", health.text)


def _closed(name: str, admins: tuple[str, ...]) -> str:
    heard = "the channel accepts messages only from administrators" if admins else "all messages are ignored"
    return f"access is closed: {heard}. Set channels.{name}.access.policy to another value, such as pairing."
