"""Connects an app to Feishu's or Lark's API, and receives events through a long-lived connection or over HTTP.

Public: ``connect`` creates the ``FeishuChannel`` of a configuration.
Begin with ``channel``, the adapter. ``long_connection`` and ``events_endpoint`` receive events, ``message_sender``
sends, ``feishu_events`` interprets.
"""

from channels.feishu.channel import FeishuChannel, connect

__all__ = ["FeishuChannel", "connect"]
