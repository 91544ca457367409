"""Text as Telegram counts it: lengths in UTF-16 code units, and what is marked in it."""

import re
from typing import Any

TEXT_MAX = 4_096
CAPTION_MAX = 1_024
ENTITIES_MAX = 100

NESTABLE = {"bold", "italic", "underline", "strikethrough", "spoiler", "blockquote", "expandable_blockquote"}
ALONE = {"code", "pre"}
KINDS = {
    *NESTABLE, *ALONE, "mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "text_link",
    "text_mention", "custom_emoji", "date_time",
}  # fmt: skip

FOUND = (
    ("bot_command", re.compile(r"(?<![\w/@])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w@])")),
    ("mention", re.compile(r"(?<![\w@])@[A-Za-z0-9_]{3,32}(?!\w)")),
    ("url", re.compile(r"https?://[^\s]+")),
)


def units(text: str) -> int:
    """The length in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def found_in(text: str) -> list[dict[str, Any]]:
    marked = [
        {"type": kind, "offset": units(text[: match.start()]), "length": units(match.group())}
        for kind, pattern in FOUND
        for match in pattern.finditer(text)
    ]
    return sorted(marked, key=lambda entity: (entity["offset"], entity["type"]))


def cut_out(text: str, offset: int, length: int) -> str:
    return text.encode("utf-16-le")[2 * offset : 2 * (offset + length)].decode("utf-16-le", "replace")


def wrong_with(text: str, entities: object) -> str:
    """What the documentation does not allow about ``entities``; empty: nothing."""
    if not isinstance(entities, list):
        return "can't parse entities: expected an Array"
    if len(entities) > ENTITIES_MAX:
        return "can't parse entities: too many of them"
    spans: list[tuple[int, int, str]] = []
    for entity in entities:
        reason = _wrong_alone(text, entity)
        if reason:
            return reason
        spans.append((entity["offset"], entity["offset"] + entity["length"], entity["type"]))
    return _wrong_together(sorted(spans, key=lambda span: (span[0], -span[1])))


def _wrong_alone(text: str, entity: object) -> str:
    if not isinstance(entity, dict):
        return "can't parse entities: expected an Object"
    kind, offset, length = (entity.get(name) for name in ("type", "offset", "length"))
    if kind not in KINDS:
        return f"can't parse entities: unsupported type {kind!r}"
    if kind == "text_link" and not re.match(r"(https?://|tg://|mailto:|ton://|tel:)\S+$", str(entity.get("url", ""))):
        return f"can't parse entities: wrong URL {entity.get('url')!r}"
    if not (isinstance(offset, int) and isinstance(length, int)) or offset < 0 or length <= 0:
        return "can't parse entities: bad offset or length"
    where = f"Entity beginning at UTF-16 offset {offset}"
    if offset + length > units(text):
        return f"{where} ends after the end of the text at UTF-16 offset {units(text)}"
    split = any(0xDC00 <= unit <= 0xDFFF for unit in _at(text, offset, offset + length))
    return f"{where} begins or ends in a middle of a UTF-16 symbol" if split else ""


def _at(text: str, *offsets: int) -> list[int]:
    raw = text.encode("utf-16-le")
    return [int.from_bytes(raw[2 * at : 2 * at + 2], "little") for at in offsets if 2 * at < len(raw)]


def _wrong_together(spans: list[tuple[int, int, str]]) -> str:
    for at, (_, end, kind) in enumerate(spans):
        for other_start, other_end, other in spans[at + 1 :]:
            if other_start >= end:
                break
            if other_end > end:
                return f"can't parse entities: {kind} and {other} overlap at UTF-16 offset {other_start}"
            if kind in ALONE or other in ALONE:
                return f"can't parse entities: {kind} and {other} can't be nested at UTF-16 offset {other_start}"
            if {kind, other} <= {"blockquote", "expandable_blockquote"}:
                return f"can't parse entities: block quotations can't be nested at UTF-16 offset {other_start}"
            if kind not in NESTABLE and other not in NESTABLE:
                return f"can't parse entities: {kind} and {other} can't be nested at UTF-16 offset {other_start}"
    return ""
