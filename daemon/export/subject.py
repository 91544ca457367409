"""What belongs together in an export: the scopes of a person or a group, and their sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from daemon.bus import Bus, scan
from daemon.memory import Memories
from daemon.session import sessions_of, sessions_where

_PERSON = "person:"


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Everything whose content is exported."""

    scopes: Sequence[str]
    """Whose memory and files it is; linked ones stand beside each other."""
    sessions: Sequence[tuple[str, str]]
    """Every session of these scopes, with its own."""

    @property
    def people(self) -> list[str]:
        """The persons among the scopes, as accounts of usage name them: ``<bot> <channel>:<sender>``."""
        parts = [(scope.partition(":")[0], scope.partition(":")[2]) for scope in self.scopes]
        return [f"{unquote(bot)} {rest.removeprefix(_PERSON)}" for bot, rest in parts if rest.startswith(_PERSON)]


async def subject_of(bus: Bus, scopes: Sequence[str]) -> Subject:
    """What belongs to ``scopes``. Raises BusUnavailable."""
    return Subject(scopes=tuple(scopes), sessions=await sessions_of(bus, scopes))


async def family(memories: Memories, scope: str) -> list[str]:
    """The scope that is home to ``scope``, and all that are linked with it. Raises BusUnavailable."""
    return [scope]


async def person_scopes(bus: Bus, person: str) -> list[str]:
    """The scopes of a person, ``<channel instance>:<sender>`` as ``/whoami`` tells it, of all bots; sorted.

    Raises:
        BusUnavailable: Redis is away.
    """

    def is_theirs(scope: str) -> bool:
        return scope.partition(":")[2] == f"person:{person}"

    found = {scope for _, scope in await sessions_where(bus, is_theirs)}
    async for names in scan(bus, "memory"):
        found |= set(filter(is_theirs, names))
    return sorted(found)
