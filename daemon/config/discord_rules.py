"""Rules for channels of type ``discord``. Pure. Texts about a secret never contain it."""

import re
from collections.abc import Iterator

from daemon.config.address import SERVER, is_server
from daemon.config.channel_rules import REACTION_MAX_CHARS
from daemon.config.channels import DiscordConfig
from daemon.config.config_keys import got
from daemon.config.config_reader import ConfigProblem
from daemon.config.schema import Config
from daemon.config.secret import Secret

_TOKEN = re.compile(r"[A-Za-z0-9_=-]{18,64}\.[A-Za-z0-9_=-]{4,16}\.[A-Za-z0-9_=-]{20,128}")
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
        yield from _own(path, channel)
        if channel.token and (other := tokens.setdefault(channel.token.reveal(), name)) != name:
            text = f"the bot token is also used by channels.{other}. Use one section for each bot"
            yield ConfigProblem(f"{path}.token", text, (f"{path}.token_file",))


def discord_token_problem(token: Secret) -> str:
    """The problem of the form of a bot token; empty if none."""
    text = token.reveal()
    if text.startswith("Bot "):
        return "the value begins with the word Bot. Enter only the token"
    return "" if _TOKEN.fullmatch(text) else f"the value is not a bot token: {WHERE_TOKEN}"


def _own(path: str, channel: DiscordConfig) -> Iterator[ConfigProblem]:
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
