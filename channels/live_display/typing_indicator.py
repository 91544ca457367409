"""The sign that an answer is being written, kept alive until nothing waits any more. It never delays a reply."""

from dataclasses import dataclass

import anyio
import structlog
from anyio.lowlevel import checkpoint

from channels.base import Channel
from daemon.bus import Bus
from daemon.errors import BusError, ChannelError, SendRefused, brief
from daemon.sessionkey import SessionKey

CHATS_MAX = 2_000
"""Chats that show the sign at a time; in more of them it is not shown."""

AT_ONCE = 16
"""Signs sent at a time."""

MARGIN_S = 0.5
"""The sign is renewed so long before it fades."""

SHORTEST_S = 0.5

FIRST_S = 0.4
"""What is answered sooner needs no sign: a person notices nothing missing, and a call to the platform is saved."""

LONGEST_S = 600.0
"""No chat shows it for longer: as long as a turn may last."""

TIMEOUT_S = 3.0

REFUSED_S = 30.0
"""A chat that refuses the sign shows none for so long, when the platform does not say how long."""

_log = structlog.get_logger()


@dataclass(eq=False)
class _Sign:
    at: float
    """When it is sent next, by the event loop's clock."""
    until: float
    sent: bool = False


class TypingIndicator:
    """Shows the sign in the chats of one channel instance; ``run`` must be running in a task group."""

    def __init__(self, bus: Bus, channel: Channel, *, enabled: bool) -> None:
        self._bus = bus
        self._channel = channel
        lasts_s = channel.limits.typing_lasts_s
        self._every_s = max(lasts_s - MARGIN_S, SHORTEST_S)
        self.enabled = enabled and lasts_s > 0
        """Whether any sign is shown."""
        self._signs: dict[str, _Sign] = {}
        self._asked = anyio.Event()
        self._room = anyio.CapacityLimiter(AT_ONCE)

    def begin(self, session: str) -> None:
        """Something of the session is being answered."""
        if not self.enabled or session in self._signs or len(self._signs) >= CHATS_MAX:
            return
        now = anyio.current_time()
        self._signs[session] = _Sign(at=now + FIRST_S, until=now + LONGEST_S)
        self._asked.set()

    def look(self, session: str) -> None:
        """Something was delivered: see soon whether anything waits still."""
        # What has shown no sign yet is looked at when its first one is due.
        if (sign := self._signs.get(session)) and sign.sent:
            sign.at = anyio.current_time()
            self._asked.set()

    async def run(self) -> None:
        """Send signs, for ever."""
        async with anyio.create_task_group() as tg:
            while True:
                self._asked = anyio.Event()
                now = anyio.current_time()
                due = [session for session, sign in self._signs.items() if sign.at <= now]
                for session in await self._waiting(due):
                    sign = self._signs[session]
                    sign.at, sign.sent = now + self._every_s, True
                    tg.start_soon(self._send, session)
                soonest = min((sign.at for sign in self._signs.values()), default=now + LONGEST_S)
                with anyio.move_on_after(max(0.05, soonest - anyio.current_time())):
                    await self._asked.wait()
                await checkpoint()

    async def _waiting(self, sessions: list[str]) -> list[str]:
        """Those of them in which something waits; the others are signed no more."""
        if not sessions:
            return []
        now = anyio.current_time()
        lengths = await self._bus.each([("LLEN", self._bus.keys.waiting(session)) for session in sessions])
        found: list[str] = []
        for session, length in zip(sessions, lengths, strict=True):
            sign = self._signs.get(session)
            if sign is None:
                continue
            if isinstance(length, BaseException):
                sign.at = now + self._every_s
            elif length and now < sign.until:
                found.append(session)
            else:
                del self._signs[session]
        return found

    async def _send(self, session: str) -> None:
        try:
            async with self._room:
                with anyio.move_on_after(TIMEOUT_S):
                    await self._channel.typing(SessionKey.parse(session), timeout_s=TIMEOUT_S)
        except SendRefused as error:
            self._rest(session, REFUSED_S if error.retry_after_s is None else error.retry_after_s)
        except (ChannelError, BusError) as error:
            self._rest(session, REFUSED_S)
            _log.debug("typing.failed", session=session, reason=brief(error))
        except Exception as error:  # noqa: BLE001 - a bug in a mere sign must not end what is sent
            self._rest(session, LONGEST_S)
            _log.exception("typing.failed", session=session, reason=type(error).__name__)

    def _rest(self, session: str, seconds: float) -> None:
        if sign := self._signs.get(session):
            sign.at = max(sign.at, anyio.current_time() + seconds)
