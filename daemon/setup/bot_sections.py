"""Adding and removing bots in the tables of the configuration file. Pure."""

import copy

from daemon.config import Config
from daemon.config.config_keys import NAME_RULE, is_name
from daemon.config.config_loader import DEFAULT_BOT
from daemon.config.environment import Table, is_table
from daemon.setup.questions import AnswerRefused

LIKE_KEYS = ("language", "time_zone", "model")
"""Settings that a new bot has from another bot. Tools, limits and administrators are the defaults."""


def with_bot(tables: Table, config: Config, bot: str, like: str) -> Table:
    """``tables`` with a new bot that has the language, the time zone and the model of the bot ``like``.

    Each bot and channel of ``config`` that the file leaves out, or leaves without a bot, is written out: a second bot
    would change its meaning.

    Raises:
        AnswerRefused: the name cannot be a bot's or is taken, or there is no bot ``like``.
    """
    if not is_name(bot):
        raise AnswerRefused("--name", bot, NAME_RULE)
    if bot in config.bots:
        raise AnswerRefused("--name", bot, "a bot with this name already exists. Choose another name")
    if like not in config.bots:
        raise AnswerRefused("--like", like, f"this bot was not found. Choose one of {', '.join(config.bots)}")
    after = copy.deepcopy(tables)
    for name, each in config.bots.items():
        _section(after, "bots", name).setdefault("language", each.language)
    if bot == DEFAULT_BOT or DEFAULT_BOT not in config.bots:
        for name, channel in config.channels.items():
            if channel.enabled:
                _section(after, "channels", name).setdefault("bot", channel.bot)
    given = _section(after, "bots", like)
    _section(after, "bots", bot).update({key: copy.deepcopy(given[key]) for key in LIKE_KEYS if key in given})
    return after


def without_bot(tables: Table, config: Config, bot: str) -> Table:
    """``tables`` without a bot. Its files, conversations and memories stay.

    Raises:
        AnswerRefused: there is no such bot in the file, it is the only one, or a channel uses it.
    """
    bots = tables.get("bots")
    if not is_table(bots) or bot not in bots:
        raise AnswerRefused("--bot", bot, "this bot is not in the configuration file. Choose another bot")
    if len(config.bots) == 1:
        raise AnswerRefused("--bot", bot, "the only bot cannot be deleted. Create another bot first")
    using = [name for name, channel in config.channels.items() if channel.enabled and channel.bot == bot]
    if using:
        text = f"these channels use the bot: {', '.join(using)}. Connect each channel to another bot, or disable it"
        raise AnswerRefused("--bot", bot, text)
    after = copy.deepcopy(tables)
    del _section(after, "bots")[bot]
    return after


def _section(tables: Table, *names: str) -> Table:
    for name in names:
        inner = tables.setdefault(name, {})
        if not is_table(inner):
            inner = tables[name] = {}
        tables = inner
    return tables
