"""What people say, as a model is shown it: files that came along, names in groups, runs as one message. Pure."""

import re
from collections.abc import Sequence
from typing import Any

from daemon.events import Attachment, LogEntry
from workers.wires import Content, merged, message, taken_apart, text_part

NAME_MAX_CHARS = 80
"""Longest name before a message; a channel may allow any."""
IMAGE_URLS = ("http://", "https://", "data:image/")
"""Addresses of images that a model's server may be given."""

_LIKE_A_NAME = re.compile(r"(?<=[\n\r\v\f\x85\u2028\u2029])\[")


def one_line(text: str, max_chars: int = NAME_MAX_CHARS) -> str:
    """``text`` as one printable line: names and titles come from strangers, and a line break in one could pass for
    something that Millpond wrote."""
    printable = text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(printable.split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def named(name: str, content: Content) -> Content:
    """A group's message: ``[Name] text``."""
    mark = f"[{one_line(name).replace('[', '(').replace(']', ')')}] "
    if not isinstance(content, list):
        return mark + _indented(content or "")
    for at, part in enumerate(content):
        if "text" in part:
            return [*content[:at], {**part, "text": mark + _indented(str(part["text"]))}, *content[at + 1 :]]
    return [text_part(mark.rstrip()), *content]


def _indented(text: str) -> str:
    # Messages of a group stand in one, below each other: a line of a person's own could pass for somebody else's.
    return _LIKE_A_NAME.sub(" [", text)


def with_attachments(text: str, attachments: Sequence[Attachment]) -> Content:
    """A message's text and what came with it: images with a usable address as such, all else as a line."""
    images = [file for file in attachments if file.kind == "image" and file.url.startswith(IMAGE_URLS)]
    lines = [f"[{file.kind}: {one_line(file.name) or '?'}]" for file in attachments if file not in images]
    words = "\n".join(filter(None, (text, *lines)))
    if not images:
        return words
    return [*([text_part(words)] if words else []), *map(_image, images)]


def _image(file: Attachment) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": file.url}}


def spoken(entries: Sequence[LogEntry], *, names: bool) -> bytes:
    """A run of user messages as one, JSON: many models refuse two user messages side by side."""
    contents: list[Content] = []
    for entry in entries:
        content: Content = taken_apart(bytes(entry.wire)).get("content")
        contents.append(named(entry.sender, content) if names and entry.sender else content)
    return message("user", merged(contents))
