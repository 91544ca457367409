"""Connects an app with Feishu or Lark, over the platform's API, and a long-lived connection or HTTP events.

Public: ``connect`` creates the ``FeishuChannel`` of a configuration.
Begin with ``channel``, the adapter. ``long_connection`` and ``events_endpoint`` receive events, ``message_sender``
sends, ``feishu_events`` interprets.
"""

from channels.feishu.channel import FeishuChannel, connect

__all__ = ["FeishuChannel", "connect"]
