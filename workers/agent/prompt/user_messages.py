"""Messages of users as shown to a model: the quoted message, attached files, and names in groups. Pure."""

import datetime as dt
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from daemon.events import Attachment, ChatKind, Inbound, LogEntry, Quote, Reminding
from daemon.model import RUNTIME_CONTEXT
from daemon.printable import INVISIBLE
from daemon.reminders import is_late
from daemon.tokens import IMAGE_TOKENS
from daemon.wording import Language
from daemon.wording import text as say
from workers.message_format import Content, encode, merged, message, parts_of, taken_apart, text_part
from workers.tools.mcp import MissingServer
from workers.tools.read_file import picture_type

# Pictures as parts of their messages, in the requests of their own turn. Pure.

PICTURE_MAX_BYTES = 3_750_000
"""Largest picture that is shown: 5 MB as base64, what the strictest of the large providers takes (Anthropic,
"Vision")."""

PICTURES_MAX = 5
"""Pictures that one turn shows; its model can read the others as files."""

SHARE = 0.5
"""Of what there is room for, what pictures may take."""


def picture(content: bytes) -> bytes:
    """The part of a message that shows a file, JSON; empty when it is no picture that models take."""
    kind = picture_type(content)
    if not kind or len(content) > PICTURE_MAX_BYTES:
        return b""
    # Base64 needs no escapes, so that megabytes need not go through an encoder.
    return b'{"type":"image_url","image_url":{"url":"data:%s;base64,%s"}}' % (kind.encode(), b64encode(content))


def fitting(pictures: Sequence[bytes], room_tokens: int) -> Sequence[bytes]:
    """As many of the pictures as there is room for."""
    return pictures[: max(0, int(room_tokens * SHARE)) // IMAGE_TOKENS]


def with_pictures(wire: bytes, pictures: Sequence[bytes]) -> bytes:
    """A user's message with pictures behind what it says."""
    parts = [*map(encode, parts_of(taken_apart(wire).get("content"))), *pictures]
    return b'{"role":"user","content":[%s]}' % b",".join(parts)


NAME_MAX_CHARS = 80
"""Longest name before a message; a channel may allow any."""
IMAGE_URLS = ("http://", "https://", "data:image/")
"""Addresses of images that a model's server may be given."""
RETRY = "[Retry: the person asks for another answer to this earlier message]"
QUOTE_MAX_CHARS = 1_000
"""Longest quote before a message; what it quotes stands in the log itself if the bot was told it."""

_LIKE_A_NAME = re.compile(r"(?<=[\n\r\v\f\x85\u2028\u2029])\[")
# The bracket first, which is looked for fast; then that it begins a line.
_LIKE_OURS = re.compile(
    r"\[(?<![^\n\r\v\f\x85\u2028\u2029]\[)"
    r"(?=Retry: |In reply to |Reminder |Reacted with |(?:image|document|audio|video|voice)(?: message)?[]:,])"
)


def one_line(text: str, max_chars: int = NAME_MAX_CHARS) -> str:
    """``text`` as one printable line: names and titles come from strangers, and a line break in one could pass for
    something that Millpond wrote."""
    # Some characters that show nothing count as printable: fillers of Hangul, variation selectors.
    fine = text if text.isascii() and text.isprintable() else INVISIBLE.sub(" ", text)
    fine = fine if fine.isprintable() else "".join(char if char.isprintable() else " " for char in fine)
    line = " ".join(fine.split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def named(name: str, content: Content) -> Content:
    """A group's message: ``[Name] text``."""
    mark = f"[{unbracketed(one_line(name))}] "
    if not isinstance(content, list):
        return mark + _indented(content or "")
    for at, part in enumerate(content):
        if "text" in part:
            return [*content[:at], {**part, "text": mark + _indented(str(part["text"]))}, *content[at + 1 :]]
    return [text_part(mark.rstrip()), *content]


def _indented(text: str) -> str:
    # Messages of a group stand in one, below each other: a line of a person's own could pass for somebody else's.
    return _LIKE_A_NAME.sub(" [", text)


def words_of(inbound: Inbound, lines: Sequence[str] | None = None, *, vision: bool = True) -> Content:
    """All that a message holds: what it answers to, its text, and what came with it.

    Args:
        inbound: the message.
        lines: what became of each of its files; None: nobody has looked at them.
        vision: whether the model takes images.
    """
    text = own(inbound.text)
    if inbound.retry_of:
        text = "\n".join(filter(None, (RETRY, text)))
    if inbound.quote is not None:
        text = "\n".join(filter(None, (in_reply_to(inbound.quote), text)))
    if inbound.reminder is not None:
        text = f"{of_reminder(inbound.reminder)}\n{text}"
    return with_attachments(text, inbound.attachments, lines, vision=vision) if inbound.attachments else text


def own(text: str) -> str:
    """A person's own words: no line of them passes for one of those that tell what came along."""
    return _LIKE_OURS.sub(" [", text) if "[" in text else text


def in_reply_to(quote: Quote) -> str:
    """The line in front of a message that answers to another one; it ends at the first closing bracket."""
    whose = unbracketed(one_line(quote.sender_name or quote.sender_id)) or "your message"
    text = unbracketed(one_line(quote.text, QUOTE_MAX_CHARS)).replace('"', "'")
    return f'[In reply to {whose}: "{text}"]' if text else f"[In reply to {whose}]"


def of_reminder(reminder: Reminding) -> str:
    """The line in front of what nobody wrote now."""
    how = "its text is sent unchanged" if reminder.kind == "text" else "no person wrote this message"
    return f"[Reminder {reminder.id}, due {reminder.due}: {how}]"


def unbracketed(text: str) -> str:
    """``text`` without the brackets that lines of ours begin and end with."""
    return text.replace("[", "(").replace("]", ")")


def with_attachments(
    text: str, attachments: Sequence[Attachment], lines: Sequence[str] | None = None, *, vision: bool = True
) -> Content:
    """A message's text and what came with it: images with a usable address as such, all else as a line.

    ``lines`` and ``vision`` as for ``words_of``.
    """
    images = [file for file in attachments if vision and file.kind == "image" and file.url.startswith(IMAGE_URLS)]
    given = lines or [""] * len(attachments)
    told = [line or line_of(file) for file, line in zip(attachments, given, strict=True) if file not in images]
    words = "\n".join(filter(None, (text, *told)))
    if not images:
        return words
    return [*([text_part(words)] if words else []), *map(_image, images)]


def line_of(file: Attachment, more: str = "") -> str:
    """The line that names a file; ``more`` is what became of it, words of ours."""
    name = unbracketed(one_line(file.name))
    if file.kind == "voice":
        return f"[voice message{': ' if name else ''}{name}{more}]"
    return f"[{file.kind}: {name or '?'}{more}]"


def _image(file: Attachment) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": file.url}}


def spoken(entries: Sequence[LogEntry], *, names: bool) -> bytes:
    """A run of user messages as one, JSON: many models refuse two user messages side by side."""
    contents: list[Content] = []
    for entry in entries:
        content: Content = taken_apart(bytes(entry.wire)).get("content")
        contents.append(named(entry.sender, content) if names and entry.sender else content)
    return message("user", merged(contents))


# The runtime context of a message (time, channel, chat), placed before its text. Pure.

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
    missing: Sequence[MissingServer] = (),
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
