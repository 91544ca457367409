"""The runtime context of a message (time, channel, chat), placed before its text. Pure."""

import datetime as dt
import re
from collections.abc import Sequence
from functools import lru_cache
from zoneinfo import ZoneInfo

from daemon.events import ChatKind, Inbound, Reminding
from daemon.model import RUNTIME_CONTEXT
from daemon.reminders import is_late
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.user_messages import one_line
from workers.tools.mcp import Missing

MOMENTS_MAX = 64
"""Minutes, each in the time zones and languages of the bots, that are remembered: most turns come in the same one."""

_BLANK_LINES = re.compile(r"\n\s*\n")


def runtime_context(
    said: Sequence[Inbound],
    now: dt.datetime,
    *,
    time_zone: str,
    language: Language,
    beside: Sequence[str] = (),
    missing: Sequence[Missing] = (),
) -> str:
    """The block in front of what was said, without the blank line that ends it.

    Args:
        said: the messages that the turn answers, one at least.
        now: when the turn is done.
        time_zone: the bot's.
        language: the bot's.
        missing: tool servers that the turn goes without.
        beside: what stands behind it instead of in the system message; blank lines in it would end the block.
    """
    last = said[-1]
    chat = one_line(f"{last.chat}:{last.thread}" if last.thread else last.chat)
    lines = say(
        "runtime",
        language,
        time=moment(now, time_zone, language),
        channel=last.channel,
        chat=f"{chat} ({say(_kind(last.chat_kind), language)})",
        sender=", ".join(dict.fromkeys(map(_sender, said))),
    )
    reminder = [_reminder(last.reminder, now, language)] if last.reminder else []
    unavailable = (say(f"server_{each.why}", language, server=one_line(each.server)) for each in missing)
    more = (_BLANK_LINES.sub("\n", each.strip()) for each in beside)
    return "\n".join(filter(None, (RUNTIME_CONTEXT, lines, *reminder, *unavailable, *more)))


def _reminder(reminder: Reminding, now: dt.datetime, language: Language) -> str:
    due = dt.datetime.fromisoformat(reminder.due)
    text = say("runtime_reminder", language, id=reminder.id, time=moment(due, reminder.zone, language))
    return f"{text} {say('runtime_reminder_late', language)}" if is_late(reminder.due, now) else text


def moment(now: dt.datetime, time_zone: str, language: Language) -> str:
    """A time with its day of the week and its time zone."""
    return _minute(now.replace(second=0, microsecond=0), time_zone, language)


@lru_cache(MOMENTS_MAX)
def _minute(now: dt.datetime, time_zone: str, language: Language) -> str:
    local = now.astimezone(dt.UTC if time_zone == "UTC" else ZoneInfo(time_zone))
    day = say("weekdays", language).split(",")[local.weekday()]
    offset = "" if time_zone == "UTC" else f", UTC{local:%z}"
    return f"{local:%Y-%m-%d %H:%M} {day} ({time_zone}{offset})"


def _kind(kind: ChatKind) -> str:
    return "chat_group" if kind == "group" else "chat_direct"


def _sender(inbound: Inbound) -> str:
    name, own = one_line(inbound.sender_name), one_line(inbound.sender_id)
    return f"{name} ({own})" if name and name != own else own
