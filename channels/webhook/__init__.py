"""Connects any platform through a bridge, a program that exchanges signed JSON with Millpond over HTTP.

Public: ``connect`` creates the ``WebhookChannel`` of a configuration.
Begin with ``webhook_receiver`` (https://www.standardwebhooks.com); ``channel`` sends to the bridge.
"""

from channels.webhook.channel import WebhookChannel, connect

__all__ = ["WebhookChannel", "connect"]
