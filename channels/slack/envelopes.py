"""Envelopes that came over a socket, on their way to the section that they belong to."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio.abc
import msgspec

from channels.event_queue import EventQueue, QueuedEvent
from channels.slack.workspaces import App, Kind, address_of

_KINDS: Mapping[str, Kind] = {"events_api": "events_api", "slash_commands": "slash_commands"}


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """What comes over a socket, be it an envelope or a word about the connection."""

    type: str = ""
    envelope_id: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"{}")
    reason: Any = ""
    """Of ``disconnect``: why."""
    num_connections: Any = 0
    """Of ``hello``: how many the app has now."""


class Envelopes:
    """Takes envelopes of one app, whichever of its connections they come by."""

    def __init__(self, app: App, tg: anyio.abc.TaskGroup, *, channel: str) -> None:
        """``tg`` has a task for each chat with something that waits."""
        self._app = app
        self._queue = EventQueue(tg, channel=channel)

    def put(self, envelope: Envelope, acknowledge: Callable[[], Awaitable[None]]) -> None:
        """Have it taken behind those of its chat that wait already; returns at once.

        ``acknowledge`` is called when it was taken; it does not raise.
        """
        self._queue.put(
            QueuedEvent(
                chat=_chat_of(envelope),
                size_bytes=len(bytes(envelope.payload)),
                take=lambda: self._app.take(_kind(envelope), envelope.payload),
                acknowledge=acknowledge,
            )
        )


def _kind(envelope: Envelope) -> Kind:
    return _KINDS.get(envelope.type, "other")


def _chat_of(envelope: Envelope) -> bytes:
    try:
        return address_of(envelope.payload).chat
    except (ValueError, RecursionError):
        return b""
