"""Reads and writes stop while the embedded server's folder is gone: the server answers, but loses what it is told."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import structlog

from daemon.concurrency import until_tick
from daemon.errors import BusUnavailable

FOLDER_LOOK_S = 2.0
"""How often the folder is checked: messages that were accepted in between may be lost with the folder."""

_log = structlog.get_logger()


class Suspension:
    """Whether a bus is suspended, and why."""

    def __init__(self) -> None:
        self.reason = ""
        """A sentence for people; empty: nothing is suspended."""

    def check(self) -> None:
        """Raise BusUnavailable while suspended."""
        if self.reason:
            raise BusUnavailable(self.reason)

    def answers(self, count: int) -> list[Any]:
        """The answers to so many commands while suspended; none while not."""
        return [BusUnavailable(self.reason)] * count if self.reason else []

    async def watch(self, gone: Callable[[], Awaitable[str]]) -> None:
        """Suspend whenever ``gone`` gives a reason, and resume when it gives none."""
        while True:
            await anyio.sleep(until_tick(FOLDER_LOOK_S))
            last, self.reason = self.reason, await gone()
            if self.reason and not last:
                _log.error("data.folder_gone", reason=self.reason)
            elif last and not self.reason:
                _log.warning("data.folder_back")
