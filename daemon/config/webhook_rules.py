"""Rules for channels of type ``webhook``. Pure. Texts about a secret never contain it."""

import base64
import binascii
from collections.abc import Iterator

from daemon.config.address import SERVER, is_server
from daemon.config.channels import WebhookChannelConfig
from daemon.config.config_reader import Finding
from daemon.config.schema import Config
from daemon.config.secret import Secret
from daemon.config.type_descriptions import got

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


def webhook_findings(config: Config) -> Iterator[Finding]:
    """Every rule that webhook channels violate, individually or together."""
    places: dict[tuple[str, int], str] = {}
    for name, channel in config.channels.items():
        if not (isinstance(channel, WebhookChannelConfig) and channel.enabled):
            continue
        path = f"channels.{name}"
        yield from _own(path, channel)
        place = (channel.host, channel.port)
        if channel.port and (other := places.setdefault(place, name)) != name:
            text = f"{channel.port} is also used by channels.{other}. Each channel needs its own port"
            yield Finding(f"{path}.port", text)


def _own(path: str, channel: WebhookChannelConfig) -> Iterator[Finding]:
    if not is_server(channel.url):
        yield Finding(f"{path}.url", f"{SERVER}, got {got(channel.url)}. Set the address of the bridge")
    if problem := _secret_problem(channel.secret):
        yield Finding(f"{path}.secret", problem, (f"{path}.secret_file",))
    if not channel.path.startswith("/"):
        yield Finding(f"{path}.path", f"expected a path that begins with /, got {got(channel.path)}")
    if channel.reaction and "reactions" not in channel.supports:
        text = f"the bridge does not support reactions. Remove the key, or add reactions to {path}.supports"
        yield Finding(f"{path}.reaction", text, (f"{path}.supports",))


def _secret_problem(secret: Secret) -> str:
    if not secret:
        return (
            "this setting is missing. Run `python -c 'import secrets; print(secrets.token_urlsafe(32))'`, save the "
            "result in a file, and set secret_file to its path"
        )
    try:
        key = signing_key(secret)
    except (binascii.Error, ValueError):
        return f"the text after {SECRET_PREFIX} is not Base64"
    return "" if len(key) >= KEY_MIN_BYTES else f"expected a secret of at least {KEY_MIN_BYTES} bytes"
