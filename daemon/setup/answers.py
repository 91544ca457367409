"""The answers, from questions, flags or existing files."""

from pathlib import Path
from typing import Literal

import msgspec

from daemon.config import Secret
from daemon.config.bot_settings import Provider
from daemon.config.secret import read_secret_file
from daemon.config.section import NO_SECRET
from daemon.errors import ConfigError
from daemon.sessionkey import encode_part
from daemon.setup.model_apis import Api
from daemon.wording import Language

# Values of command-line options; None: not given.


class Flags(msgspec.Struct, frozen=True, kw_only=True):
    """Every answer, as a flag gave it."""

    data_dir: str | None = None
    bot: str | None = None
    language: str | None = None
    time_zone: str | None = None
    workspace: str | None = None
    offline: bool = False
    model_api: str | None = None
    model_url: str | None = None
    model: str | None = None
    model_key: str | None = None
    model_key_file: str | None = None
    telegram: bool | None = None
    """Whether to set up Telegram; None: if there is a token."""
    telegram_token: str | None = None
    telegram_token_file: str | None = None
    telegram_url: str | None = None
    channel: str | None = None
    owner: str | None = None
    slack: bool | None = None
    """Whether to set up Slack; None: if there is a token."""
    slack_token: str | None = None
    slack_token_file: str | None = None
    slack_app_token: str | None = None
    slack_app_token_file: str | None = None
    slack_signing_secret: str | None = None
    slack_signing_secret_file: str | None = None
    slack_events_url: str | None = None
    slack_url: str | None = None
    slack_channel: str | None = None
    slack_owner: str | None = None
    discord: bool | None = None
    """Whether to set up Discord; None: if there is a token."""
    discord_token: str | None = None
    discord_token_file: str | None = None
    discord_url: str | None = None
    discord_channel: str | None = None
    discord_owner: str | None = None
    feishu: bool | None = None
    """Whether to set up Feishu; None: if there is an app."""
    feishu_app_id: str | None = None
    feishu_app_secret: str | None = None
    feishu_app_secret_file: str | None = None
    feishu_encrypt_key: str | None = None
    feishu_encrypt_key_file: str | None = None
    feishu_events_url: str | None = None
    feishu_url: str | None = None
    feishu_channel: str | None = None
    feishu_owner: str | None = None
    web_search: str | None = None
    """A provider, or none; None: not given."""
    web_key: str | None = None
    web_key_file: str | None = None
    web_url: str | None = None
    web_fetch: bool | None = None
    """Whether the bot reads web pages; None: not given."""
    voice_url: str | None = None
    """Address of the server for voice messages, or ``-``."""
    voice_key: str | None = None
    voice_key_file: str | None = None
    transcription: str | None = None
    """A model, or ``-``."""
    speech: str | None = None
    """A model, or ``-``."""
    voice: str | None = None
    pair: bool | None = None
    """Whether to wait for the owner; None: if a person is at the terminal."""
    access: str | None = None
    source: Path | None = None
    """Folder of another program, to be taken over."""
    memory_of: str | None = None
    """Whose memory that becomes, ``<channel>:<sender>``; None: the owner's."""
    test: bool = True
    yes: bool = False

    @property
    def for_telegram(self) -> bool:
        """Whether Telegram was spoken of."""
        return bool(self.telegram) or self.telegram_token is not None or self.telegram_token_file is not None

    @property
    def for_slack(self) -> bool:
        """Whether an option about Slack was given, so that Slack is set up."""
        tokens = (self.slack_token, self.slack_token_file, self.slack_app_token, self.slack_app_token_file)
        others = (self.slack_signing_secret, self.slack_signing_secret_file, self.slack_events_url)
        given = (*tokens, *others, self.slack_channel, self.slack_owner)
        return bool(self.slack) or (self.slack is None and any(text is not None for text in given))

    @property
    def for_discord(self) -> bool:
        """Whether an option about Discord was given, so that Discord is set up."""
        given = (self.discord_token, self.discord_token_file, self.discord_channel, self.discord_owner)
        return bool(self.discord) or (self.discord is None and any(text is not None for text in given))

    @property
    def for_feishu(self) -> bool:
        """Whether an option about Feishu was given, so that Feishu is set up."""
        secrets = (self.feishu_app_secret, self.feishu_app_secret_file)
        keys = (self.feishu_encrypt_key, self.feishu_encrypt_key_file, self.feishu_events_url, self.feishu_url)
        given = (self.feishu_app_id, *secrets, *keys, self.feishu_channel, self.feishu_owner)
        return bool(self.feishu) or (self.feishu is None and any(text is not None for text in given))

    @property
    def for_web(self) -> bool:
        """Whether an option about the web was given."""
        given = (self.web_search, self.web_key, self.web_key_file, self.web_url, self.web_fetch)
        return any(value is not None for value in given)

    def voice_secret(self) -> Secret | None:
        """The key of the server for voice messages. Raises: as ``given_secret``."""
        return given_secret("--voice-key", self.voice_key, self.voice_key_file)

    def search_key(self) -> Secret | None:
        """The key of the search provider. Raises: as ``given_secret``."""
        return given_secret("--web-key", self.web_key, self.web_key_file)

    def key(self) -> Secret | None:
        """The model's key. Raises: as ``given_secret``."""
        return given_secret("--model-key", self.model_key, self.model_key_file)

    def token(self) -> Secret | None:
        """Telegram's token. Raises: as ``given_secret``."""
        return given_secret("--telegram-token", self.telegram_token, self.telegram_token_file)

    def bot_token(self) -> Secret | None:
        """Slack's bot token. Raises: as ``given_secret``."""
        return given_secret("--slack-token", self.slack_token, self.slack_token_file)

    def discord_bot_token(self) -> Secret | None:
        """Discord's token. Raises: as ``given_secret``."""
        return given_secret("--discord-token", self.discord_token, self.discord_token_file)

    def app_token(self) -> Secret | None:
        """Slack's app token. Raises: as ``given_secret``."""
        return given_secret("--slack-app-token", self.slack_app_token, self.slack_app_token_file)

    def feishu_secret(self) -> Secret | None:
        """The secret of Feishu's app. Raises: as ``given_secret``."""
        return given_secret("--feishu-app-secret", self.feishu_app_secret, self.feishu_app_secret_file)

    def encrypt_key(self) -> Secret | None:
        """Feishu's Encrypt Key. Raises: as ``given_secret``."""
        return given_secret("--feishu-encrypt-key", self.feishu_encrypt_key, self.feishu_encrypt_key_file)

    def signing_secret(self) -> Secret | None:
        """Slack's signing secret. Raises: as ``given_secret``."""
        return given_secret("--slack-signing-secret", self.slack_signing_secret, self.slack_signing_secret_file)


def given_secret(flag: str, text: str | None, file: str | None) -> Secret | None:
    """A secret that was given by value or by file.

    Raises:
        ConfigError: both were given, or the file cannot be read.
    """
    if text is not None and file is not None:
        raise ConfigError(f"{flag} and {flag}-file cannot be used together. Remove one of them.")
    if file is not None:
        try:
            return Secret(read_secret_file(Path(file).expanduser())[0])
        except ConfigError as error:
            raise ConfigError(f"{flag}-file: {error}") from error
    return Secret(text.strip()) if text is not None else None


Access = Literal["pairing", "private", "open"]
"""People who may talk to the bot: approved people, only the owner, or anyone."""

POLICIES = {"pairing": "pairing", "private": "allow", "open": "open"}
"""``access.policy`` for each."""

ACCESS = (
    ("pairing", "you and people you approve (anyone else gets a code that you can approve with /pair CODE)"),
    ("private", "only you (the bot ignores messages from everyone else)"),
    ("open", "anyone who finds the bot (you pay for every answer)"),
)
"""The explanation of each choice."""


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """Whose bot it is."""

    id: str
    """The platform's id."""
    name: str = ""


class ModelAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The model that answers."""

    base_url: str
    name: str
    key: Secret
    """Empty: the server wants none."""
    api: Api = "openai"


class TelegramAnswer(msgspec.Struct, frozen=True, kw_only=True):
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


class SlackAnswer(msgspec.Struct, frozen=True, kw_only=True):
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


class DiscordAnswer(msgspec.Struct, frozen=True, kw_only=True):
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


class FeishuAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The app in one tenant of Feishu or Lark."""

    channel: str
    """Name of the channel's section."""
    base_url: str
    app_id: str
    app_secret: Secret
    encrypt_key: Secret = NO_SECRET
    """Empty: events come over a long-lived connection."""
    events_url: str = ""
    """Empty: as above."""
    owner: Owner | None = None
    access: Access = "pairing"

    @property
    def admins(self) -> tuple[str, ...]:
        """How the bot's configuration names its owner."""
        return _admins(self.channel, self.owner)


class WebhookAnswer(msgspec.Struct, frozen=True, kw_only=True):
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


class WebAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the bot may do on the web."""

    search: Provider
    """Empty: it does not search."""
    search_url: str
    """Empty: the provider's own address."""
    api_key: Secret
    fetch: bool
    """Whether it reads pages."""


class VoiceAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The server for voice messages, with OpenAI's API for audio."""

    base_url: str = ""
    key: Secret = NO_SECRET
    is_model_s: bool = False
    """The server and the key are those of the bot's model, so neither is written."""
    transcription: str = ""
    """Model that transcribes voice messages; empty: none."""
    speech: str = ""
    """Model that speaks answers; empty: none."""
    voice: str = ""


def _admins(channel: str, owner: Owner | None) -> tuple[str, ...]:
    return (f"{encode_part(channel)}:{encode_part(owner.id)}",) if owner else ()


PlatformAnswer = TelegramAnswer | SlackAnswer | DiscordAnswer | FeishuAnswer
"""Platforms on which an owner is known."""


class Answers(msgspec.Struct, frozen=True, kw_only=True):
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
    voice: VoiceAnswer | None = None
    """None: nothing about voice messages is changed."""

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
