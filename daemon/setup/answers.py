"""What was answered, by whom it does not matter: questions, flags, or what was there already."""

from dataclasses import dataclass
from typing import Literal

from daemon.config import Secret
from daemon.sessionkey import encode_part
from daemon.wording import Language

Access = Literal["pairing", "private", "open"]
"""Who may talk to the bot: who was let in, the owner alone, or everybody."""

POLICIES = {"pairing": "pairing", "private": "allow", "open": "open"}
"""``access.policy`` for each."""


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Whose bot it is."""

    id: str
    """The platform's id."""
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class ModelAnswer:
    """The model that answers."""

    base_url: str
    name: str
    key: Secret
    """Empty: the server wants none."""


@dataclass(frozen=True, kw_only=True)
class TelegramAnswer:
    """The bot at Telegram."""

    channel: str
    """Name of the channel's section."""
    token: Secret
    base_url: str
    username: str = ""
    """Without @; empty: not asked."""
    owner: Owner | None = None
    access: Access = "pairing"
    allow: tuple[str, ...] = ()
    """Ids of people who are let in beside the owner."""

    @property
    def admins(self) -> tuple[str, ...]:
        """How the bot's configuration names its owner."""
        return (f"{encode_part(self.channel)}:{encode_part(self.owner.id)}",) if self.owner else ()


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Everything that goes into the configuration."""

    bot: str
    language: Language
    time_zone: str
    workspace: str = ""
    """Empty: the usual place in the data directory."""
    data_dir: str = ""
    """Empty: not to be written, since it is the one that everybody looks in."""
    model: ModelAnswer | None
    """None: the offline stand-in."""
    telegram: TelegramAnswer | None
    """None: no channel of Telegram is added or changed."""
