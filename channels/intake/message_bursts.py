"""Bursts: messages of one chat that arrive in a rush, among them the pieces of one that was too long for the platform.

A run goes onto the queue by one script, so that it holds up nobody behind it.
"""

from collections.abc import Callable, Iterator, Sequence

import anyio

from channels.arrival import Arrival
from daemon.bus import RUN_MAX, command_of
from daemon.config import AccessConfig

PASTE_S = 1.0
"""How long the pieces of a long message are collected: an app sends each of them once the one before has arrived."""

PASTE_SHARE = 0.95
"""A message of this share of the longest possible one is a piece: apps prefer to split between words."""

PASTES_MAX = 1_000
"""Chats in which pieces are collected; of more at a time, the oldest are forgotten."""


class Pastes:
    """Recognises the messages into which an app has split one that was too long.

    A full message is the first piece; what its sender says within ``PASTE_S`` after it belongs to it.
    """

    def __init__(self, length: Callable[[str], int], said_max: int) -> None:
        """``said_max``: as in ``Limits``."""
        self._length = length
        self._least = PASTE_SHARE * said_max if said_max else float("inf")
        self._until: dict[tuple[str, str, str], float] = {}
        """Chat, thread and sender, with the end of the time by the event loop's clock."""

    def is_piece(self, arrival: Arrival) -> bool:
        """Whether it is a piece; a full one is remembered."""
        # A text has at least half as many characters as units of any platform.
        if 2 * len(arrival.text) >= self._least and self._length(arrival.text) >= self._least:
            whose = (arrival.chat, arrival.thread, arrival.sender.id)
            self._until.pop(whose, None)
            if len(self._until) >= PASTES_MAX:
                del self._until[next(iter(self._until))]
            self._until[whose] = anyio.current_time() + PASTE_S
            return True
        return self.follows(arrival)

    def follows(self, arrival: Arrival) -> bool:
        """Whether a full message of its sender came just before it."""
        if not self._until:
            return False
        return self._until.get((arrival.chat, arrival.thread, arrival.sender.id), 0.0) > anyio.current_time()


def plain(access: AccessConfig, arrivals: Sequence[Arrival]) -> list[Arrival]:
    """The first ones that are words of one person's to the bot and nothing besides; at most ``RUN_MAX``.

    Of a direct chat, in one thread: what is said in groups, by bots, in albums, anew or as a command takes longer.
    """
    return list(_plain(access, arrivals[:RUN_MAX]))


def _plain(access: AccessConfig, arrivals: Sequence[Arrival]) -> Iterator[Arrival]:
    for arrival in arrivals:
        first = arrivals[0]
        if (arrival.chat, arrival.thread, arrival.sender.id) != (first.chat, first.thread, first.sender.id):
            return
        if access.bots or arrival.sender.is_bot or arrival.chat_kind != "direct":
            return
        if (
            arrival.edited
            or arrival.deleted
            or arrival.reaction
            or arrival.album
            or not arrival.text.strip()
            or command_of(arrival.text)
        ):
            return
        yield arrival
