"""Runs: what one chat says in a rush goes onto the queue by one script, so that it holds up nobody behind it."""

from collections.abc import Iterator, Sequence

from channels.arrival import Arrival
from daemon.bus import RUN_MAX, command_of
from daemon.config import AccessConfig


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
