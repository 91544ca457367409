"""A push channel for tests: each part is posted to a server of the test's own."""

from channels.testing.channel import LookingChannel, TestingChannel, connect

__all__ = ["LookingChannel", "TestingChannel", "connect"]
