"""Downloading the files of a push channel's messages, in the process that answers them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Protocol

from channels.push import connect
from daemon.config import PushConfig, WebConfig
from daemon.errors import SendRejected
from daemon.events import Attachment
from daemon.process import Process


class Fetch(Protocol):
    """Gives the content of a file."""

    async def __call__(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """See ``channels.base.Channel.fetch``; also raises SendRejected for one that is larger than is fetched."""
        ...


@asynccontextmanager
async def fetching(process: Process, channel: str) -> AsyncGenerator[Fetch]:
    """Fetches files of a channel instance, for the length of the block.

    Raises:
        SendRejected: this process's configuration has no such channel, or one that fetches nothing.
    """
    config = process.config.channels.get(channel)
    if isinstance(config, WebConfig):
        yield _uploaded
        return
    if not isinstance(config, PushConfig):
        raise SendRejected(
            f"the files come from channel {channel[:80]!r}, but the configuration of this process does not contain "
            f"this channel"
        )
    async with connect(process, channel, config) as adapter:

        async def fetch(attachment: Attachment, *, timeout_s: float) -> bytes:
            content = await adapter.fetch(attachment, timeout_s=timeout_s)
            if len(content) > adapter.limits.fetch_max_bytes:
                raise SendRejected("the file is too large to be downloaded")
            return content

        yield fetch


async def _uploaded(attachment: Attachment, *, timeout_s: float) -> bytes:
    """A file of the page is stored before its message, so that nothing is left to fetch."""
    raise SendRejected("the uploaded file is not in this worker's workspace")
