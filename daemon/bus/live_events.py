"""Temporary events for viewers: text being written, and tools in progress. No other part relies on these events."""

import msgspec

from daemon.bus.connection import Bus
from daemon.bus.script import load_script
from daemon.config import QueueConfig
from daemon.events import Live, ToolEvent

LIVE = load_script(__file__, "live.lua")

_encode = msgspec.json.Encoder().encode


async def show_live(bus: Bus, whole: Live, piece: Live, *, nonce: str, config: QueueConfig) -> None:
    """Publish ``piece``, and keep ``whole`` (the text so far) for viewers who join."""
    session = whole.session
    await bus.run(
        LIVE,
        [bus.keys.session(session), bus.keys.live(session)],
        [nonce, round(config.live_ttl_s * 1000), _encode(whole), bus.keys.events(session), _encode(piece)],
    )


async def notify(bus: Bus, event: ToolEvent) -> None:
    """Publish that a tool began or ended."""
    await bus.call("PUBLISH", bus.keys.events(event.session), _encode(event))
