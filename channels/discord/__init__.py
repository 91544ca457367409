"""Connects a bot to Discord's REST API and gateway.

Public: ``connect`` creates the ``DiscordChannel`` of a configuration.
Begin with ``channel``, the adapter. ``gateway`` receives events, ``message_sender`` sends, ``discord_events``
interprets.
"""

from channels.discord.channel import DiscordChannel, connect

__all__ = ["DiscordChannel", "connect"]
