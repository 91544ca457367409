"""Rules for channels of type ``telegram``. Pure. Texts about a secret never contain it."""

import re
from collections.abc import Iterator

from daemon.config.address import PUBLIC, SERVER, is_public, is_server
from daemon.config.channels import TelegramConfig
from daemon.config.config_reader import Finding
from daemon.config.schema import Config
from daemon.config.type_descriptions import got

_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,128}")
"""As BotFather gives them: the bot's id, a colon, a secret part."""

_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
"""What the platform sends back to a webhook (Bot API, ``setWebhook``)."""

REACTION_MAX_CHARS = 8
"""An emoji, with all that belongs to one."""


def telegram_findings(config: Config) -> Iterator[Finding]:
    """Every rule that Telegram channels violate, individually or together."""
    tokens: dict[tuple[str, str], str] = {}
    places: dict[tuple[str, int], str] = {}
    for name, channel in config.channels.items():
        if not (isinstance(channel, TelegramConfig) and channel.enabled):
            continue
        path = f"channels.{name}"
        yield from _own(path, channel)
        bot = (channel.base_url.rstrip("/"), channel.token.reveal())
        if channel.token and (other := tokens.setdefault(bot, name)) != name:
            text = (
                f"the bot token is also used by channels.{other}, but only one of the two channels would receive "
                "messages. Use another bot's token"
            )
            yield Finding(f"{path}.token", text, (f"{path}.token_file",))
        place = (channel.webhook.host, channel.webhook.port)
        if channel.webhook.url and channel.webhook.port and (other := places.setdefault(place, name)) != name:
            text = f"{channel.webhook.port} is also used by channels.{other}. Each channel needs its own port"
            yield Finding(f"{path}.webhook.port", text)


def _own(path: str, channel: TelegramConfig) -> Iterator[Finding]:
    if not channel.token:
        text = (
            f"this setting is missing. Save the token from BotFather in a file, and set {path}.token_file to its path"
        )
        yield Finding(f"{path}.token", text, (f"{path}.token_file",))
    elif not _TOKEN.fullmatch(channel.token.reveal()):
        text = "the value is not a bot token. BotFather's tokens consist of a number, a colon and letters"
        yield Finding(f"{path}.token", text, (f"{path}.token_file",))
    if not is_server(channel.base_url):
        yield Finding(f"{path}.base_url", SERVER)
    if len(channel.reaction) > REACTION_MAX_CHARS:
        yield Finding(f"{path}.reaction", f"expected one emoji, got {got(channel.reaction)}")
    webhook = channel.webhook
    if webhook.url and not is_public(webhook.url):
        yield Finding(f"{path}.webhook.url", PUBLIC)
    if webhook.secret and not _SECRET.fullmatch(webhook.secret.reveal()):
        text = "expected 1 to 256 letters, digits, _ and -"
        yield Finding(f"{path}.webhook.secret", text, (f"{path}.webhook.secret_file",))
