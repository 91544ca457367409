"""Feishu and Lark: an app that people talk to, over the API and a long connection or events by HTTP."""

from channels.feishu.channel import FeishuChannel, connect

__all__ = ["FeishuChannel", "connect"]
