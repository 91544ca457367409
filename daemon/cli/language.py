"""The language of the command line: that of the first bot, also if the configuration has errors."""

import os
import re
from functools import cache
from typing import TYPE_CHECKING

from daemon.translation import chinese

if TYPE_CHECKING:
    from daemon.wording import Language

_VARIABLE = re.compile(r"MILLPOND_BOTS__\w+__LANGUAGE", re.IGNORECASE)


def translated(text: str) -> str:
    """``text``, an answer or an error in English, in the language of the command line."""
    return chinese(text) if language() == "zh" else text


@cache
def language() -> "Language":
    """``bots.<name>.language`` of the environment or of the first bot in the file; English if neither can be read."""
    for name, value in os.environ.items():
        if _VARIABLE.fullmatch(name):
            return "zh" if value == "zh" else "en"
    return "zh" if _of_file() == "zh" else "en"


def _of_file() -> object:
    import click

    from daemon.config.config_file import read_tables
    from daemon.config.environment import is_table
    from daemon.errors import ConfigError

    options = ctx.find_root().obj if (ctx := click.get_current_context(silent=True)) else None
    try:
        _, tables = read_tables(getattr(options, "config_path", None), os.environ)
    except ConfigError:
        return None
    bots = tables.get("bots")
    first = next(iter(bots.values()), None) if is_table(bots) else None
    return first.get("language") if is_table(first) else None
