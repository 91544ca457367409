"""Messages marked once they are accepted. Best effort: a mark that cannot be made is not made."""

from collections import deque

import anyio
import structlog

from channels.base import Channel
from daemon.errors import ChannelError, brief
from daemon.events import Inbound

WAITING_MAX = 1_000
"""Marks still to be made; older ones are left out."""

AT_ONCE = 4

TIMEOUT_S = 3.0

_log = structlog.get_logger()


class Reactions:
    """Marks messages of one channel instance with ``sign``; ``run`` must be running in a task group."""

    def __init__(self, channel: Channel, *, sign: str) -> None:
        self._channel = channel
        self._sign = sign
        self._waiting: deque[Inbound] = deque(maxlen=WAITING_MAX)
        self._asked = anyio.Event()

    def mark(self, inbound: Inbound) -> None:
        """Have a message marked."""
        if self._sign:
            self._waiting.append(inbound)
            self._asked.set()

    async def run(self) -> None:
        """Mark, for ever."""
        async with anyio.create_task_group() as tg:
            for _ in range(AT_ONCE):
                tg.start_soon(self._work)

    async def _work(self) -> None:
        while True:
            while self._waiting:
                await self._react(self._waiting.popleft())
            self._asked = anyio.Event() if self._asked.is_set() else self._asked
            await self._asked.wait()

    async def _react(self, inbound: Inbound) -> None:
        try:
            with anyio.move_on_after(TIMEOUT_S):
                await self._channel.react(inbound.session, inbound.id, self._sign, timeout_s=TIMEOUT_S)
        except ChannelError as error:
            _log.debug("reaction.failed", session=str(inbound.session), reason=brief(error))
        except Exception as error:  # noqa: BLE001 - a bug in a mere mark must not end what is sent
            _log.exception("reaction.failed", session=str(inbound.session), reason=type(error).__name__)
