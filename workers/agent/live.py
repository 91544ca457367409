"""The text of the answer being written, shown to viewers while it comes."""

from typing import Literal

import anyio
import structlog

from daemon.bus import Bus, notify, show_live
from daemon.config import QueueConfig
from daemon.errors import BusError
from daemon.events import Live, ToolEvent
from daemon.model import ToolCall
from daemon.session import Claim

EVERY_S = 0.25
"""Shortest time between two pieces (DESIGN section 2.8: at most four a second)."""

_log = structlog.get_logger()


class LiveText:
    """Collects an answer's text and publishes it in pieces; what is lost on the way is in the log in the end."""

    def __init__(self, bus: Bus, claim: Claim, config: QueueConfig) -> None:
        self._bus = bus
        self._claim = claim
        self._config = config
        self._sequence = 0
        self._shown = 0
        self._more = anyio.Event()
        self.text = ""
        """All that has come of the current answer."""

    def begin(self) -> None:
        """A new answer starts; what the last one said is not part of it."""
        self.text, self._shown = "", 0

    def add(self, piece: str) -> None:
        """Append to the text; never waits."""
        self.text += piece
        self._more.set()

    async def show(self) -> None:
        """Publish what is added, for ever."""
        while True:
            await self._more.wait()
            self._more = anyio.Event()
            piece, offset = self.text[self._shown :], self._shown
            self._shown = len(self.text)
            try:
                await show_live(
                    self._bus,
                    self._live(self.text, 0),
                    self._live(piece, offset),
                    nonce=self._claim.nonce,
                    config=self._config,
                )
            except BusError as error:
                _log.debug("live.lost", reason=str(error))
            self._sequence += 1
            await anyio.sleep(EVERY_S)

    async def tool(self, call: ToolCall, state: Literal["started", "done", "failed"]) -> None:
        """Show that a tool began or ended."""
        event = ToolEvent(
            session=self._claim.session,
            turn=self._claim.begun.head,
            fence=self._claim.fence,
            call=call.id,
            name=call.name,
            state=state,
        )
        try:
            await notify(self._bus, event)
        except BusError as error:
            _log.debug("live.lost", reason=str(error))

    def _live(self, text: str, offset: int) -> Live:
        return Live(
            session=self._claim.session,
            turn=self._claim.begun.head,
            fence=self._claim.fence,
            sequence=self._sequence,
            offset=offset,
            text=text,
        )
