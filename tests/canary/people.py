"""Who takes part: two persons with two identities each, and a group."""

from dataclasses import dataclass
from pathlib import Path

from daemon.scope import folder_of

BOT = "pond"
WEB, PAGE, CLUB = "web", "page", "support"
"""Two channels of type ``web``, and one of type ``testing`` where the group meets."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Somebody, as one channel knows them; or a group."""

    label: str  # stands in its canaries
    person: str
    channel: str
    sender: str
    chats: tuple[str, ...]
    is_group: bool = False

    @property
    def scope(self) -> str:
        if self.is_group:
            return f"{BOT}:group:{self.sessions[0]}"
        return f"{BOT}:person:{self.channel}:{self.sender}"

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(f"{self.channel}:{chat}" for chat in self.chats)


# The same sender's name on both channels, as often as not: that alone makes nobody the same person.
IDENTITIES = (
    Identity(label="annw", person="ann", channel=WEB, sender="ann", chats=("ann-1", "ann-2")),
    Identity(label="annp", person="ann", channel=PAGE, sender="ann", chats=("ann-1", "ann-3")),
    Identity(label="bobw", person="bob", channel=WEB, sender="bob", chats=("bob-1", "bob-2")),
    Identity(label="bobp", person="bob", channel=PAGE, sender="robert", chats=("bob-1", "ann-2")),
    Identity(label="club", person="club", channel=CLUB, sender="ann", chats=("club",), is_group=True),
)
STRANGER = Identity(label="eve", person="eve", channel=WEB, sender="eve", chats=("eve-1",))
"""Finds codes of others, and says nothing else."""

SCOPES = tuple(each.scope for each in IDENTITIES)
SCOPE_OF = {session: each.scope for each in IDENTITIES for session in each.sessions}
"""Of each session, the scope that it had when it began; it keeps it."""

OF_SCOPE = {each.scope: each for each in IDENTITIES}
MEMBERS = ("ann", "bob")  # who speaks in the group


def workspace(data: Path) -> Path:
    return data / "bots" / BOT


def folders_of(data: Path, scope: str) -> tuple[Path, Path]:
    return workspace(data) / "memory" / folder_of(scope), workspace(data) / "files" / folder_of(scope)
