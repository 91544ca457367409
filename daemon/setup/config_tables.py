"""The configuration that answers come to, as the tables of its file. Pure."""

import copy
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError

from daemon.config import TOOLS, DiscordConfig, FeishuConfig, Secret, SlackConfig, TelegramConfig
from daemon.config.config_output import literal
from daemon.config.environment import Table, is_table
from daemon.setup.answers import (
    POLICIES,
    Answers,
    DiscordAnswer,
    FeishuAnswer,
    ModelAnswer,
    PlatformAnswer,
    SlackAnswer,
    TelegramAnswer,
    WebAnswer,
    WebhookAnswer,
)

# Tables as TOML that a person can go on editing. Pure.

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_of(tables: Table) -> str:
    """``tables`` as TOML: values first, then sections; reading it gives the same tables."""
    return "\n".join(_section((), tables)).strip("\n") + "\n"


def changed(text: str, tables: Table) -> str:
    """``text`` changed so that it holds ``tables``, with its comments and order wherever that can be done."""
    try:
        document = tomlkit.parse(text)
        _edit(document, tomllib.loads(text), tables)
        edited = tomlkit.dumps(document).strip("\n") + "\n"
        if tomllib.loads(edited) == tables:
            return edited
    except (TOMLKitError, tomllib.TOMLDecodeError):
        pass  # a form of TOML that the library does not edit
    return toml_of(tables)


def _section(path: tuple[str, ...], table: Mapping[str, object]) -> Iterator[str]:
    values = {key: value for key, value in table.items() if not is_table(value) and not _tables(value)}
    if path and (values or not table):
        yield from ("", f"[{_dotted(path)}]")
    for key, value in values.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        if is_table(value):
            yield from _section((*path, key), value)
        for member in _tables(value):
            yield from ("", f"[[{_dotted((*path, key))}]]")
            yield from _inside((*path, key), member)


def _inside(path: tuple[str, ...], table: Table) -> Iterator[str]:
    """What stands below ``[[path]]``: everything in one line each, since a section would end it."""
    yield from (f"{_key(key)} = {_value(value)}" for key, value in table.items())


def _tables(value: object) -> Sequence[Table]:
    """The sections in a list of them; none of any other value."""
    members = cast("list[object]", value) if isinstance(value, list) else []
    return cast("list[Table]", members) if members and all(map(is_table, members)) else []


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(map(_key, path))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else literal(key)


def _value(value: object) -> str:
    if is_table(value):
        inside = ", ".join(f"{_key(key)} = {_value(member)}" for key, member in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, cast("list[object]", value))) + "]"
    return literal(value)


def _edit(section: Any, before: Table, after: Table) -> None:
    """Change a section of a document of tomlkit from ``before`` to ``after``."""
    for key in before.keys() - after.keys():
        del section[key]
    for key, value in after.items():
        old = before.get(key)
        if is_table(value) and is_table(old):
            _edit(section[key], old, value)
        elif value != old or type(value) is not type(old):
            section[key] = value
            if is_table(value):
                section[key].add(tomlkit.nl())


def differences(
    before: Table, after: Table, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, object | None]]:
    """Each key that is another afterwards, with its section; None: it is gone."""
    for key in before:
        if key not in after:
            yield path, key, None
    for key, value in after.items():
        old = before.get(key)
        if is_table(value) and (old is None or is_table(old)):
            yield from differences(old or {}, value, (*path, key))
        elif value != old or type(value) is not type(old):
            yield path, key, value


class SecretFile(msgspec.Struct, frozen=True, kw_only=True):
    """A secret, and the file beside the configuration that it goes into."""

    name: str
    secret: Secret


def with_answers(before: Table, answers: Answers) -> tuple[Table, list[SecretFile]]:
    """The tables after the answers, which name the files that come with them; nothing that is not asked is changed."""
    tables = copy.deepcopy(before)
    if answers.data_dir:
        tables["data_dir"] = answers.data_dir
    bot = inner(tables, "bots", answers.bot)
    bot |= {"language": answers.language, "time_zone": answers.time_zone}
    if answers.workspace:
        bot["workspace"] = answers.workspace
    bot.setdefault("tools", list(TOOLS))
    files = set_model(tables, answers.bot, answers.model)
    for channel in answers.platforms:
        files += set_channel(tables, answers.bot, channel)
    files += set_web(tables, answers.bot, answers.web) if answers.web else []
    return tables, files


def set_model(tables: Table, bot: str, answer: ModelAnswer | None) -> list[SecretFile]:
    """Change the model of a bot in ``tables``; None: the offline mock model. The files that come with it."""
    section = inner(tables, "bots", bot)
    if answer is None:
        _offline(section)
        return []
    file = _model(section, bot, answer)
    return [file] if file else []


def set_channel(tables: Table, bot: str, answer: PlatformAnswer) -> list[SecretFile]:
    """Change a channel of a bot, and its owner, in ``tables``; the files that come with it."""
    _add(inner(tables, "bots", bot), "admins", answer.admins)
    if isinstance(answer, DiscordAnswer):
        return [_discord(tables, bot, answer)]
    if isinstance(answer, FeishuAnswer):
        return _feishu(tables, bot, answer)
    return [_telegram(tables, bot, answer)] if isinstance(answer, TelegramAnswer) else _slack(tables, bot, answer)


def set_web(tables: Table, bot: str, answer: WebAnswer) -> list[SecretFile]:
    """Change what a bot may do on the web in ``tables``; the files that come with it."""
    section = inner(tables, "bots", bot)
    section.setdefault("tools", list(TOOLS))
    file = _web(section, bot, answer)
    return [file] if file else []


def set_webhook(tables: Table, bot: str, answer: WebhookAnswer) -> list[SecretFile]:
    """Change a channel of type ``webhook`` in ``tables``; the files that come with it."""
    channel = _channel(tables, answer.channel, "webhook", bot)
    channel |= {"url": answer.url, "port": answer.port}
    inner(channel, "access")["policy"] = POLICIES[answer.access]
    if answer.secret is None:
        return []
    file = SecretFile(name=f"{answer.channel}.secret", secret=answer.secret)
    put_secret(channel, "secret", file)
    return [file]


def _model(bot: Table, name: str, answer: ModelAnswer) -> SecretFile | None:
    model = inner(bot, "model")
    model |= {"base_url": answer.base_url, "name": answer.name}
    if answer.api == "openai":
        model.pop("api", None)
    else:
        model["api"] = answer.api
    file = SecretFile(name=f"{name}.model.key", secret=answer.key) if answer.key else None
    # An empty key is written out: else the one of the environment would be sent to that server.
    put_secret(model, "api_key", file)
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
    put_secret(channel, "token", file)
    _access(channel, answer, answer.allow)
    return file


def _discord(tables: Table, bot: str, answer: DiscordAnswer) -> SecretFile:
    channel = _channel(tables, answer.channel, "discord", bot)
    _address(channel, answer.base_url, usual=DiscordConfig().base_url)
    file = SecretFile(name=f"{answer.channel}.token", secret=answer.token)
    put_secret(channel, "token", file)
    _access(channel, answer, ())
    return file


def _slack(tables: Table, bot: str, answer: SlackAnswer) -> list[SecretFile]:
    channel = _channel(tables, answer.channel, "slack", bot)
    _address(channel, answer.base_url, usual=SlackConfig().base_url)
    secrets = (
        ("bot_token", "bot.token", answer.bot_token),
        ("app_token", "app.token", answer.app_token),
        ("signing_secret", "signing.secret", answer.signing_secret),
    )
    return _heard(channel, answer, secrets)


def _feishu(tables: Table, bot: str, answer: FeishuAnswer) -> list[SecretFile]:
    channel = _channel(tables, answer.channel, "feishu", bot)
    _address(channel, answer.base_url, usual=FeishuConfig().base_url)
    channel["app_id"] = answer.app_id
    secrets = (
        ("app_secret", "app.secret", answer.app_secret),
        ("encrypt_key", "encrypt.key", answer.encrypt_key),
    )
    return _heard(channel, answer, secrets)


def _heard(
    channel: Table, answer: SlackAnswer | FeishuAnswer, secrets: Sequence[tuple[str, str, Secret]]
) -> list[SecretFile]:
    """The secrets of an app, of which those that are empty stay as they are, and where it hears; the files."""
    files: list[SecretFile] = []
    for key, name, secret in secrets:
        file = SecretFile(name=f"{answer.channel}.{name}", secret=secret) if secret else None
        if file:
            put_secret(channel, key, file)
            files.append(file)
    if answer.events_url:
        inner(channel, "events")["url"] = answer.events_url
    elif is_table(events := channel.get("events")):
        events.pop("url", None)
    _access(channel, answer, ())
    return files


def _web(bot: Table, name: str, answer: WebAnswer) -> SecretFile | None:
    wanted = [*(["web_search"] if answer.search else []), *(["web_fetch"] if answer.fetch else [])]
    given = bot.get("tools")
    tools = cast("list[str]", given) if isinstance(given, list) else []
    bot["tools"] = [*(tool for tool in tools if tool not in ("web_search", "web_fetch")), *wanted]
    if not answer.search and not is_table(bot.get("web")):
        return None
    web = inner(bot, "web")
    for key in ("search", "search_url", "api_key", "api_key_file"):
        web.pop(key, None)
    web |= {key: value for key, value in (("search", answer.search), ("search_url", answer.search_url)) if value}
    if not web:
        del bot["web"]
    if not answer.api_key:
        return None
    file = SecretFile(name=f"{name}.web.key", secret=answer.api_key)
    put_secret(web, "api_key", file)
    return file


def _channel(tables: Table, name: str, kind: str, bot: str) -> Table:
    channel = inner(tables, "channels", name)
    channel |= {"type": kind, "bot": bot}
    channel.pop("enabled", None)
    return channel


def _address(channel: Table, base_url: str, *, usual: str) -> None:
    if base_url != usual:
        channel["base_url"] = base_url
    else:
        channel.pop("base_url", None)


def _access(channel: Table, answer: PlatformAnswer, allow: Sequence[str]) -> None:
    access = inner(channel, "access")
    access["policy"] = POLICIES[answer.access]
    alone = (answer.owner.id,) if answer.owner and answer.access == "private" else ()
    _add(access, "allow", (*alone, *allow))


def put_secret(section: Table, key: str, file: SecretFile | None) -> None:
    """Name the file of a secret in ``section``; None: the secret is empty."""
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


def inner(table: Table, *names: str) -> Table:
    """The table at this path, which is made if it is missing."""
    for name in names:
        inner = table.setdefault(name, {})
        if not is_table(inner):
            inner = table[name] = {}
        table = inner
    return table
