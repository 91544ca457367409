"""The answers, from questions, flags or existing files."""

from dataclasses import dataclass
from typing import Literal

from daemon.config import Secret
from daemon.config.section import NO_SECRET
from daemon.config.web_tools import Provider
from daemon.sessionkey import encode_part
from daemon.setup.model_apis import Api
from daemon.wording import Language

Access = Literal["pairing", "private", "open"]
"""People who may talk to the bot: approved people, only the owner, or anyone."""

POLICIES = {"pairing": "pairing", "private": "allow", "open": "open"}
"""``access.policy`` for each."""

ACCESS = (
    ("pairing", "you and people you approve: an unknown sender gets a code, which you approve with /pair CODE"),
    ("private", "only you (the bot ignores messages from everyone else)"),
    ("open", "everyone who finds the bot (you pay for all answers)"),
)
"""The explanation of each choice."""


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
    api: Api = "openai"


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
    """IDs of people who are allowed besides the owner."""

    @property
    def admins(self) -> tuple[str, ...]:
        """How the bot's configuration names its owner."""
        return _admins(self.channel, self.owner)


@dataclass(frozen=True, kw_only=True)
class SlackAnswer:
    """The app in one workspace of Slack."""

    channel: str
    """Name of the channel's section."""
    base_url: str
    bot_token: Secret
    app_token: Secret
    """Empty: Slack sends events to ``events_url``."""
    signing_secret: Secret
    events_url: str = ""
    name: str = ""
    """The bot's name on the platform; empty: unknown."""
    link: str = ""
    """Opens a direct message to it; empty: not known."""
    owner: Owner | None = None
    access: Access = "pairing"

    @property
    def admins(self) -> tuple[str, ...]:
        """How the bot's configuration names its owner."""
        return _admins(self.channel, self.owner)


@dataclass(frozen=True, kw_only=True)
class DiscordAnswer:
    """The bot at Discord."""

    channel: str
    """Name of the channel's section."""
    token: Secret
    base_url: str
    name: str = ""
    """The app's name; empty: not asked."""
    link: str = ""
    """The address at which the bot is added to a server; empty: not known."""
    owner: Owner | None = None
    access: Access = "pairing"

    @property
    def admins(self) -> tuple[str, ...]:
        """How the bot's configuration names its owner."""
        return _admins(self.channel, self.owner)


@dataclass(frozen=True, kw_only=True)
class FeishuAnswer:
    """The app in one tenant of Feishu or Lark."""

    channel: str
    """Name of the channel's section."""
    base_url: str
    app_id: str
    app_secret: Secret
    encrypt_key: Secret = NO_SECRET
    """Empty: events come over a long connection."""
    events_url: str = ""
    """Empty: as above."""
    owner: Owner | None = None
    access: Access = "pairing"

    @property
    def admins(self) -> tuple[str, ...]:
        """How the bot's configuration names its owner."""
        return _admins(self.channel, self.owner)


@dataclass(frozen=True, kw_only=True)
class WebhookAnswer:
    """A bridge to another platform, with which messages are exchanged by HTTP."""

    channel: str
    """Name of the channel's section."""
    url: str
    """The address of the bridge."""
    secret: Secret | None
    """The key that both directions are signed with; None: it stays as it is."""
    port: int
    """Port at which messages of people are accepted."""
    access: Access = "pairing"


@dataclass(frozen=True, kw_only=True)
class WebAnswer:
    """What the bot may do on the web."""

    search: Provider
    """Empty: it does not search."""
    search_url: str
    """Empty: the provider's own address."""
    api_key: Secret
    fetch: bool
    """Whether it reads pages."""


def _admins(channel: str, owner: Owner | None) -> tuple[str, ...]:
    return (f"{encode_part(channel)}:{encode_part(owner.id)}",) if owner else ()


PlatformAnswer = TelegramAnswer | SlackAnswer | DiscordAnswer | FeishuAnswer
"""Platforms on which an owner is known."""


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
    """None: the offline mock model."""
    telegram: TelegramAnswer | None
    """None: no channel of Telegram is added or changed."""
    slack: SlackAnswer | None = None
    """None: no channel of Slack is added or changed."""
    discord: DiscordAnswer | None = None
    """None: no channel of Discord is added or changed."""
    feishu: FeishuAnswer | None = None
    """None: no channel of Feishu is added or changed."""
    web: WebAnswer | None = None
    """None: nothing about the web is changed."""

    @property
    def admins(self) -> tuple[str, ...]:
        """The owner, on each of the channels."""
        return tuple(admin for channel in self.platforms for admin in channel.admins)

    @property
    def owner(self) -> Owner | None:
        """The owner, as the first channel that knows them names them."""
        return next((channel.owner for channel in self.platforms if channel.owner), None)

    @property
    def platforms(self) -> "tuple[PlatformAnswer, ...]":
        """The channels that are added or changed."""
        return tuple(each for each in (self.telegram, self.slack, self.discord, self.feishu) if each)
