"""The configuration that answers come to, as the tables of its file. Pure."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from daemon.config import Secret, TelegramConfig
from daemon.config.environment import Table, is_table
from daemon.setup.answers import POLICIES, Answers, ModelAnswer, TelegramAnswer

TOOLS = ("time", "message", "compact", "read_file", "write_file", "edit_file", "list_files", "grep")
"""Of a new bot: all that stay within a conversation's own files."""


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
    if answers.telegram:
        _add(bot, "admins", answers.telegram.admins)
        files.append(_telegram(tables, answers.bot, answers.telegram))
    return tables, [file for file in files if file is not None]


def _model(bot: Table, name: str, answer: ModelAnswer) -> SecretFile | None:
    model = _inner(bot, "model")
    model |= {"base_url": answer.base_url, "name": answer.name}
    file = SecretFile(name=f"{name}.model.key", secret=answer.key) if answer.key else None
    # An empty key is written out: else the one of the environment would be sent to that server.
    _secret(model, "api_key", file)
    return file


def _offline(bot: Table) -> None:
    model = bot.get("model")
    if is_table(model):
        for key in ("base_url", "name", "api_key", "api_key_file"):
            model.pop(key, None)
        if not model:
            del bot["model"]


def _telegram(tables: Table, bot: str, answer: TelegramAnswer) -> SecretFile:
    channel = _inner(tables, "channels", answer.channel)
    channel |= {"type": "telegram", "bot": bot}
    channel.pop("enabled", None)
    if answer.base_url != TelegramConfig().base_url:
        channel["base_url"] = answer.base_url
    else:
        channel.pop("base_url", None)
    file = SecretFile(name=f"{answer.channel}.token", secret=answer.token)
    _secret(channel, "token", file)
    access = _inner(channel, "access")
    access["policy"] = POLICIES[answer.access]
    _add(access, "allow", (*((answer.owner.id,) if answer.owner and answer.access == "private" else ()), *answer.allow))
    return file


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
