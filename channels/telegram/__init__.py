"""Connects bots with Telegram over Telegram's Bot API, by polling or a webhook.

Public: ``connect`` creates the ``TelegramChannel`` of a configuration.
Begin with ``channel``, the adapter. ``polling`` and ``webhook`` receive updates, ``message_sender`` sends, ``updates``
interprets.
"""

from channels.telegram.channel import TelegramChannel, connect

__all__ = ["TelegramChannel", "connect"]
