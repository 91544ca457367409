"""The sections ``[channels.<name>]``: a struct for each type of channel, found by its ``type``."""

from collections.abc import Iterable
from typing import Literal

from daemon.config.secret import Secret
from daemon.config.section import NO_SECRET, Count, Delay, Limit, PathText, Port, Seconds, Section


class AnyChannelConfig(Section, frozen=True, tag_field="type"):
    """The keys of all channels."""

    enabled: bool = True
    bot: str = "pond"
    """Name of the bot that answers here; unset: ``pond``, or else the only bot that there is."""


class TerminalConfig(AnyChannelConfig, frozen=True, tag="terminal"):
    """The terminal of ``millpond run`` and ``millpond chat``."""


class WebLimitsConfig(Section, frozen=True):
    """What one process accepts of one client; 0: no limit."""

    connections_per_peer: Limit = 512
    """Open connections of one peer (``channels/http/server_socket.py``), which may be a proxy with many people behind
    it: half of the files that a process may open by default."""
    requests_per_minute: Limit = 6_000
    """API requests of one token or browser, or of one peer that has neither; 100 in a second are more than people and
    the page make."""


class WebConfig(AnyChannelConfig, frozen=True, tag="web"):
    """The HTTP API and the page."""

    host: str = "127.0.0.1"
    """Any address except loopback requires ``token``."""
    port: Port | None = None
    """Unset: 8765 or the next free one; 0: any free one; else this one or an error."""
    token: Secret = NO_SECRET
    """Sent by operators as ``Authorization: Bearer …``; better in a file. Unset: the token of the data directory."""
    token_file: PathText = ""
    member_token: Secret = NO_SECRET
    """Sent by clients without the rights of operators, which use the sessions of this channel only. Unset: none."""
    member_token_file: PathText = ""
    completions_token: Secret = NO_SECRET
    """Sent by clients of ``/v1/`` alone, which have the rights of ``member_token`` there. Unset: none."""
    completions_token_file: PathText = ""
    open: bool = False
    """Whether every program of this machine has the rights of ``member_token`` without any token."""
    metrics: Literal["token", "open"] = "token"
    """Whether ``/metrics`` of this channel requires a token; that of ``[health]`` requires none."""
    limits: WebLimitsConfig = WebLimitsConfig()
    allowed_hosts: tuple[str, ...] = ()
    """Host names accepted beside the bound address and localhost (defence against DNS rebinding)."""


class AccessConfig(Section, frozen=True):
    """The senders that a push channel accepts. Banned senders are never accepted; those in ``admins`` always are."""

    policy: Literal["closed", "allow", "pairing", "open"] | None = None
    """``closed``: administrators alone; ``allow``: who is listed or was let in; ``pairing``: as ``allow``, and a
    stranger is given a code that an administrator lets them in with; ``open``: everybody. Unset: ``allow``,
    so that nobody is heard who was not named."""
    allow: tuple[str, ...] = ()
    """The platform's ids of people and of groups; whoever speaks in a listed group is heard there."""
    groups: Literal["mention", "all", "off"] = "mention"
    """What is answered in a group: messages that mention the bot or reply to it, all messages, or none."""
    bots: bool = False
    """Whether other bots are answered at all; even then only a few times in a row."""


class PushConfig(AnyChannelConfig, frozen=True):
    """The keys of all channels that send replies to a platform."""

    access: AccessConfig = AccessConfig()
    debounce_s: Delay = 0.0
    """How long a burst of messages collects before it is answered."""
    send_timeout_s: Seconds = 10.0
    """How long sending one part may take; well below the lease, during which nobody else sends."""
    streaming: bool = True
    """Whether an answer is shown while it is written, by edits of one message."""
    typing: bool = True
    """Whether the chat shows that an answer is being written, where the platform can."""
    reaction: str = ""
    """What a message is marked with once it is accepted, an emoji that the platform allows; empty: nothing."""
    hear_reactions: bool = False
    """Whether people's reactions to the bot's messages are context of the bot's next answer."""
    parts_max: Count = 5
    """A reply of more parts than that is sent as a file."""

    @property
    def looks_back(self) -> bool:
        """Whether the adapter can read earlier messages of a thread."""
        return False

    def seen_ttl_s(self, usual_s: float) -> float:
        """How long its messages are known by their ids, as repetitions. ``usual_s``: ``queue.seen_ttl_s``."""
        return usual_s

    def problems(self) -> Iterable[tuple[str, str]]:
        """Problems that no type can express: a key, and a sentence with the expected value and the remedy.

        Asked when it is enabled. A sentence never holds a secret.
        """
        return ()


class TestingConfig(PushConfig, frozen=True, tag="testing"):
    """A push channel for tests, which sends messages to a server of the test."""

    url: str = ""
    """Where each part is posted: ``http://127.0.0.1:port/…``."""
    part_max_chars: Count = 4_000
    """Longest text that is sent in one part."""
    updates_url: str = ""
    """Where it is asked what people said; empty: nobody says anything but with ``millpond send``."""
    sends_per_s: Limit = 0
    """Messages a second to all chats together; 0: no limit."""
    chat_sends_per_s: Limit = 0
    """The same to one chat."""
    looks: bool = False
    """Whether it is asked whether what nobody knows of was sent, and what was said in a thread before."""

    @property
    def looks_back(self) -> bool:
        """As ``looks``."""
        return self.looks


class WebhookConfig(Section, frozen=True):
    """The address at which Telegram calls Millpond, instead of being polled; off while ``url`` is empty."""

    url: str = ""
    """The public address, ``https://host/path``, that the platform is told."""
    host: str = "127.0.0.1"
    port: Port = 8_788
    """Where this process listens; a proxy in front of it does the encryption."""
    secret: Secret = NO_SECRET
    """Sent by the platform with every call; empty: one is made from the token."""
    secret_file: PathText = ""


class TelegramConfig(PushConfig, frozen=True, tag="telegram"):
    """A Telegram bot."""

    debounce_s: Delay = 0.8
    """As for all channels. People send a thought as several short messages; each is there within less than a second."""
    token: Secret = NO_SECRET
    """What BotFather gave; better in a file."""
    token_file: PathText = ""
    base_url: str = "https://api.telegram.org"
    """The Bot API server."""
    rich: bool = True
    """Whether Markdown goes as rich messages; else as text with entities, which clients of before 2026 show too."""
    webhook: WebhookConfig = WebhookConfig()


class SlackEventsConfig(Section, frozen=True):
    """The address to which Slack sends events by HTTP, instead of over a socket; off while ``url`` is empty."""

    url: str = ""
    """The public address, ``https://host/path``, that the app's settings name for events and for commands."""
    host: str = "127.0.0.1"
    port: Port = 8_789
    """Where this process listens; a proxy in front of it does the encryption."""


class SlackConfig(PushConfig, frozen=True, tag="slack"):
    """An app in one workspace of Slack. Channels with the same app token, or signing secret, are one app in several."""

    bot_token: Secret = NO_SECRET
    """``xoxb-…``, of the app in this workspace; better in a file."""
    bot_token_file: PathText = ""
    app_token: Secret = NO_SECRET
    """``xapp-…``, to hear events over a socket; not needed when they are brought by HTTP."""
    app_token_file: PathText = ""
    signing_secret: Secret = NO_SECRET
    """What Slack signs events with that it brings by HTTP."""
    signing_secret_file: PathText = ""
    events: SlackEventsConfig = SlackEventsConfig()
    base_url: str = "https://slack.com/api"
    """The Web API."""

    @property
    def looks_back(self) -> bool:
        """A bot is asked in the middle of a thread."""
        return True

    def seen_ttl_s(self, usual_s: float) -> float:
        """Slack repeats an event three times, within some six minutes."""
        return 3_600.0


class FeishuEventsConfig(Section, frozen=True):
    """The address to which Feishu sends events by HTTP, instead of a long connection; off while ``url`` is empty."""

    url: str = ""
    """The public address, ``https://host/path``, that the app's settings name for events."""
    host: str = "127.0.0.1"
    port: Port = 8_791
    """Where this process listens; a proxy in front of it does the encryption."""


class FeishuConfig(PushConfig, frozen=True, tag="feishu"):
    """An app in one tenant of Feishu or Lark."""

    app_id: str = ""
    """``cli_…``, of the app."""
    app_secret: Secret = NO_SECRET
    """Of the app; better in a file."""
    app_secret_file: PathText = ""
    encrypt_key: Secret = NO_SECRET
    """What Feishu signs and encrypts events with that it sends by HTTP."""
    encrypt_key_file: PathText = ""
    events: FeishuEventsConfig = FeishuEventsConfig()
    base_url: str = "https://open.feishu.cn"
    """The server of the API; that of Lark is ``https://open.larksuite.com``."""

    @property
    def looks_back(self) -> bool:
        """A bot is asked in the middle of a thread."""
        return True

    def seen_ttl_s(self, usual_s: float) -> float:
        """Feishu repeats an event for the last time after some seven hours; a stranger can do so for 300 s."""
        return max(usual_s, 28_800.0)


class DiscordConfig(PushConfig, frozen=True, tag="discord"):
    """A Discord bot."""

    token: Secret = NO_SECRET
    """From the page Bot of the app; better in a file."""
    token_file: PathText = ""
    base_url: str = "https://discord.com/api/v10"
    """The REST API."""

    @property
    def looks_back(self) -> bool:
        """A bot is asked in the middle of a thread."""
        return True


class WebhookChannelConfig(PushConfig, frozen=True, tag="webhook"):
    """Any other platform by HTTP: a bridge posts the messages of people, and gets the messages of the bot posted."""

    url: str = ""
    """The address of the bridge, to which messages of the bot are posted."""
    secret: Secret = NO_SECRET
    """The key that both directions are signed with (Standard Webhooks); better in a file."""
    secret_file: PathText = ""
    host: str = "127.0.0.1"
    port: Port = 8_790
    """Where this process listens for messages of people; a proxy in front of it does the encryption."""
    path: str = "/"
    """The path of the address at which messages of people are accepted."""
    supports: tuple[Literal["edits", "typing", "reactions", "files"], ...] = ()
    """What the bridge can do beside showing a text."""
    part_max_chars: Count = 4_000
    """Longest text that is sent in one part."""
    sends_per_s: Limit = 0
    """Messages a second to all chats together; 0: no limit."""
    chat_sends_per_s: Limit = 0
    """The same to one chat."""

    def seen_ttl_s(self, usual_s: float) -> float:
        """At least as long as the signature of a request is valid: 300 s before and after its time."""
        return max(usual_s, 600.0)


# What other packages bring, see ``foreign``, is a ``PushConfig`` too and stands among these.
ChannelConfig = (
    TerminalConfig
    | WebConfig
    | TestingConfig
    | TelegramConfig
    | SlackConfig
    | DiscordConfig
    | FeishuConfig
    | WebhookChannelConfig
)
