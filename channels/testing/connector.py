"""Opening a testing channel."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2

from channels.testing.channel import TestingChannel
from channels.testing.looking_channel import LookingChannel
from daemon.config import TestingConfig
from daemon.process import Process

CHATS_MAX = 1_000
"""Connections at once; more chats than that are never sent to at a time."""


@asynccontextmanager
async def connect(process: Process, name: str, config: TestingConfig) -> AsyncGenerator[TestingChannel]:
    """The channel for the length of the block; ``process`` is the one that it is a part of."""
    # A connection for each part: one that the other side has closed meanwhile would look like a cut request.
    limits = httpx2.Limits(max_connections=CHATS_MAX, max_keepalive_connections=0)
    # Making the certificates ready costs 20 ms, which a server that is spoken to in the clear does not need.
    verify = any(url.startswith("https:") for url in (config.url, config.updates_url))
    async with httpx2.AsyncClient(limits=limits, trust_env=False, verify=verify) as client:
        yield (LookingChannel if config.looks else TestingChannel)(name, config, client)
