"""Rules for channels of type ``feishu``. Pure. Texts about a secret never contain it."""

import re
from collections.abc import Iterator
from importlib.util import find_spec

from daemon.config.address import PUBLIC, SERVER, is_public, is_server
from daemon.config.channel_rules import REACTION_MAX_CHARS
from daemon.config.channels import FeishuConfig
from daemon.config.config_keys import got
from daemon.config.config_reader import ConfigProblem
from daemon.config.schema import Config
from daemon.config.secret import Secret

_APP_ID = re.compile(r"cli_[A-Za-z0-9]{8,64}")
_APP_SECRET = re.compile(r"[A-Za-z0-9]{16,128}")
"""Feishu's have 32 letters and digits."""
_ENCRYPT_KEY = re.compile(r"[!-~](?:[ -~]{0,254}[!-~])?")
"""Chosen by a person."""
_REACTION_NAME = re.compile(r":?[A-Za-z0-9_]{1,64}:?")
"""As Feishu calls its emoji: ``GLANCE``, ``Typing``."""

WHERE_APP = "copy the App ID and the App Secret from Credentials & Basic Info in the developer console"
WHERE_KEY = "copy the Encrypt Key from Events & Callbacks > Encryption Strategy in the developer console"


def app_id_problem(text: str) -> str:
    """The problem of the form of an app's id; empty if none."""
    return "" if _APP_ID.fullmatch(text) else f"this is not an app ID; app IDs begin with cli_: {WHERE_APP}"


def app_secret_problem(secret: Secret) -> str:
    """The problem of the form of an app's secret; empty if none."""
    fine = _APP_SECRET.fullmatch(secret.reveal())
    return "" if fine else f"the value is not an App Secret (32 letters and digits): {WHERE_APP}"


def encrypt_key_problem(secret: Secret) -> str:
    """The problem of the form of an Encrypt Key; empty if none."""
    return "" if _ENCRYPT_KEY.fullmatch(secret.reveal()) else f"the value is not an Encrypt Key: {WHERE_KEY}"


def feishu_findings(config: Config) -> Iterator[ConfigProblem]:
    """Every rule that Feishu channels violate, individually or together."""
    apps: dict[str, str] = {}
    places: dict[tuple[str, int], str] = {}
    for name, channel in config.channels.items():
        if not (isinstance(channel, FeishuConfig) and channel.enabled):
            continue
        path = f"channels.{name}"
        yield from _own(path, channel)
        if channel.app_id and (other := apps.setdefault(channel.app_id, name)) != name:
            text = f"the same app is used by channels.{other}. Each channel needs its own app"
            yield ConfigProblem(f"{path}.app_id", text)
        place = (channel.events.host, channel.events.port)
        if channel.events.url and place[1] and (other := places.setdefault(place, name)) != name:
            text = f"port {place[1]} is also used by channels.{other}. Each channel needs its own port"
            yield ConfigProblem(f"{path}.events.port", text)


def _own(path: str, channel: FeishuConfig) -> Iterator[ConfigProblem]:
    if problem := app_id_problem(channel.app_id):
        problem = problem if channel.app_id else f"this setting is missing: {WHERE_APP}"
        yield ConfigProblem(f"{path}.app_id", problem)
    secrets = f"{path}.app_secret", (f"{path}.app_secret_file",)
    if not channel.app_secret:
        text = f"this setting is missing: {WHERE_APP}. Save the secret in a file, and set {secrets[0]}_file to its path"
        yield ConfigProblem(secrets[0], text, secrets[1])
    elif problem := app_secret_problem(channel.app_secret):
        yield ConfigProblem(secrets[0], problem, secrets[1])
    if not is_server(channel.base_url):
        yield ConfigProblem(f"{path}.base_url", SERVER)
    yield from _heard(path, channel)
    if channel.reaction and not _is_reaction(channel.reaction):
        text = f"expected one emoji or a Feishu emoji name (for example, GLANCE), but got {got(channel.reaction)}"
        yield ConfigProblem(f"{path}.reaction", text)


def _heard(path: str, channel: FeishuConfig) -> Iterator[ConfigProblem]:
    key = f"{path}.encrypt_key", (f"{path}.encrypt_key_file",)
    if channel.encrypt_key and (problem := encrypt_key_problem(channel.encrypt_key)):
        yield ConfigProblem(key[0], problem, key[1])
    if not channel.events.url:
        return
    if find_spec("cryptography") is None:
        text = "events by HTTP need a package that is not installed. Run: pip install 'millpond[feishu]'"
        yield ConfigProblem(f"{path}.events.url", text)
    if not is_public(channel.events.url):
        yield ConfigProblem(f"{path}.events.url", PUBLIC)
    if not channel.encrypt_key:
        text = f"events.url requires this setting to verify every request, but the setting is missing: {WHERE_KEY}"
        yield ConfigProblem(key[0], text, key[1])


def _is_reaction(text: str) -> bool:
    named = bool(_REACTION_NAME.fullmatch(text))
    return named or (not text.isascii() and len(text) <= REACTION_MAX_CHARS)
