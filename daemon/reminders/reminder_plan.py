"""From a person's wish to a reminder, and from one occurrence to the next. Pure."""

import datetime as dt
import re
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec

from daemon.clock import stamp
from daemon.events import ChatKind, Inbound
from daemon.printable import one_line
from daemon.reminders.phrase_days import Phrase
from daemon.reminders.recurrence import (
    Moment,
    first_of,
    is_repetition,
    moment_from,
    occurrences,
    on_clock,
    phrase_of,
    repetition_in,
    rule_from,
    shown,
    skips_months,
    skips_years,
    zone_of,
)
from daemon.reminders.reminder import Kind, Reminder, ReminderRefused
from daemon.wording import Language
from daemon.wording import text as say

TEXT_MAX_CHARS = 4_000
"""Longest text of a reminder: of a message, not of a book."""

SHOWN_CHARS = 120
"""Of a text in a list."""

COUNT_MAX = 10_000
"""Most occurrences that a repetition can be limited to; one without a limit has no count."""

LATE_S = 60.0
"""From how much on a reminder says that it is late: everybody's clock shows another minute."""


class ReminderRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A reminder as it was asked for."""

    text: str
    when: str
    """See ``recurrence.moment_from``; for a rule, its first possible time, or empty: from now on. It may name
    a rule itself."""
    kind: Kind = "text"
    rule: str = ""
    """See ``recurrence.rule_from``; empty: once, unless ``when`` names one."""
    until: str = ""
    """The last possible time, as ``when``; empty: no end."""
    count: int = 0
    """How often; 0: no limit."""
    zone: str
    """IANA name."""


class ReminderPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The chat in which a reminder fires, and the person whose it is."""

    bot: str
    channel: str
    chat: str
    thread: str = ""
    chat_kind: ChatKind
    delivery: str
    sender_id: str
    sender_name: str = ""
    scope: str


def place_of(inbound: Inbound, scope: str) -> ReminderPlace:
    """The chat in which ``inbound`` was said."""
    return ReminderPlace(
        bot=inbound.bot,
        channel=inbound.channel,
        chat=inbound.chat,
        thread=inbound.thread,
        chat_kind=inbound.chat_kind,
        delivery=inbound.delivery,
        sender_id=inbound.sender_id,
        sender_name=inbound.sender_name,
        scope=scope,
    )


def planned(wish: ReminderRequest, place: ReminderPlace, *, reminder_id: str, now: dt.datetime) -> Reminder:
    """The reminder that ``wish`` comes to.

    Raises:
        ReminderRefused: it cannot be kept; the text says what to say instead.
    """
    zone = zone_of(wish.zone)
    if not 0 <= wish.count <= COUNT_MAX:
        raise ReminderRefused("remind_count", most=COUNT_MAX)
    asked = wish.rule or repetition_in(wish.when)
    if not asked and (wish.count > 1 or wish.until):
        raise ReminderRefused("remind_once")
    if not asked:
        first, until, left, rule = moment_from(wish.when, zone, now=now), None, 0, ""
    else:
        parsed = rule_from(asked)
        rule, left = parsed.text, wish.count or parsed.count
        has_start = wish.when and not is_repetition(wish.when)
        # Without a start, the rule counts from now: "every two hours" begins in two hours.
        start = moment_from(wish.when, zone, now=now) if has_start else _whole_minute(now, zone)
        first = first_of(parsed, start, zone)
        if first.utc <= now:
            first = next(occurrences(rule, first, zone), first)
        end = parsed.until
        until = moment_from(wish.until, zone, now=now, takes_days=True).utc if wish.until else None
        if until is None and end is not None:
            until = end.astimezone(dt.UTC) if end.tzinfo else on_clock(end, zone).utc
        if first.utc <= now or (until is not None and until < first.utc):
            raise ReminderRefused("remind_never")
    return Reminder(
        id=reminder_id,
        kind=wish.kind,
        text=checked_text(wish.text),
        due=stamp(first.utc),
        local=first.local.isoformat(),
        zone=zone.key,
        rule=rule,
        until=stamp(until) if until else "",
        left=left,
        made_at=stamp(now),
        **{name: getattr(place, name) for name in ReminderPlace.__struct_fields__},
    )


def checked_text(text: str) -> str:
    """``text`` without the spaces around it.

    Raises:
        ReminderRefused: it is empty or too long.
    """
    text = text.strip()
    if not text:
        raise ReminderRefused("remind_empty")
    if len(text) > TEXT_MAX_CHARS:
        raise ReminderRefused("remind_long", count=len(text), most=TEXT_MAX_CHARS)
    return text


def _whole_minute(now: dt.datetime, zone: ZoneInfo) -> Moment:
    return on_clock(now.astimezone(zone).replace(second=0, microsecond=0, tzinfo=None), zone)


def following(reminder: Reminder, *, now: dt.datetime) -> Reminder | None:
    """The reminder after the occurrence that fires ``now``; None: it was the last one.

    Occurrences that passed meanwhile, during an outage, are not made up for: the one that fires stands for them.
    """
    if not reminder.rule:
        return None
    zone, left = zone_of(reminder.zone), reminder.left
    at = Moment(local=dt.datetime.fromisoformat(reminder.local), utc=dt.datetime.fromisoformat(reminder.due))
    for moment in occurrences(reminder.rule, at, zone):
        if left == 1 or (reminder.until and moment.utc > dt.datetime.fromisoformat(reminder.until)):
            return None
        left = max(0, left - 1)
        if moment.utc > now:
            return msgspec.structs.replace(
                reminder, due=stamp(moment.utc), local=moment.local.isoformat(), left=left, held=""
            )
    return None


def resumed(reminder: Reminder, now: dt.datetime) -> Reminder | None:
    """The reminder when it is no longer paused; None: its time has passed meanwhile, for good."""
    active = msgspec.structs.replace(reminder, paused=False, held="")
    if dt.datetime.fromisoformat(reminder.due) > now:
        return active
    return following(active, now=now)


def is_late(due: str, now: dt.datetime) -> bool:
    """Whether an occurrence that was ``due`` is late ``now``."""
    return (now - dt.datetime.fromisoformat(due)).total_seconds() >= LATE_S


def shown_time(due: str, zone: str) -> str:
    """A stored time for people."""
    return shown(dt.datetime.fromisoformat(due), zone_of(zone))


_HOURS = re.compile(r"(\d|1\d|2[0-3])\s*(?:h|heures?)", re.IGNORECASE)
"""Hours from now, which in French and German can be a time of day as well."""


def confirmed(reminder: Reminder, language: Language, *, when: str = "") -> str:
    """What was understood, and what is unusual about it; ``when``: the words that were read."""
    zone, local = zone_of(reminder.zone), dt.datetime.fromisoformat(reminder.local)
    moment = on_clock(local, zone)
    time = shown_time(reminder.due, reminder.zone)
    lines = [say("remind_set", language, id=reminder.id, time=time, rule=_repeats(reminder, language))]
    if moment.clock and stamp(moment.utc) == reminder.due:
        lines.append(say(f"remind_{moment.clock}", language, local=f"{local:%Y-%m-%d %H:%M}", time=time))
    if hours := _HOURS.fullmatch(when.strip()):
        lines.append(say("remind_hours", language, text=hours[0], hours=hours[1]))
    if reminder.rule and skips_months(reminder.rule, local):
        lines.append(say("remind_months", language))
    if reminder.rule and skips_years(reminder.rule, local):
        lines.append(say("remind_years", language))
    return "\n".join(lines)


def listed(reminder: Reminder, language: Language) -> str:
    """One line of a list."""
    parts = [
        f"{reminder.id}: {shown_time(reminder.due, reminder.zone)}{_repeats(reminder, language)}",
        *([say("remind_prompt", language)] if reminder.kind == "prompt" else []),
        *([say("remind_paused", language)] if reminder.paused else []),
        *([say(f"remind_held_{reminder.held}", language)] if reminder.held else []),
    ]
    text = one_line(reminder.text)
    return ", ".join(parts) + f"\n   {text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + '…'}"


def _repeats(reminder: Reminder, language: Language) -> str:
    if not reminder.rule:
        return ""
    end = say("remind_until", language, time=shown_time(reminder.until, reminder.zone)) if reminder.until else ""
    count = say("remind_left", language, count=reminder.left) if reminder.left else ""
    return say("remind_repeats", language, rule=reminder.rule) + end + count


# What a person writes after ``/remind``. Pure.

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

_CRON = re.compile(r"cron(?:\s+\S+){5}\s*", re.IGNORECASE)
_ME = re.compile(r"me\s+(?=\S)", re.IGNORECASE)
_MORE = re.compile(r"(?:[和及、,，]|(?:and|und|et)\s)\s*", re.IGNORECASE)
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)(?=\s)", re.IGNORECASE)
"""A time of ISO 8601 with a difference from UTC, which no phrase has."""
_LIKE_TIME = re.compile(
    r"\d|[一二三四五六日天](?![^\s\d])|\S{1,3}\d{1,2}[点时:：]"
    r"|.*\b(?:\d{1,2}[:：]\d\d|(?:at|à|um|vers|gegen) ?\d{1,2}(?:h|\b))"
)
"""How words begin that are meant as a part of the time: the 31st of a month, a day of the week, a time of day."""


class RemindCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One command."""

    action: Action
    """Empty: nothing was asked for, so its use is explained."""
    argument: str = ""
    """An id or a time zone."""
    wish: ReminderRequest | None = None
    """What is to be set."""


def parsed(text: str, *, zone: str) -> RemindCommand:
    """The meaning of ``text``, the words after ``/remind``; ``zone``: the person's.

    A time that cannot be read is a wish all the same: ``planned`` says what is wrong with it.
    """
    word, _, rest = text.strip().partition(" ")
    action = _ACTIONS.get(word.lower())
    if action:
        return RemindCommand(action=action, argument=rest.strip())
    if not word:
        return RemindCommand(action="")
    kind: Literal["text", "prompt"] = "text"
    if word.lower() in _ASKS:
        kind, text = "prompt", rest
    text = _ME.sub("", text.strip(), count=1) if _ME.match(text.strip()) else text.strip()
    rule = ""
    if cron := _CRON.match(text):
        rule, text = " ".join(cron[0].split()), text[cron.end() :]
    phrase = phrase_of(text)
    if iso := _ISO.match(text):
        phrase = Phrase(end=iso.end())
    when, said = text[: phrase.end], text[phrase.end :].strip()
    if not when and not rule:
        when, _, said = text.partition(" ")
        if phrase_of(when).end == len(when):  # a time of its own, but not with the words behind it
            when, said = text, ""
    elif (more := _MORE.match(said)) and (another := phrase_of(said[more.end() :])).time is not None:
        # One reminder has one time: 早上七点和晚上九点 is refused, and not read without its end.
        end = more.end() + another.end
        when, said = f"{when} {said[:end]}", said[end:].strip()
    elif when and (_belongs_to_time(phrase, when, said) or (is_repetition(when) and _LIKE_TIME.match(said))):
        # Refused, with the words behind the time: otherwise they would be its text.
        first, _, said = said.partition(" ")
        when = f"{when} {first}"
    return RemindCommand(action="set", wish=ReminderRequest(text=said, when=when, kind=kind, rule=rule, zone=zone))


def _belongs_to_time(phrase: Phrase, when: str, rest: str) -> bool:
    from daemon.reminders.time_remainder import belongs_to_time  # noqa: PLC0415 - see ``load_phrases``

    return belongs_to_time(phrase, when, rest)
