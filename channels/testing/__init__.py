"""Provides contract tests for adapters, and a channel for tests of other programs.

Public: ``connect`` creates a ``TestingChannel``, or a ``LookingChannel``, which can look up messages.
Begin with ``channel``, or with ``channel_contract``, which needs pytest and is therefore not imported here.
"""

from channels.testing.channel import LookingChannel, TestingChannel, connect

__all__ = ["LookingChannel", "TestingChannel", "connect"]
