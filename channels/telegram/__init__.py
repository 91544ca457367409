"""Connects bots to Telegram's Bot API, and receives updates by polling or through a webhook.

Public: ``connect`` creates the ``TelegramChannel`` of a configuration.
Begin with ``channel``, the adapter. ``polling`` and ``webhook`` receive updates, ``message_sender`` sends, ``updates``
interprets.
"""

from channels.telegram.channel import TelegramChannel, connect

__all__ = ["TelegramChannel", "connect"]
