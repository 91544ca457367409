"""The command of a choice: it names its question, so that a choice of an old question answers no newer one. Pure."""

import hashlib
import re

from daemon.events import Choice
from daemon.wording import Language
from daemon.wording import text as say

TOKEN_CHARS = 8
"""Of the name of a question, hexadecimal digits: a button of Telegram holds 64 bytes."""

_named = re.compile(rf"(?P<argument>.*\S)\s+@(?P<token>[0-9a-f]{{{TOKEN_CHARS}}})", re.DOTALL).fullmatch


def choice(
    label: str, command: str, *, language: Language, question: str = "", who: str = "", **values: object
) -> Choice:
    """The choice of ``command``, with ``label``, a key of ``daemon.wording``; ``question``: as for ``token_of``."""
    named = f"{command} @{token_of(question)}" if question else command
    return Choice(label=say(label, language, **values), command=named, who=who)


def token_of(question: str) -> str:
    """The name of a question that ``question`` tells from all others, such as the ID of a job."""
    return hashlib.blake2b(question.encode("utf-8", "replace"), digest_size=TOKEN_CHARS // 2).hexdigest()


def unnamed(argument: str) -> tuple[str, str]:
    """The argument of a command without the name of its question, and this name; empty: a person typed the command."""
    found = _named(argument)
    return (found["argument"], found["token"]) if found else (argument, "")
