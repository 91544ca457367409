"""What a message says: its text, and the files that come with it. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from channels.feishu.api_types import Mention
from channels.feishu.files import source_of
from channels.media import file_kind
from channels.name_directory import name_in
from channels.shapes import objects_in
from channels.text.text_split import sound
from daemon.errors import UNREADABLE
from daemon.events import Attachment

NAME_MAX_CHARS = 200

_MENTION = re.compile(r"@_(?:user_\d+|all)")
_CALLED = re.compile(r"\A\s*\0[^\0]*\0[ \t\u00a0,:，：]*")
"""The mention of the bot at the beginning; each mention of the bot stands between two NULs at first."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class MessageContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a message says."""

    text: str
    attachments: tuple[Attachment, ...] = ()


def said_in(kind: str, content: str, mentions: Sequence[Mention], *, message_id: str, me: str = "") -> MessageContent:
    """What a message of the type ``kind`` says; ``me``: whose mention at the beginning is left out, by ``open_id``."""
    try:
        found = _decode(content.encode("utf-8", "replace"))
    except UNREADABLE:
        found = {}
    names = {each.key: _named(each, me) for each in mentions if each.key}
    if kind == "text":
        return MessageContent(text=_without_call(sound(_with_names(_text(found, "text"), names))))
    if kind in ("post", "interactive"):
        files: list[Attachment] = []
        post = _in_a_language(found)
        rows = post.get("content", post.get("elements"))
        lines = [sound(_text(post, "title")), *_lines(rows, names, message_id, files)]
        text = _without_call("\n".join(filter(None, lines)).strip())
        return MessageContent(text=text, attachments=tuple(files))
    attachment = _attachment(kind, found, message_id)
    if attachment is not None:
        return MessageContent(text="", attachments=(attachment,))
    return MessageContent(text=_instead(kind, found))


def _named(mention: Mention, me: str) -> str:
    is_me = bool(me) and mention.open_id == me
    name = f"@{name_in(mention.name) or ('bot' if is_me else mention.open_id)}"
    return f"\0{name}\0" if is_me else name


def _with_names(text: str, names: Mapping[str, str]) -> str:
    return _MENTION.sub(lambda found: names.get(found[0], "@all" if found[0] == "@_all" else found[0]), text)


def _without_call(text: str) -> str:
    """``text`` without the mention of the bot that it begins with."""
    return _CALLED.sub("", text).replace("\0", "")


def _in_a_language(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """A rich text or a card; one that is sent has a language around it, of several the first with content serves."""
    inner = () if "content" in found or "elements" in found else objects_in(list(found.values()))
    return next((each for each in inner if each.get("content") or each.get("elements")), inner[0] if inner else found)


def _lines(content: Any, names: Mapping[str, str], message_id: str, files: list[Attachment]) -> Iterator[str]:
    for line in _list(content):
        elements = objects_in(line if isinstance(line, list) else [line])
        yield "".join(_element(each, names, message_id, files) for each in elements)


def _element(found: Mapping[str, Any], names: Mapping[str, str], message_id: str, files: list[Attachment]) -> str:
    tag, text = _text(found, "tag"), sound(_text(found, "text"))
    if tag == "at":
        who = _text(found, "user_id")
        return names.get(who) or f"@{name_in(_text(found, 'user_name')) or ('all' if who == '@_all' else who)}"
    if tag == "a":
        href = sound(_text(found, "href"))
        return f"[{text}]({href})" if text and text != href else href
    if tag == "code_block":
        return f"```{_text(found, 'language').lower()}\n{text}\n```"
    if tag in ("hr", "emotion"):
        return "---" if tag == "hr" else f":{sound(_text(found, 'emoji_type'))}:"
    kind = {"img": "image", "media": "media"}.get(tag)
    if kind and (attachment := _attachment(kind, found, message_id)) is not None:
        files.append(attachment)
    return _with_names(text, names)


def _attachment(kind: str, found: Mapping[str, Any], message_id: str) -> Attachment | None:
    key = _text(found, "image_key" if kind == "image" else "file_key")
    if not key or kind not in ("image", "file", "audio", "media"):
        return None
    name = sound(_text(found, "file_name"))[-NAME_MAX_CHARS:]
    source = source_of(message_id, key, "image" if kind == "image" else "file")
    if kind == "image":
        return Attachment(kind="image", name=f"{key[-40:]}.jpg", source=source)
    if kind == "audio":
        return Attachment(kind="voice", name=name or f"{key[-40:]}.opus", source=source)
    if kind == "media":
        # Feishu does not tell a video that a person recorded from another one.
        return Attachment(kind="video", name=name or f"{key[-40:]}.mp4", source=source, spoken=True)
    return Attachment(kind=file_kind("", name), name=name or f"file-{key[-40:]}", source=source)


def _instead(kind: str, found: Mapping[str, Any]) -> str:
    """The line that stands for something that has no text."""
    if isinstance(found.get("summary"), dict):  # of a task
        return " ".join((f"[{sound(kind)[:64]}]", *_lines(found["summary"].get("content"), {}, "", [])))
    names = ("summary", "name", "topic", "text", "file_name")
    told = next((text for name in names if (text := _text(found, name).strip())), "")
    return f"[{sound(kind)[:64]}: {sound(told)[:NAME_MAX_CHARS]}]" if told else f"[unsupported: {sound(kind)[:64]}]"


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []  # pyright: ignore[reportUnknownVariableType] - whatever is said
