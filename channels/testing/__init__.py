"""Provides a channel for tests of other programs, which posts replies to a local server.

Public: ``connect`` creates a ``TestingChannel``, or a ``LookingChannel``, which can look up messages.
Begin with ``channel``.
"""

from channels.testing.channel import LookingChannel, TestingChannel, connect

__all__ = ["LookingChannel", "TestingChannel", "connect"]
