"""The configuration that answers come to, as the tables of its file. Pure."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from daemon.config import TOOLS, Secret, SlackConfig, TelegramConfig
from daemon.config.environment import Table, is_table
from daemon.setup.answers import POLICIES, Answers, ModelAnswer, SlackAnswer, TelegramAnswer


@dataclass(frozen=True, kw_only=True)
class SecretFile:
    """A secret, and the file beside the configuration that it goes into."""

    name: str
    secret: Secret


def with_answers(before: Table, answers: Answers) -> tuple[Table, list[SecretFile]]:
    """The tables after the answers, which name the files that come with them; nothing that is not asked is changed."""
    tables = copy.deepcopy(before)
    if answers.data_dir:
        tables["data_dir"] = answers.data_dir
    bot = _inner(tables, "bots", answers.bot)
    bot |= {"language": answers.language, "time_zone": answers.time_zone}
    if answers.workspace:
        bot["workspace"] = answers.workspace
    bot.setdefault("tools", list(TOOLS))
    files = [_model(bot, answers.bot, answers.model)] if answers.model else []
    if answers.model is None:
        _offline(bot)
    _add(bot, "admins", answers.admins)
    if answers.telegram:
        files.append(_telegram(tables, answers.bot, answers.telegram))
    if answers.slack:
        files.extend(_slack(tables, answers.bot, answers.slack))
    return tables, [file for file in files if file is not None]


def _model(bot: Table, name: str, answer: ModelAnswer) -> SecretFile | None:
    model = _inner(bot, "model")
    model |= {"base_url": answer.base_url, "name": answer.name}
    if answer.api == "openai":
        model.pop("api", None)
    else:
        model["api"] = answer.api
    file = SecretFile(name=f"{name}.model.key", secret=answer.key) if answer.key else None
    # An empty key is written out: else the one of the environment would be sent to that server.
    _secret(model, "api_key", file)
    return file


def _offline(bot: Table) -> None:
    model = bot.get("model")
    if is_table(model):
        for key in ("api", "base_url", "name", "api_key", "api_key_file"):
            model.pop(key, None)
        if not model:
            del bot["model"]


def _telegram(tables: Table, bot: str, answer: TelegramAnswer) -> SecretFile:
    channel = _channel(tables, answer.channel, "telegram", bot)
    _address(channel, answer.base_url, usual=TelegramConfig().base_url)
    file = SecretFile(name=f"{answer.channel}.token", secret=answer.token)
    _secret(channel, "token", file)
    _access(channel, answer, answer.allow)
    return file


def _slack(tables: Table, bot: str, answer: SlackAnswer) -> list[SecretFile]:
    channel = _channel(tables, answer.channel, "slack", bot)
    _address(channel, answer.base_url, usual=SlackConfig().base_url)
    secrets = (
        ("bot_token", "bot.token", answer.bot_token),
        ("app_token", "app.token", answer.app_token),
        ("signing_secret", "signing.secret", answer.signing_secret),
    )
    files: list[SecretFile] = []
    for key, name, secret in secrets:
        file = SecretFile(name=f"{answer.channel}.{name}", secret=secret) if secret else None
        if file:
            _secret(channel, key, file)
            files.append(file)
    if answer.events_url:
        _inner(channel, "events")["url"] = answer.events_url
    elif is_table(events := channel.get("events")):
        events.pop("url", None)
    _access(channel, answer, ())
    return files


def _channel(tables: Table, name: str, kind: str, bot: str) -> Table:
    channel = _inner(tables, "channels", name)
    channel |= {"type": kind, "bot": bot}
    channel.pop("enabled", None)
    return channel


def _address(channel: Table, base_url: str, *, usual: str) -> None:
    if base_url != usual:
        channel["base_url"] = base_url
    else:
        channel.pop("base_url", None)


def _access(channel: Table, answer: TelegramAnswer | SlackAnswer, allow: Sequence[str]) -> None:
    access = _inner(channel, "access")
    access["policy"] = POLICIES[answer.access]
    alone = (answer.owner.id,) if answer.owner and answer.access == "private" else ()
    _add(access, "allow", (*alone, *allow))


def _secret(section: Table, key: str, file: SecretFile | None) -> None:
    section.pop(f"{key}_file", None)
    section.pop(key, None)
    if file:
        section[f"{key}_file"] = file.name
    else:
        section[key] = ""


def _add(section: Table, key: str, values: Sequence[str]) -> None:
    given = section.get(key)
    before = cast("list[str]", given) if isinstance(given, list) else []
    if values:
        section[key] = list(dict.fromkeys((*before, *values)))


def _inner(table: Table, *names: str) -> Table:
    for name in names:
        inner = table.setdefault(name, {})
        if not is_table(inner):
            inner = table[name] = {}
        table = inner
    return table
