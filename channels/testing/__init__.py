"""A push channel for tests: each part is posted to a server of the test's own."""

from channels.testing.channel import TestingChannel
from channels.testing.connector import connect
from channels.testing.looking_channel import LookingChannel

__all__ = ["LookingChannel", "TestingChannel", "connect"]
