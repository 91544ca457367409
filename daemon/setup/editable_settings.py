"""Settings that operators may change over the API. Pure.

The list holds no key that runs a program, names a file or a folder, opens a port or moves data to another place.
Whoever has the token of the API must not get the rights of the user that Millpond runs as.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import cast

import msgspec

from daemon.config import TOOLS, BotConfig, Config, PushConfig
from daemon.config.environment import Table, is_table
from daemon.setup.questions import AnswerRefused

Value = str | bool | int | float | list[str] | None
"""A value from a form; None: the setting gets its default."""

EACH = ("person", "chat", "bot")

BOT_KEYS = (
    *("language", "time_zone", "titles", "admins", "groups_may", "tools", "context_budget_tokens"),
    *("model.context_window_tokens", "model.max_completion_tokens", "model.vision"),
    *("model.prices.input", "model.prices.cached_input", "model.prices.output", "model.prices.currency"),
    *(f"limits.{limit}.{each}" for limit in ("tokens_per_day", "cost_per_day", "messages_per_minute") for each in EACH),
    "limits.reserved_for_memory",
)
"""Of a bot. The address, the name and the key of a model are changed together, see ``tables.set_model``."""

CHANNEL_KEYS = ("enabled", "access.policy", "access.allow", "access.groups", "streaming", "typing", "parts_max")
"""Of a channel of a chat platform."""


def values_of(config: Config) -> dict[str, Value]:
    """The value of every setting that may be changed, by its dotted path; no secret is one of them."""
    return {path: _plain(section, key) for path, section, key in _places(config)}


def with_changes(tables: Table, config: Config, changes: Mapping[str, Value]) -> Table:
    """``tables`` with the changed settings.

    Raises:
        AnswerRefused: a path is none of the settings that may be changed, or a tool reaches further than the others.
    """
    after = copy.deepcopy(tables)
    known = {path: (section, key) for path, section, key in _places(config)}
    for path, value in changes.items():
        if path not in known:
            text = "this setting cannot be changed here. Change the configuration file on the server"
            raise AnswerRefused(path[:100], "", text)
        section, key = known[path]
        if key == "tools":
            _check_tools(path, value, cast("BotConfig", section).tools)
        _set(after, path.split("."), value)
    return after


def _places(config: Config) -> Iterator[tuple[str, msgspec.Struct, str]]:
    """Path, section and key below that section of every setting."""
    for name, bot in config.bots.items():
        yield from ((f"bots.{name}.{key}", bot, key) for key in BOT_KEYS)
    for name, channel in config.channels.items():
        if isinstance(channel, PushConfig):
            yield from ((f"channels.{name}.{key}", channel, key) for key in CHANNEL_KEYS)


def _plain(section: msgspec.Struct, key: str) -> Value:
    value: object = section
    for part in key.split("."):
        value = getattr(value, part)
    return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else cast("Value", value)


def _check_tools(path: str, value: Value, before: tuple[str, ...]) -> None:
    """Refuse a new tool that does not stay within a conversation's own files, as ``shell`` does not."""
    for tool in value if isinstance(value, list) else []:
        if tool not in TOOLS and tool not in before:
            text = f"tools other than {', '.join(TOOLS)} can be added only in the configuration file on the server"
            raise AnswerRefused(path, tool, text)


def _set(table: Table, path: list[str], value: Value) -> None:
    for part in path[:-1]:
        inner = table.get(part)
        if not is_table(inner):
            if value is None:
                return
            inner = table[part] = {}
        table = inner
    if value is None:
        table.pop(path[-1], None)
    else:
        table[path[-1]] = value
