"""Connects an app to Slack's Web API, and receives Slack's events through a WebSocket or over HTTP.

Public: ``connect`` creates the ``SlackChannel`` of a configuration.
Begin with ``channel``, the adapter. ``socket_mode`` and ``events_endpoint`` receive events, ``message_sender`` sends,
``slack_events`` interprets.
"""

from channels.slack.channel import SlackChannel, connect

__all__ = ["SlackChannel", "connect"]
