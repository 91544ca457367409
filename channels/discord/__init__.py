"""Discord: a bot in direct messages and servers, over the REST API and the gateway."""

from channels.discord.channel import DiscordChannel, connect

__all__ = ["DiscordChannel", "connect"]
