"""Chats in which a bot rests: what is written there is kept, and answered when an administrator has it go on."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from daemon.access.access_list import AccessCache
from daemon.bus import Bus, Listener, load_script, pairs
from daemon.config import QueueConfig
from daemon.errors import UNREADABLE
from daemon.sessionkey import SessionKey, encode_part

PAUSE = load_script(__file__, "pause.lua", with_parts=("access.part.lua",))
RESUME = load_script(__file__, "resume.lua")

EVERYWHERE = "*"
"""Stands for all chats of a bot; no chat's name is like it, since names are percent-encoded."""

FRESH_S = 2.0
"""How often is read where a bot rests, should the word that it has changed get lost."""

REMEMBERED_S = 3_600.0
"""How long is remembered that a chat rests no more: an older command may still be on its way."""

PAGE = 500

Paused = Literal["done", "none", "late"]
"""``none``: it was so already; ``late``: something newer was said."""


class _Rest(msgspec.Struct, frozen=True, kw_only=True):
    on: bool = False
    at: str = ""


_decode = msgspec.json.Decoder(_Rest).decode


class Pauses:
    """Where bots rest, as this process knows it. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus, config: QueueConfig) -> None:
        self._bus = bus
        self._wakeup_ms = round(config.wakeup_s * 1000)
        self._cached: dict[str, AccessCache[Mapping[str, str]]] = {}

    async def run(self, listener: Listener) -> None:
        """Hear of changes, for ever. Without it they are seen within ``FRESH_S``."""
        async with listener.hear(self._bus.keys.rulings) as rulings:
            while True:
                await rulings.next()
                for cached in self._cached.values():
                    cached.changed()

    async def of(self, bot: str, session: SessionKey) -> str:
        """By which name a bot rests in a session's chat: a new one for each time; empty when it does not."""
        if bot not in self._cached:
            self._cached[bot] = AccessCache(lambda: self._read(bot), fresh_s=FRESH_S)
        if not _name(await self._cached[bot].get(), session):
            return ""
        # Whoever is woken since it goes on may be here before the word of it.
        return _name(await self._read(bot), session)

    async def chats(self, bot: str) -> Mapping[str, str]:
        """The chats in which a bot rests just now, ``EVERYWHERE`` among them, each with since when (``<ms>-…``)."""
        return await self._read(bot)

    async def pause(self, bot: str, chat: str, *, by: str, time: str, at: str = "") -> Paused:
        """Have a bot rest in ``chat`` (see ``chat_of``) or ``EVERYWHERE``; ``at`` as for ``Access.decide``."""
        return await self._change(bot, chat, "on", by=by, time=time, at=at)

    async def resume(self, bot: str, chat: str, *, by: str, time: str, at: str = "") -> Paused:
        """Have it go on there; errors and ``at`` as for ``pause``. ``wake`` says so to those who wait."""
        return await self._change(bot, chat, "off", by=by, time=time, at=at)

    async def wake(self, channels: frozenset[str], chat: str) -> int:
        """Wake what was put off in ``chat``, or in all chats of ``channels``; how many sessions.

        A hint: those that are not woken come back by themselves.
        """
        sessions: dict[str, None] = {}
        for partition in range(self._bus.keys.partitions):
            first = 0
            # By rank, while others come and go: one that is passed over comes back by itself.
            while found := await self._page(partition, first):
                sessions |= dict.fromkeys(found)
                first += PAGE
        wanted = [(session, SessionKey.parse(session)) for session in sessions]
        return sum(
            [
                await self._wake(session)
                for session, key in wanted
                if key.channel in channels and chat in (EVERYWHERE, chat_of(key))
            ]
        )

    async def _page(self, partition: int, first: int) -> list[str]:
        key = self._bus.keys.due(partition)
        found: list[bytes] = await self._bus.call("ZREVRANGE", key, first, first + PAGE - 1)
        return [name.decode() for name in found]

    async def _wake(self, session: str) -> int:
        keys = self._bus.keys.of(session)
        woken: int = await self._bus.run(
            RESUME, [keys.session, keys.waiting, keys.ready, keys.due], [session, self._wakeup_ms]
        )
        return woken

    async def _change(self, bot: str, chat: str, to: Literal["on", "off"], *, by: str, time: str, at: str) -> Paused:
        keys = self._bus.keys
        status: bytes = await self._bus.run(
            PAUSE,
            [keys.paused(bot)],
            [chat, to, by, time, at, keys.rulings, f"bot {bot}", round(REMEMBERED_S * 1000)],
        )
        if bot in self._cached:
            self._cached[bot].changed()
        paused: Paused = msgspec.convert(status.decode(), Paused)
        return paused

    async def _read(self, bot: str) -> Mapping[str, str]:
        found: Any = await self._bus.call("HGETALL", self._bus.keys.paused(bot))
        rests = {name.decode(): _rest(raw) for name, raw in pairs(found)}
        return {name: rest.at for name, rest in rests.items() if rest.on}


def chat_of(session: SessionKey) -> str:
    """A chat with all its threads: ``<channel instance>:<chat>``, each part percent-encoded."""
    return f"{encode_part(session.channel)}:{encode_part(session.chat)}"


def _name(rests: Mapping[str, str], session: SessionKey) -> str:
    return (rests.get(EVERYWHERE) or rests.get(chat_of(session), "")) if rests else ""


def _rest(raw: bytes) -> _Rest:
    try:
        return _decode(raw)
    except UNREADABLE:
        return _Rest()
