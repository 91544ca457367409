"""The forms that a text can be sent in, the best one first: the next one when the platform refuses one. Pure."""

import re
from dataclasses import dataclass
from typing import Any

from channels.link_spoofing import honest
from channels.telegram.markdown import entities_of, is_plain, is_whole, parser
from channels.telegram.rich_messages import fits, rich_of
from channels.telegram.utf16 import length

TEXT_MAX = 4_096
"""Units of a message, after its entities are parsed (Bot API, ``sendMessage``)."""

CAPTION_MAX = 1_024
"""Units of what stands below a file (Bot API, ``sendDocument``)."""

RICH_MAX_CHARS = 32_768
"""Of a rich message (Bot API 10.1)."""

EMPTY = "\u2026"
"""Stands for a text in which nothing can be seen: the platform takes no empty one."""

_ACTING = re.compile(r"(?:tg|ton|tonsite):(?=//)", re.IGNORECASE)
"""The beginning of an address that acts within Telegram. The platform links to such an address in any text, also within
a word, and here no parser has told what is code."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """One form of a text: the parameters that it is sent by."""

    fields: dict[str, Any]
    rich: bool = False


def forms_of(text: str) -> list[Form]:
    """The forms of a text that is to be a message of its own."""
    clean = _clean(text)
    plain = Form(fields={"text": clean if clean.strip() else EMPTY})
    tokens = parser().parse(clean)
    if is_plain(tokens) or not is_whole(tokens):
        return [plain]
    forms: list[Form] = []
    rich = rich_of(clean, tokens)
    if fits(tokens) and len(rich) <= RICH_MAX_CHARS:
        forms.append(Form(fields={"rich_message": {"markdown": rich}}, rich=True))
    shown, entities = entities_of(tokens)
    if shown and length(shown) <= TEXT_MAX:
        forms.append(Form(fields={"text": shown, "entities": entities} if entities else {"text": shown}))
    return [*forms, plain]


def captions_of(text: str) -> list[Form]:
    """The forms of a text below a file; empty when it is too long for that."""
    clean = _clean(text)
    if not clean.strip():
        return [Form(fields={})]
    forms: list[Form] = []
    tokens = parser().parse(clean)
    if is_whole(tokens) and not is_plain(tokens):
        shown, entities = entities_of(tokens)
        if shown and length(shown) <= CAPTION_MAX:
            fields = {"caption": shown, "caption_entities": entities} if entities else {"caption": shown}
            forms.append(Form(fields=fields))
    if length(clean) <= CAPTION_MAX:
        forms.append(Form(fields={"caption": clean}))
    return forms


def _clean(text: str) -> str:
    """``text`` as JSON and the platform take it: lines end in one way, half characters and NUL are replaced.

    Its links show their targets, and addresses that act within Telegram are no links.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _ACTING.sub("\\g<0>\u2060", honest(text))
