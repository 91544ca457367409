"""Rules for each type of channel. Pure. Texts about a secret never contain it."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping

from daemon.config.address import PUBLIC, SERVER, is_public, is_server
from daemon.config.channels import DiscordConfig, SlackConfig, TelegramConfig, WebhookChannelConfig
from daemon.config.config_keys import got
from daemon.config.config_reader import ConfigProblem
from daemon.config.schema import Config
from daemon.config.secret import Secret

# Rules for channels of type ``telegram``. Pure. Texts about a secret never contain it.

_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,128}")
"""As BotFather gives them: the bot's id, a colon, a secret part."""

_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
"""What the platform sends back to a webhook (Bot API, ``setWebhook``)."""

REACTION_MAX_CHARS = 8
"""An emoji, with all that belongs to one."""


def telegram_findings(config: Config) -> Iterator[ConfigProblem]:
    """Every rule that Telegram channels violate, individually or together."""
    tokens: dict[tuple[str, str], str] = {}
    places: dict[tuple[str, int], str] = {}
    for name, channel in config.channels.items():
        if not (isinstance(channel, TelegramConfig) and channel.enabled):
            continue
        path = f"channels.{name}"
        yield from _own_telegram(path, channel)
        bot = (channel.base_url.rstrip("/"), channel.token.reveal())
        if channel.token and (other := tokens.setdefault(bot, name)) != name:
            text = (
                f"the bot token is also used by channels.{other}, so only one of the two channels would receive "
                "messages. Use another bot's token"
            )
            yield ConfigProblem(f"{path}.token", text, (f"{path}.token_file",))
        place = (channel.webhook.host, channel.webhook.port)
        if channel.webhook.url and channel.webhook.port and (other := places.setdefault(place, name)) != name:
            text = f"{channel.webhook.port} is also used by channels.{other}. Each channel needs its own port"
            yield ConfigProblem(f"{path}.webhook.port", text)


def _own_telegram(path: str, channel: TelegramConfig) -> Iterator[ConfigProblem]:
    if not channel.token:
        text = (
            f"this setting is missing. Save the token from BotFather in a file, and set {path}.token_file to its path"
        )
        yield ConfigProblem(f"{path}.token", text, (f"{path}.token_file",))
    elif not _TOKEN.fullmatch(channel.token.reveal()):
        text = "the value is not a bot token. A token from BotFather consists of a number, a colon and letters"
        yield ConfigProblem(f"{path}.token", text, (f"{path}.token_file",))
    if not is_server(channel.base_url):
        yield ConfigProblem(f"{path}.base_url", SERVER)
    if len(channel.reaction) > REACTION_MAX_CHARS:
        yield ConfigProblem(f"{path}.reaction", f"expected one emoji, got {got(channel.reaction)}")
    webhook = channel.webhook
    if webhook.url and not is_public(webhook.url):
        yield ConfigProblem(f"{path}.webhook.url", PUBLIC)
    if webhook.secret and not _SECRET.fullmatch(webhook.secret.reveal()):
        text = "expected 1 to 256 letters, digits, _ and -"
        yield ConfigProblem(f"{path}.webhook.secret", text, (f"{path}.webhook.secret_file",))


# Rules for channels of type ``slack``. Pure. Texts about a secret never contain it.

_BOT_TOKEN = re.compile(r"xoxb-[!-~]{1,250}")
_APP_TOKEN = re.compile(r"xapp-[!-~]{1,250}")
"""Of what follows, Slack says nothing that could be checked."""
_SIGNING_SECRET = re.compile(r"(?!xox|xapp-)[!-~]{8,128}")
"""Slack's are 32 hexadecimal digits; what is pasted here by mistake are tokens."""
_REACTION_NAME = re.compile(r":?[a-z0-9_+'-]{1,100}:?")
"""As Slack calls its emoji: ``eyes``, ``+1``, ``white_check_mark``."""

WHERE_BOT_TOKEN = "copy the Bot User OAuth Token from Install App in the app's settings"  # noqa: S105 - a place
WHERE_APP_TOKEN = (
    "create an app-level token with the connections:write scope under Basic Information > App-Level Tokens in the "  # noqa: S105 - where one is found
    "app's settings"
)
WHERE_SECRET = "copy the Signing Secret from Basic Information > App Credentials in the app's settings"  # noqa: S105 - where one is found


def slack_findings(config: Config) -> Iterator[ConfigProblem]:
    """Every rule that Slack channels violate, individually or together."""
    channels = {
        name: channel
        for name, channel in config.channels.items()
        if isinstance(channel, SlackConfig) and channel.enabled
    }
    for name, channel in channels.items():
        yield from _own(f"channels.{name}", channel)
        yield from _heard(name, channel, channels)
    yield from _twice(channels)
    yield from _places(config, channels)


def bot_token_problem(token: Secret) -> str:
    """The problem of the form of a bot token; empty if none."""
    text = token.reveal()
    if text.startswith("xoxe"):
        return (
            "the value is a token that expires. Token rotation cannot be switched off for an app, so create a new app "
            "from the manifest"
        )
    if text.startswith("xoxp-"):
        return f"the value is a user token, but a bot token (xoxb-…) is required: {WHERE_BOT_TOKEN}"
    return "" if _BOT_TOKEN.fullmatch(text) else f"the value is not a bot token (xoxb-…): {WHERE_BOT_TOKEN}"


def app_token_problem(token: Secret) -> str:
    """The problem of the form of an app token; empty if none."""
    fine = _APP_TOKEN.fullmatch(token.reveal())
    return "" if fine else f"the value is not an app-level token (xapp-…): {WHERE_APP_TOKEN}"


def signing_secret_problem(secret: Secret) -> str:
    """The problem of the form of a signing secret; empty if none."""
    fine = _SIGNING_SECRET.fullmatch(secret.reveal())
    return "" if fine else f"the value is a token or part of a token, not a signing secret: {WHERE_SECRET}"


def _own(path: str, channel: SlackConfig) -> Iterator[ConfigProblem]:
    checks = (
        ("bot_token", channel.bot_token, bot_token_problem),
        ("app_token", channel.app_token, app_token_problem),
        ("signing_secret", channel.signing_secret, signing_secret_problem),
    )
    for key, secret, problem in checks:
        if secret and (text := problem(secret)):
            yield ConfigProblem(f"{path}.{key}", text, (f"{path}.{key}_file",))
    if not channel.bot_token:
        text = (
            f"this setting is missing: {WHERE_BOT_TOKEN}. Save the token in a file, and set {path}.bot_token_file to "
            "its path"
        )
        yield ConfigProblem(f"{path}.bot_token", text, (f"{path}.bot_token_file",))
    if not is_server(channel.base_url):
        yield ConfigProblem(f"{path}.base_url", SERVER)
    if channel.events.url and not is_public(channel.events.url):
        yield ConfigProblem(f"{path}.events.url", PUBLIC)
    if channel.reaction and not _is_reaction(channel.reaction):
        text = f"expected one emoji or a Slack emoji name (for example, eyes), but got {got(channel.reaction)}"
        yield ConfigProblem(f"{path}.reaction", text)


def _is_reaction(text: str) -> bool:
    named = bool(_REACTION_NAME.fullmatch(text))
    return named or (not text.isascii() and len(text) <= REACTION_MAX_CHARS)


def _heard(name: str, channel: SlackConfig, channels: Mapping[str, SlackConfig]) -> Iterator[ConfigProblem]:
    """By a socket, by its own listener, or by the listener of the same app in another section."""
    path = f"channels.{name}"
    if channel.events.url and not channel.signing_secret:
        text = f"events.url requires this setting to verify every request, but the setting is missing: {WHERE_SECRET}"
        yield ConfigProblem(f"{path}.signing_secret", text, (f"{path}.signing_secret_file",))
    elsewhere = any(other.events.url and _same(other, channel) for other in channels.values())
    if not (channel.events.url or channel.app_token or elsewhere):
        text = (
            f"this setting is missing: {WHERE_APP_TOKEN}. Alternatively, set events.url and signing_secret "
            "to receive events at a URL"
        )
        yield ConfigProblem(f"{path}.app_token", text, (f"{path}.app_token_file", f"{path}.events.url"))


def _same(one: SlackConfig, other: SlackConfig) -> bool:
    """Whether the two are one app, as far as events by HTTP tell."""
    return bool(one.signing_secret) and one.signing_secret == other.signing_secret


def _twice(channels: Mapping[str, SlackConfig]) -> Iterator[ConfigProblem]:
    tokens: dict[str, str] = {}
    for name, channel in channels.items():
        if channel.bot_token and (other := tokens.setdefault(channel.bot_token.reveal(), name)) != name:
            text = f"the same token is used by channels.{other}. Configure one section for each workspace and app"
            yield ConfigProblem(f"channels.{name}.bot_token", text, (f"channels.{name}.bot_token_file",))


def _places(config: Config, channels: Mapping[str, SlackConfig]) -> Iterator[ConfigProblem]:
    """Each app listens at a place of its own, and at one only."""
    places: dict[tuple[str, int], str] = {
        (channel.webhook.host, channel.webhook.port): name
        for name, channel in config.channels.items()
        if isinstance(channel, TelegramConfig) and channel.enabled and channel.webhook.url and channel.webhook.port
    }
    listeners: dict[str, str] = {}
    for name, channel in channels.items():
        if not channel.events.url:
            continue
        path = f"channels.{name}.events"
        secret = channel.signing_secret.reveal()
        if secret and (sibling := listeners.setdefault(secret, name)) != name:
            if channel.events != channels[sibling].events:
                text = (
                    f"channels.{sibling} uses the same app and receives that app's events. Remove the events section "
                    "here, or set the same values in both channels"
                )
                yield ConfigProblem(path, text, (f"{path}.url", f"{path}.host", f"{path}.port"))
            continue
        place = (channel.events.host, channel.events.port)
        if channel.events.port and (other := places.setdefault(place, name)) != name:
            yield ConfigProblem(
                f"{path}.port", f"port {place[1]} is also used by channels.{other}. Each channel needs its own port"
            )


# Rules for channels of type ``webhook``. Pure. Texts about a secret never contain it.

SECRET_PREFIX = "whsec_"  # noqa: S105 - no secret: the mark of one in Standard Webhooks
"""A secret that begins so is Base64 behind it; any other one is the key itself."""

KEY_MIN_BYTES = 16
"""Shorter keys can be guessed."""


def signing_key(secret: Secret) -> bytes:
    """The key that requests are signed with.

    Raises:
        ValueError: the text behind the prefix is not Base64.
    """
    text = secret.reveal()
    if not text.startswith(SECRET_PREFIX):
        return text.encode()
    return base64.b64decode(text[len(SECRET_PREFIX) :], validate=True)


def webhook_findings(config: Config) -> Iterator[ConfigProblem]:
    """Every rule that webhook channels violate, individually or together."""
    places: dict[tuple[str, int], str] = {}
    for name, channel in config.channels.items():
        if not (isinstance(channel, WebhookChannelConfig) and channel.enabled):
            continue
        path = f"channels.{name}"
        yield from _own_webhook(path, channel)
        place = (channel.host, channel.port)
        if channel.port and (other := places.setdefault(place, name)) != name:
            text = f"{channel.port} is also used by channels.{other}. Each channel needs its own port"
            yield ConfigProblem(f"{path}.port", text)


def _own_webhook(path: str, channel: WebhookChannelConfig) -> Iterator[ConfigProblem]:
    if not is_server(channel.url):
        yield ConfigProblem(f"{path}.url", f"{SERVER}, got {got(channel.url)}. Set the address of the bridge")
    if problem := _secret_problem(channel.secret):
        yield ConfigProblem(f"{path}.secret", problem, (f"{path}.secret_file",))
    if not channel.path.startswith("/"):
        yield ConfigProblem(f"{path}.path", f"expected a path that begins with /, got {got(channel.path)}")
    if channel.reaction and "reactions" not in channel.supports:
        text = f"the bridge does not support reactions. Remove this setting, or add 'reactions' to {path}.supports"
        yield ConfigProblem(f"{path}.reaction", text, (f"{path}.supports",))


def _secret_problem(secret: Secret) -> str:
    if not secret:
        return (
            "this setting is missing. Run `python -c 'import secrets; print(secrets.token_urlsafe(32))'`, save the "
            "result in a file, and set secret_file to its path"
        )
    try:
        key = signing_key(secret)
    except (binascii.Error, ValueError):
        return f"the text after {SECRET_PREFIX} is not valid Base64"
    return "" if len(key) >= KEY_MIN_BYTES else f"expected a secret of at least {KEY_MIN_BYTES} bytes"


# Channels of type ``discord``.

_DISCORD_TOKEN = re.compile(r"[A-Za-z0-9_=-]{18,64}\.[A-Za-z0-9_=-]{4,16}\.[A-Za-z0-9_=-]{20,128}")
"""As Discord gives them: the bot's ID, a time, and a secret part, in Base64."""

_SERVER_EMOJI = re.compile(r"<?a?:?\w{1,64}:\d{1,20}>?")
"""An emoji of a server: ``name:id``."""

WHERE_TOKEN = "copy the token from the app's Bot page, at https://discord.com/developers/applications"  # noqa: S105 - a place


def discord_findings(config: Config) -> Iterator[ConfigProblem]:
    """Every rule that Discord channels violate, individually or together."""
    tokens: dict[str, str] = {}
    for name, channel in config.channels.items():
        if not (isinstance(channel, DiscordConfig) and channel.enabled):
            continue
        path = f"channels.{name}"
        yield from _own_of_discord(path, channel)
        if channel.token and (other := tokens.setdefault(channel.token.reveal(), name)) != name:
            text = f"the bot token is also used by channels.{other}. Use one section for each bot"
            yield ConfigProblem(f"{path}.token", text, (f"{path}.token_file",))


def discord_token_problem(token: Secret) -> str:
    """The problem of the form of a bot token; empty if none."""
    text = token.reveal()
    if text.startswith("Bot "):
        return "the value begins with the word Bot. Enter only the token"
    return "" if _DISCORD_TOKEN.fullmatch(text) else f"the value is not a bot token: {WHERE_TOKEN}"


def _own_of_discord(path: str, channel: DiscordConfig) -> Iterator[ConfigProblem]:
    if not channel.token:
        text = (
            f"this setting is missing: {WHERE_TOKEN}. Save the token in a file, and set {path}.token_file to its path"
        )
        yield ConfigProblem(f"{path}.token", text, (f"{path}.token_file",))
    elif problem := discord_token_problem(channel.token):
        yield ConfigProblem(f"{path}.token", problem, (f"{path}.token_file",))
    if not is_server(channel.base_url):
        yield ConfigProblem(f"{path}.base_url", SERVER)
    if len(channel.reaction) > REACTION_MAX_CHARS and not _SERVER_EMOJI.fullmatch(channel.reaction):
        yield ConfigProblem(f"{path}.reaction", f"expected one emoji, got {got(channel.reaction)}")
