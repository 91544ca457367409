"""Slack: an app that people talk to in a workspace, over the Web API, and over a socket or events brought by HTTP."""

from channels.slack.channel import SlackChannel, connect

__all__ = ["SlackChannel", "connect"]
