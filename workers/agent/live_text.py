"""The text of answers in progress, shown to viewers."""

from typing import Literal

import anyio
import structlog

from daemon.bus import Bus, notify, show_live
from daemon.config import QueueConfig
from daemon.errors import BusError, brief
from daemon.events import Live, ToolEvent
from daemon.model import ToolCall
from daemon.session import Claim

EVERY_S = 0.25
"""Shortest time between two pieces of a text (at most four a second: the rate that viewers are promised)."""

_log = structlog.get_logger()


class LiveBoard:
    """Publishes the texts of all turns of a process; ``run`` must be running in a task group."""

    def __init__(self, bus: Bus, config: QueueConfig) -> None:
        self.bus = bus
        self.config = config
        self._changed: set[LiveText] = set()
        self._wake = anyio.Event()

    def changed(self, text: "LiveText") -> None:
        """Have ``text`` shown when its time has come."""
        if text not in self._changed:
            self._changed.add(text)
            self._wake.set()

    def ended(self, text: "LiveText") -> None:
        """Show no more of ``text``."""
        self._changed.discard(text)

    async def run(self) -> None:
        """Show what changes, for ever."""
        while True:
            await self._wake.wait()
            self._wake = anyio.Event()
            for text in sorted(self._changed, key=lambda text: text.show_at):
                if text.show_at <= anyio.current_time():
                    self._changed.discard(text)
                    await text.show()
            if self._changed:
                with anyio.move_on_after(min(text.show_at for text in self._changed) - anyio.current_time()):
                    await self._wake.wait()
                self._wake.set()


class LiveText:
    """Collects one turn's current answer; what is lost on the way to viewers is in the log in the end."""

    def __init__(self, board: LiveBoard, claim: Claim, *, is_hidden: bool = False) -> None:
        """``is_hidden``: no viewer is shown it before it is whole, for it may come to nothing."""
        self._is_hidden = is_hidden
        self._board = board
        self._claim = claim
        self._sequence = 0
        self._shown = 0
        self.show_at = 0.0
        """When the next piece may be shown, by the event loop's clock; the first one at once."""
        self.text = ""
        """All that has come of the current answer."""

    def begin(self) -> None:
        """A new answer starts; what the last one said is not part of it."""
        self.text, self._shown = "", 0

    def add(self, piece: str) -> None:
        """Append to the text; never waits."""
        self.text += piece
        if not self._is_hidden:
            self._board.changed(self)

    def end(self) -> None:
        """The text is whole: the log has it next."""
        self._board.ended(self)

    async def show(self) -> None:
        """Publish what was added."""
        self.show_at = anyio.current_time() + EVERY_S
        piece, offset = self.text[self._shown :], self._shown
        self._shown = len(self.text)
        whole, new = self._live(self.text, 0), self._live(piece, offset)
        self._sequence += 1
        try:
            await show_live(self._board.bus, whole, new, nonce=self._claim.nonce, config=self._board.config)
        except BusError as error:
            _log.debug("live.lost", reason=brief(error))

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
            await notify(self._board.bus, event)
        except BusError as error:
            _log.debug("live.lost", reason=brief(error))

    def _live(self, text: str, offset: int) -> Live:
        return Live(
            session=self._claim.session,
            turn=self._claim.begun.head,
            fence=self._claim.fence,
            sequence=self._sequence,
            offset=offset,
            text=text,
        )
