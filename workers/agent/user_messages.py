"""Messages of users as shown to a model: the quoted message, attached files, and names in groups. Pure."""

import re
from collections.abc import Sequence
from typing import Any

from daemon.events import Attachment, Inbound, LogEntry, Quote, Reminding
from daemon.printable import INVISIBLE
from workers.message_format import Content, merged, message, taken_apart, text_part

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
    r"(?=Retry: |In reply to |Reminder |(?:image|document|audio|video|voice)(?: message)?[]:,])"
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
