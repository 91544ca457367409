"""Rich Markdown as ``sendRichMessage`` reads it: what a person sees of it, and what is refused.

A lone line break is a space; what looks like markup vanishes from the text: marks, spoilers, formulas, tags. Who wants
to have such characters seen escapes them.
"""

import re
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

TEXT_MAX = 32_768
BLOCKS_MAX = 500
DEPTH_MAX = 16
COLUMNS_MAX = 20
MEDIA_MAX = 50

BLOCKS = {
    "paragraph_open", "heading_open", "list_item_open", "bullet_list_open", "ordered_list_open", "blockquote_open",
    "table_open", "tr_open", "fence", "code_block", "hr",
}  # fmt: skip
NESTED = re.compile(
    r"\$\$(?=\S)(.+?)(?<=\S)\$\$|\$(?=\S)([^$\n]+?)(?<=\S)\$(?!\d)|==(?=\S)(.+?)(?<=\S)==|\|\|(.+?)\|\|"
)
EMAIL = re.compile(r"[\w.+/-]+:[\w.+-]+@[\w-]+\.\w+")

# Characters that stand for themselves whatever they look like are moved here while marks are looked for.
ASIDE = 0xF0000

HTML = frozenset({"html_inline", "html_block"})


@dataclass(frozen=True)
class Rich:
    text: str  # as a person reads it, blocks a line each
    blocks: int
    kinds: tuple[str, ...]  # the types of its blocks, in order: ``heading``, ``table``, …
    tags: tuple[str, ...] = ()  # its HTML


class Unreadable(Exception):
    """It is refused; its text is the description."""


# Without a bound of its own, that what is too deep is refused and not left out.
_reader = (
    MarkdownIt("commonmark", {"html": True, "maxNesting": 1_000})
    .enable(["table", "strikethrough"])
    .disable("text_join")
)


def read(markdown: str, *, detect: bool = True) -> Rich:
    """What is seen of a rich message. Raises Unreadable: it is refused."""
    tokens = _reader.parse(markdown)
    _see_limits(tokens)
    lines = [line for token in tokens if (line := _line(token)) is not None]
    text = "\n".join(lines).strip()
    if not text:
        raise Unreadable("message text is empty")
    if len(text) > TEXT_MAX:
        raise Unreadable("RICH_MESSAGE_TEXT_TOO_LONG")
    if detect and any(token.type == "inline" and EMAIL.search(_spoken(token)) for token in tokens):
        raise Unreadable("RICH_MESSAGE_EMAIL_INVALID")
    kinds = tuple(token.type.removesuffix("_open") for token in tokens if token.type in BLOCKS)
    tags = [each.content for token in tokens for each in (token, *(token.children or ())) if each.type in HTML]
    return Rich(text=text, blocks=len(kinds), kinds=kinds, tags=tuple(tags))


def _see_limits(tokens: list[Token]) -> None:
    if sum(token.type in BLOCKS for token in tokens) > BLOCKS_MAX:
        raise Unreadable("RICH_MESSAGE_BLOCKS_TOO_MUCH")
    if max((token.level + _depth(token) for token in tokens), default=0) > DEPTH_MAX:
        raise Unreadable("RICH_MESSAGE_DEPTH_EXCEEDED")
    columns = 0
    for token in tokens:
        if token.type == "tr_open":
            columns = 0
        columns += token.type in {"th_open", "td_open"}
        if columns > COLUMNS_MAX:
            raise Unreadable("RICH_MESSAGE_TABLE_COLUMNS_TOO_MUCH")
    media = [child for token in tokens for child in token.children or () if child.type == "image"]
    if media:
        raise Unreadable("failed to get HTTP URL content" if len(media) <= MEDIA_MAX else "RICH_MESSAGE_MEDIA_TOO_MUCH")


def _depth(token: Token) -> int:
    return max((child.level for child in token.children or ()), default=0)


def _line(token: Token) -> str | None:
    if token.type == "inline":
        return _inline(token)
    if token.type in {"fence", "code_block"}:
        return token.content.rstrip("\n")
    if token.type == "hr":
        return "---"
    if token.type == "html_block":
        return re.sub(r"<[^>]*>", "", token.content).strip() or None
    return None


def _inline(token: Token) -> str:
    seen = "".join(_piece(child) for child in token.children or ())
    seen = NESTED.sub(lambda found: next(group for group in found.groups() if group is not None), seen)
    return _back(seen)


def _spoken(token: Token) -> str:
    return "".join(child.content for child in token.children or () if child.type in {"text", "text_special"})


def _piece(child: Token) -> str:
    special: dict[str, Any] = {"softbreak": " ", "hardbreak": "\n", "html_inline": ""}
    if child.type in special:
        return str(special[child.type])
    if child.type in {"code_inline", "text_special"}:
        return "".join(chr(ASIDE + ord(c)) if ord(c) < 0x10000 else c for c in child.content)
    return child.content if child.type == "text" else ""


def _back(text: str) -> str:
    return "".join(chr(ord(c) - ASIDE) if ASIDE <= ord(c) < ASIDE + 0x10000 else c for c in text)
