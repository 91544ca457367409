"""Telegram: bots that people talk to there, over the Bot API."""

from channels.telegram.channel import TelegramChannel, connect

__all__ = ["TelegramChannel", "connect"]
