"""What a person writes after ``/remind``. Pure."""

import re
from dataclasses import dataclass
from typing import Literal

from daemon.reminders.recurrence import WORDS
from daemon.reminders.reminder_plan import Wish

Action = Literal["", "set", "pause", "resume", "delete", "zone", "stop", "start"]

_ACTIONS: dict[str, Action] = {
    "pause": "pause",
    "resume": "resume",
    "delete": "delete",
    "zone": "zone",
    "stop": "stop",
    "start": "start",
    "暂停": "pause",
    "恢复": "resume",
    "删除": "delete",
    "时区": "zone",
    "停止": "stop",
    "开始": "start",
}
_ASKS = frozenset({"ask", "问"})

_DAY = r"\d{4}-\d\d-\d\d|today|tomorrow|今天|明天"
_REPEATS = "|".join(WORDS)
_WHEN = re.compile(
    rf"(?:(?P<cron>cron(?:\s+\S+){{5}})|(?P<word>{_REPEATS})\s*)?"
    rf"(?P<when>(?:(?:{_DAY})[T ]?\s*)?\d{{1,2}}[:：]\d\d(?![0-9a-z:])|\d{{1,6}}\s?(?:[a-z]+\b|(?:分钟|小时|天)后?))?",
    re.IGNORECASE,
)
_LIKE_TIME = re.compile(r"\d|[一二三四五六日天](?![^\s\d])|\S{1,3}\d{1,2}[点时:：]|.*\b\d{1,2}[:：]\d\d")
"""How words begin that are meant as a part of the time: the 31st of a month, a day of the week, a time of day."""


@dataclass(frozen=True, kw_only=True)
class Commanded:
    """One command."""

    action: Action
    """Empty: nothing was asked for, so its use is explained."""
    argument: str = ""
    """An id or a time zone."""
    wish: Wish | None = None
    """What is to be set."""


def parsed(text: str, *, zone: str) -> Commanded:
    """The meaning of ``text``, the words after ``/remind``; ``zone``: the person's.

    A time that cannot be read is a wish all the same: ``planned`` says what is wrong with it.
    """
    word, _, rest = text.strip().partition(" ")
    action = _ACTIONS.get(word.lower())
    if action:
        return Commanded(action=action, argument=rest.strip())
    if not word:
        return Commanded(action="")
    kind: Literal["text", "prompt"] = "text"
    if word.lower() in _ASKS:
        kind, text = "prompt", rest
    found = _WHEN.match(text.strip())
    when, rule, said = "", "", ""
    if found and found[0].strip():
        rule, when = found["cron"] or found["word"] or "", " ".join((found["when"] or "").split())
        said = text.strip()[found.end() :].strip()
        if found["word"] and not when and _LIKE_TIME.match(said):
            # Otherwise it would begin now, with the time as its text.
            first, _, said = said.partition(" ")
            rule, when = "", f"{found[0]}{first}"
    else:
        when, _, said = text.strip().partition(" ")
    return Commanded(action="set", wish=Wish(text=said, when=when, kind=kind, rule=rule, zone=zone))
