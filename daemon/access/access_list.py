"""Who is heard on a push channel: the rule, and what administrators decided about people and groups."""

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Generic, Literal, TypeVar

import anyio
import msgspec

from daemon.bus import ADMIN_COMMANDS, Bus, Heard, Listener, load_script, pairs
from daemon.config import GROUP_COMMANDS, AccessConfig, BotConfig
from daemon.errors import UNREADABLE, BusUnavailable
from daemon.events import Inbound
from daemon.sessionkey import encode_part

# Who is an administrator of a bot, by the names that its configuration lists.


def is_admin(bot: BotConfig, inbound: Inbound) -> bool:
    """Whether the sender is an admin, see ``is_listed``."""
    return is_listed(bot, channel=inbound.channel, sender=inbound.sender_id)


def is_listed(bot: BotConfig, *, channel: str, sender: str) -> bool:
    """Whether a sender is listed as ``<channel>:<sender>``, or by the sender's id for every channel."""
    # A client of the API says itself who it is: it must not pass for somebody of another channel.
    return _person(channel, sender) in bot.admins or (":" not in sender and sender in bot.admins)


def person_of(inbound: Inbound) -> str:
    """The sender as the configuration names people, ``<channel instance>:<sender>``, each part percent-encoded."""
    return _person(inbound.channel, inbound.sender_id)


def _person(channel: str, sender: str) -> str:
    return f"{encode_part(channel)}:{encode_part(sender)}"


Verdict = Literal["heard", "code", "silent", "banned"]
"""``code``: a stranger who is given a code; ``silent``: not heard, and not told."""


class AccessEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an administrator decided about a person or a group."""

    state: Literal["paired", "banned", "free"]
    """``paired``: let in; ``free``: no longer banned, and a stranger again."""
    name: str = ""
    by: str = ""
    """Who decided it: ``<channel>:<sender>``, or the user of a command line."""
    time: str = ""
    """ISO 8601, UTC."""
    at: str = ""
    """Stream id of the command that said so: an older one that arrives late changes nothing."""


class Speaker(msgspec.Struct, frozen=True, kw_only=True):
    """Who says something, and where; ids as the platform gives them."""

    sender: str
    chat: str
    in_group: bool
    is_admin: bool


def verdict(config: AccessConfig, entries: Mapping[str, AccessEntry], who: Speaker) -> Verdict:
    """Whether ``who`` is heard, by what the configuration and administrators say; a ban has the first word."""
    ids = [who.sender, who.chat] if who.in_group else [who.sender]
    states = {entries[each].state for each in ids if each in entries}
    if "banned" in states:
        return "banned"
    if who.is_admin or config.policy == "open":
        return "heard"
    if config.policy == "closed":
        return "silent"
    if "paired" in states or any(each in config.allow for each in ids):
        return "heard"
    return "code" if config.policy == "pairing" and not who.in_group else "silent"


# Which commands a person may use in a chat. Pure.

DIRECT_COMMANDS = frozenset({"link", "unlink"})
"""Commands about one person's memory, which cannot be used in a group."""


def may(bot: BotConfig, inbound: Inbound, command: str) -> bool:
    """Whether the sender of ``inbound`` may use ``command`` where it was said.

    This function does not check whose data the memory contains: see ``may_take``.
    """
    return allowed(bot, command, in_group=inbound.chat_kind == "group", is_admin=is_admin(bot, inbound))


def allowed(bot: BotConfig, command: str, *, in_group: bool, is_admin: bool) -> bool:
    """Whether an administrator or another person may use ``command`` in a group or in a direct chat."""
    if in_group and command in DIRECT_COMMANDS:
        return False
    if is_admin:
        return True
    if command in ADMIN_COMMANDS:
        return False
    return command not in GROUP_COMMANDS or command in bot.groups_may if in_group else command != "model"


def is_kept_from_members(bot: BotConfig, inbound: Inbound) -> bool:
    """Whether ``inbound`` is a command that affects all members of a group, and that its sender may not use."""
    in_group, command = inbound.chat_kind == "group", inbound.command
    return in_group and command in GROUP_COMMANDS and not may(bot, inbound, command)


def is_own(scope: str, inbound: Inbound) -> bool:
    """Whether the memory of a chat belongs only to the sender."""
    return inbound.chat_kind == "direct" and scope.split(":")[1:2] in (["person"], ["session"])


def may_take(bot: BotConfig, inbound: Inbound, scope: str) -> bool:
    """Whether the sender may export or delete the data of ``scope`` (``/export`` and ``/forget``).

    The scope must belong to the sender, or to a group whose members may use the command. Administrators always may.
    """
    if is_own(scope, inbound) or is_admin(bot, inbound):
        return True
    is_groups = inbound.chat_kind == "group" and scope.split(":")[1:2] in (["group"], ["session"])
    return is_groups and may(bot, inbound, inbound.command)


# What administrators decided.

# What changes seldom and is asked for all the time: kept in memory, read again when it is old or has changed.

_T = TypeVar("_T")


class AccessCache(Generic[_T]):
    """The newest known answer of ``read``."""

    def __init__(self, read: Callable[[], Awaitable[_T]], *, fresh_s: float) -> None:
        """``fresh_s``: how long an answer is used, should the word that it has changed get lost."""
        self._read = read
        self._fresh_s = fresh_s
        self._known: list[_T] = []
        self._asked = False
        self._until = 0.0
        self._changes = 0
        self._lock = anyio.Lock()

    def changed(self) -> None:
        """Read it again before the next answer."""
        self._changes += 1
        self._until = 0.0

    async def get(self) -> _T:
        """The answer; while Redis is away the last one that is known.

        Raises:
            BusUnavailable: Redis is away, and nothing is known yet.
        """
        self._asked = True
        if not self._known or time.monotonic() >= self._until:
            await self._look()
        return self._known[0]

    async def renew(self) -> None:
        """Read it, if it was asked for since the last time: nobody has to wait for it when it is old."""
        if not self._asked:
            return
        self._asked = False
        async with self._lock:
            with suppress(Exception):  # whoever asks when it is old is told
                await self._again()

    async def _look(self) -> None:
        async with self._lock:  # many ask at once: one reads
            if self._known and time.monotonic() < self._until:
                return
            try:
                await self._again()
            except BusUnavailable:
                if not self._known:
                    raise

    async def _again(self) -> None:
        changes = self._changes
        self._known = [await self._read()]
        # What changed while it was read is read again.
        self._until = time.monotonic() + self._fresh_s if changes == self._changes else 0.0


CHANGE = load_script(__file__, "change.lua", with_parts=("access.part.lua",))

FRESH_S = 5.0
"""How often what was decided is read, should the word that it has changed get lost."""

Changed = Literal["done", "none", "late"]
"""``none``: there was no ban to lift; ``late``: something newer was decided."""

_decode = msgspec.json.Decoder(AccessEntry).decode


class Access:
    """The decisions about one channel, as this process knows them.

    All methods raise BusUnavailable when Redis is away.
    """

    def __init__(self, bus: Bus, channel: str) -> None:
        self._bus = bus
        self._channel = channel
        self._cached: AccessCache[Mapping[str, AccessEntry]] = AccessCache(self.read, fresh_s=FRESH_S)

    async def run(self, listener: Listener) -> None:
        """Hear of changes, for ever, so that nobody waits for them. Without it they are seen within ``FRESH_S``."""
        async with listener.hear(self._bus.keys.rulings) as rulings:
            while True:
                heard: Heard = b""
                with anyio.move_on_after(FRESH_S / 2):
                    heard = await rulings.next()
                if heard in (None, self._channel.encode()):
                    self._cached.changed()
                await self._cached.renew()

    async def entries(self) -> Mapping[str, AccessEntry]:
        """What was decided, by id; from memory where that is fresh enough."""
        return await self._cached.get()

    async def read(self) -> Mapping[str, AccessEntry]:
        """As ``entries``, from Redis."""
        found: Any = await self._bus.call("HGETALL", self._bus.keys.access(self._channel))
        return {name.decode(): entry for name, raw in pairs(found) if (entry := _read(raw)) is not None}

    async def decide(
        self,
        name: str,
        state: Literal["paired", "banned", "free"],
        *,
        by: str,
        time: str,
        called: str = "",
        at: str = "",
    ) -> Changed:
        """Let ``name`` in, ban it, or lift a ban; ``called`` is what people call it.

        ``at``: stream id of the command that wants it; said again, or late, it changes nothing. Empty: now.
        """
        keys = self._bus.keys
        status: bytes = await self._bus.run(
            CHANGE,
            [keys.access(self._channel)],
            [name, state, called, by, time, at, keys.rulings, self._channel],
        )
        self._cached.changed()
        changed: Changed = msgspec.convert(status.decode(), Changed)
        return changed


def _read(raw: bytes) -> AccessEntry | None:
    try:
        return _decode(raw)
    except UNREADABLE:
        return None  # a hand has spoilt it: it counts as none
