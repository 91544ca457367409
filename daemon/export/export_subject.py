"""What belongs together in an export: the scopes of a person or a group, and their sessions."""

from collections.abc import Sequence
from urllib.parse import unquote

import msgspec

from daemon.bus import Bus, scan
from daemon.errors import UNREADABLE
from daemon.events import LogEntry, Overheard
from daemon.session import sessions_of, sessions_where
from daemon.sessionkey import SessionKey

_PERSON = "person"

_decode_overheard = msgspec.json.Decoder(Overheard).decode


class ExportSubject(msgspec.Struct, frozen=True, kw_only=True):
    """Everything whose content is exported."""

    scopes: Sequence[str]
    """Whose memory and files it is; linked ones stand beside each other."""
    sessions: Sequence[tuple[str, str]]
    """Every session of these scopes, with its own."""
    groups: Sequence[tuple[str, str]] = ()
    """Sessions of others in which the person speaks too, of which only what the person said is exported."""
    people: Sequence[str] = ()
    """By which names, ``<channel instance>:<sender>``, the person speaks there."""

    @property
    def users(self) -> list[str]:
        """The persons among the scopes, as accounts of usage name them: ``<bot> <channel>:<sender>``."""
        parts = [_parts(scope) for scope in self.scopes]
        return [f"{unquote(bot)} {name}" for bot, kind, name in parts if kind == _PERSON]

    def said(self, session: str, entry: LogEntry) -> bool:
        """Whether the person said a message of one of the ``groups``."""
        return self._is_theirs(session, entry.person or entry.sender)

    def overheard(self, session: str, raw: bytes) -> bool:
        """As ``said``, of something that is kept until the bot is asked: an ``Overheard`` in JSON."""
        try:
            return self._is_theirs(session, _decode_overheard(raw).sender_id)
        except UNREADABLE:
            return False

    def _is_theirs(self, session: str, name: str) -> bool:
        return bool(name) and str(SessionKey(channel=SessionKey.parse(session).channel, chat=name)) in self.people


async def subject_of(bus: Bus, scopes: Sequence[str]) -> ExportSubject:
    """What belongs to ``scopes``. Raises BusUnavailable."""
    return ExportSubject(scopes=tuple(scopes), sessions=await sessions_of(bus, scopes))


async def person_in(bus: Bus, person: str, scopes: Sequence[str]) -> ExportSubject:
    """As ``subject_of``, of a person, with what the person said where the memory is not the person's.

    That is in groups, and in direct chats of bots that keep another kind of memory.

    Raises:
        BusUnavailable: Redis is away.
    """
    own = await subject_of(bus, scopes)
    people = {person, *(_parts(scope)[2] for scope in scopes if _parts(scope)[1] == _PERSON)}
    others = await sessions_where(bus, lambda scope: _parts(scope)[1] != _PERSON)
    direct = [each for each in others if each[0] in people]
    return ExportSubject(
        scopes=own.scopes,
        sessions=sorted({*own.sessions, *direct}),
        groups=[each for each in others if each not in direct],
        people=sorted(people),
    )


def _parts(scope: str) -> tuple[str, str, str]:
    """Bot, kind and name of a scope."""
    bot, kind, name = (*scope.split(":", 2), "", "")[:3]
    return bot, kind, name


async def family(bus: Bus, scope: str) -> list[str]:
    """The scope whose memory ``scope`` has, and then those that were linked into it, whose own lists are kept.

    Raises:
        BusUnavailable: Redis is away.
    """
    home = ((await bus.call("HGET", bus.keys.memory(scope), "joined")) or b"").decode() or scope
    fields: list[bytes] = await bus.call("HKEYS", bus.keys.memory(home))
    return [home, *sorted(name.decode().removeprefix("links:") for name in fields if name.startswith(b"links:"))]


async def person_scopes(bus: Bus, person: str) -> list[str]:
    """The scopes of a person, ``<channel instance>:<sender>`` as ``/whoami`` tells it, of all bots; sorted.

    Raises:
        BusUnavailable: Redis is away.
    """
    ending = f":{_PERSON}:{person}"

    def is_theirs(scope: str) -> bool:
        return scope.endswith(ending) and scope.count(":") == ending.count(":")

    found = {scope for _, scope in await sessions_where(bus, is_theirs)}
    async for names in scan(bus, "memory"):
        found |= set(filter(is_theirs, names))
    return sorted(found)
