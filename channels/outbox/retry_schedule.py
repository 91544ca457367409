"""The order of a leader's deliveries, and the time until a failed delivery is tried again. Pure.

Each chat's replies stay in order, chats take turns, and a chat that waits for a retry delays no other chat.
"""

import heapq
import math
import random
from collections import deque
from dataclasses import dataclass, field

from daemon.config import QueueConfig
from daemon.events import Reply


@dataclass(eq=False, slots=True)
class Chat:
    """One session with replies to deliver."""

    session: str
    replies: deque[tuple[bytes, Reply | None]] = field(default_factory=deque[tuple[bytes, Reply | None]])
    """Stream ids, oldest first; the reply itself only of one that is first and not resting."""
    failures: int = 0
    """How often its first reply could not be sent."""
    errors: int = 0
    """How often it failed for a reason that no platform gave: a bug."""


class ChatAgenda:
    """Chats with replies to deliver. Each is ready, in hand (between ``next`` and ``done`` or ``park``) or resting."""

    def __init__(self) -> None:
        self._chats: dict[str, Chat] = {}
        self._ready: deque[Chat] = deque()
        self._resting: list[tuple[float, int, Chat]] = []
        self._numbers = 0
        self.held = 0
        """Replies in all chats."""

    def add(self, session: str, stream_id: bytes, reply: Reply | None) -> None:
        """Take in the newest reply of a chat; only its stream id is kept when others of that chat come first."""
        chat = self._chats.get(session)
        if chat is None:
            chat = self._chats[session] = Chat(session)
            self._ready.append(chat)
        chat.replies.append((stream_id, None if chat.replies else reply))
        self.held += 1

    @property
    def waiting(self) -> int:
        """Chats that are ready."""
        return len(self._ready)

    def next(self, now: float) -> Chat | None:
        """The chat whose first reply is to be delivered; it is the caller's until he says what became of it."""
        while self._resting and self._resting[0][0] <= now:
            self._ready.append(heapq.heappop(self._resting)[2])
        return self._ready.popleft() if self._ready else None

    def done(self, chat: Chat) -> None:
        """Its first reply is dealt with."""
        chat.replies.popleft()
        chat.failures = chat.errors = 0
        self.held -= 1
        if chat.replies:
            self._ready.append(chat)
        else:
            del self._chats[chat.session]

    def park(self, chat: Chat, until: float) -> None:
        """Its first reply is to be tried again, not before ``until``; it will have to be read again."""
        chat.replies[0] = (chat.replies[0][0], None)
        chat.failures += 1
        self.wait(chat, until)

    def wait(self, chat: Chat, until: float) -> None:
        """Its first reply has to wait for its turn, through no fault of its own, until then."""
        self._numbers += 1
        heapq.heappush(self._resting, (until, self._numbers, chat))

    def holds(self, session: str) -> bool:
        """Whether there are replies to deliver to a chat."""
        return session in self._chats

    def soonest(self) -> float | None:
        """When the first of those that rest is due; None when none rests."""
        return self._resting[0][0] if self._resting else None


REST_MAX_S = 3_600.0
"""A platform that wants to be left alone for longer is asked again after this."""

DOUBLINGS_MAX = 30
"""No rest is doubled more often: the number would leave the range of floats."""


def rest_s(failures: int, queue: QueueConfig, *, told_s: float | None = None) -> float:
    """Seconds until a reply is tried again: as told, else doubling with each failure, with jitter."""
    if told_s is not None and not math.isnan(told_s):
        return min(max(told_s, 0.0), REST_MAX_S)
    # Chats that failed together must not return as one.
    doubled: float = queue.backoff_min_s * 2 ** min(failures, DOUBLINGS_MAX)
    return random.uniform(0.5, 1.0) * min(queue.backoff_max_s, doubled)
