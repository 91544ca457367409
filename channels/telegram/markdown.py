"""Markdown as a text with entities, which every Bot API server and every client understands. Pure.

Entities are never inside of code and never overlap but by nesting, as the platform wants it.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

# Texts as Telegram counts them: in UTF-16 units, of which most emoji have two. Pure.

_UNIT_BYTES = 2


def length(text: str) -> int:
    """How many units a text has."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // _UNIT_BYTES


class Utf16Text:
    """A text that is cut and changed by positions in units; those outside of it are taken for its ends."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode("utf-16-le", "surrogatepass")

    def cut(self, begin: int, end: int) -> str:
        """The part from unit ``begin`` to ``end``; half a character becomes a replacement character."""
        first, last = _within(begin, self._bytes), _within(end, self._bytes)
        return self._bytes[first:last].decode("utf-16-le", "replace")

    def changed(self, changes: list[tuple[int, int, str]]) -> str:
        """The text with parts, each from one unit to another, replaced; what lies inside of an earlier one is not."""
        pieces: list[str] = []
        at = 0
        for begin, end, instead in sorted(changes):
            if begin >= at:
                pieces += (self.cut(at, begin), instead)
                at = max(begin, end)
        return "".join((*pieces, self.cut(at, len(self._bytes))))


def _within(unit: int, text: bytes) -> int:
    return min(max(unit, 0) * _UNIT_BYTES, len(text))


ENTITIES_MAX = 100
"""Entities that the platform takes in one message; those behind are not shown."""

CODE = frozenset({"code", "pre"})
"""What takes no other entity into itself."""

MARKS = {"strong": "bold", "em": "italic", "s": "strikethrough"}
LINKS = ("http://", "https://", "mailto:", "tel:")
"""Addresses that can be linked to. A ``tg:`` address acts within Telegram at a touch, so it is shown as text."""

BULLETS = ("•", "◦", "▪")
"""Of lists, by depth."""

RULE = "———"
QUIET = frozenset({"paragraph_open", "paragraph_close", "text", "softbreak", "inline"})
"""Tokens of a text that is no Markdown at all."""


NESTING_MAX = 100
"""Levels of blocks within blocks that are read; many more than are shown by any platform."""


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables and strike-through, and without HTML: a tag is text, which begins no block."""
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING_MAX}).enable(["table", "strikethrough"])
    # An address is shown as it was written: decoded, a name in Punycode may look like another one.
    made.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return made


def is_whole(tokens: list[Token]) -> bool:
    """Whether all of the text is in its tokens: what is nested too deep the parser leaves out."""
    return all(token.level < NESTING_MAX - 1 for token in tokens)


def is_plain(tokens: list[Token]) -> bool:
    """Whether a text has no markup in it, so that it can be sent as it is."""
    return all(token.type in QUIET and all(child.type in QUIET for child in token.children or ()) for token in tokens)


class _Style(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of characters has; two links beside each other are two styles."""

    type: str
    extra: tuple[tuple[str, str], ...] = ()
    number: int = 0


@dataclass
class _Writer:
    """Text that is written piece by piece, and what each piece is."""

    runs: list[tuple[str, tuple[_Style, ...]]] = field(default_factory=list[tuple[str, tuple[_Style, ...]]])
    open: list[_Style] = field(default_factory=list[_Style])
    _count: int = 0

    def begin(self, kind: str, **extra: str) -> None:
        self._count += 1
        self.open.append(_Style(type=kind, extra=tuple(extra.items()), number=self._count))

    def end(self) -> None:
        self.open.pop()

    def write(self, text: str) -> None:
        if text:
            self.runs.append((text, tuple(self.open)))

    def write_code(self, text: str, kind: str, **extra: str) -> None:
        """Write what takes no other style than its own."""
        self._count += 1
        if text:
            self.runs.append((text, (_Style(type=kind, extra=tuple(extra.items()), number=self._count),)))

    @property
    def ending(self) -> str:
        return self.runs[-1][0][-1] if self.runs else "\n"


def entities_of(tokens: list[Token]) -> tuple[str, list[dict[str, Any]]]:
    """The text that is shown, and its entities."""
    writer = _Writer()
    _Blocks(writer).write(tokens)
    return _assembled(writer.runs)


def _assembled(runs: list[tuple[str, tuple[_Style, ...]]]) -> tuple[str, list[dict[str, Any]]]:
    whole = "".join(text for text, _ in runs)
    # The platform cuts blanks off at both ends, and would count from another beginning then.
    first = len(whole) - len(whole.lstrip())
    last = len(whole.rstrip())
    at = unit = 0
    spans: list[tuple[int, int, _Style]] = []
    under_way: dict[_Style, int] = {}
    for text, styles in runs:
        shown = text[max(first - at, 0) : max(last - at, 0)]
        at += len(text)
        for style in [style for style in under_way if style not in styles]:
            spans.append((under_way.pop(style), unit, style))
        for style in styles:
            under_way.setdefault(style, unit)
        unit += length(shown)
    spans += [(begin, unit, style) for style, begin in under_way.items()]
    spans.sort(key=lambda span: (span[0], -span[1], span[2].number))
    entities: list[dict[str, Any]] = [
        {"type": style.type, "offset": begin, "length": end - begin, **dict(style.extra)}
        for begin, end, style in spans
        if end > begin and style.type
    ]
    return whole[first:last], entities[:ENTITIES_MAX]


@dataclass
class _Blocks:
    """Writes blocks, with a blank line between them, or none inside a list."""

    writer: _Writer
    _lists: list[int | None] = field(default_factory=list[int | None])
    """Of each list that is open: the number of its next item, or None when it has bullets."""
    _tight: bool = False
    _quotes: int = 0
    _item_begun: bool = False

    def write(self, tokens: list[Token]) -> None:
        place = 0
        while place < len(tokens):
            token = tokens[place]
            if token.type == "table_open":
                end = next(at for at in range(place, len(tokens)) if tokens[at].type == "table_close")
                self._gap()
                self.writer.write_code(_table(tokens[place : end + 1]), "pre")
                place = end
            else:
                self._block(token)
            place += 1

    def _block(self, token: Token) -> None:  # noqa: PLR0912 - one branch for each kind of block
        match token.type:
            case "inline":
                self._inline(token.children or [])
            case "paragraph_open":
                self._gap(tight=token.hidden)
            case "heading_open":
                self._gap()
                self.writer.begin("bold")
            case "heading_close":
                self.writer.end()
            case "bullet_list_open" | "ordered_list_open":
                if not self._lists:
                    self._gap()
                start = int(token.attrs.get("start", 1)) if token.type.startswith("ordered") else None
                self._lists.append(start)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._item()
            case "list_item_close":
                self._item_begun = False
            case "blockquote_open":
                self._gap()
                self._quotes += 1
                if self._quotes == 1:  # they cannot be nested
                    self.writer.begin("blockquote")
                self._item_begun = True
            case "blockquote_close":
                self._quotes -= 1
                if not self._quotes:
                    self.writer.end()
            case "fence" | "code_block":
                self._gap()
                language = token.info.strip().split(" ")[0]
                extra = {"language": language} if language else {}
                self.writer.write_code(token.content.removesuffix("\n"), "pre", **extra)
            case "hr":
                self._gap()
                self.writer.write(RULE)
            case _:
                pass

    def _gap(self, *, tight: bool = False) -> None:
        """Part what comes from what was: what begins an item or a quote stands right behind its sign."""
        if self._item_begun:
            self._item_begun = False
        elif self.writer.runs:
            self.writer.write("\n" if tight or self._lists else "\n\n")

    def _item(self) -> None:
        if self.writer.ending != "\n":
            self.writer.write("\n")
        depth = len(self._lists)
        number = self._lists[-1]
        sign = BULLETS[min(depth, len(BULLETS)) - 1] if number is None else f"{number}."
        if number is not None:
            self._lists[-1] = number + 1
        self.writer.write(f"{'  ' * (depth - 1)}{sign} ")
        self._item_begun = True

    def _inline(self, children: list[Token]) -> None:
        for token in children:
            match token.type:
                case "softbreak" | "hardbreak":
                    self.writer.write("\n")
                case "code_inline":
                    self.writer.write_code(token.content, "code")
                case "link_open":
                    address = str(token.attrs.get("href", ""))
                    # What cannot be linked to is a style that has no entity.
                    self.writer.begin("text_link" if address.startswith(LINKS) else "", url=address)
                case "image":
                    self._image(str(token.attrs.get("src", "")), token.content)
                case kind if kind.endswith("_open"):
                    self.writer.begin(MARKS.get(kind.removesuffix("_open"), "italic"))
                case kind if kind.endswith("_close"):
                    self.writer.end()
                case _:
                    self.writer.write(token.content)

    def _image(self, address: str, words: str) -> None:
        self.writer.begin("text_link" if address.startswith(LINKS) else "", url=address)
        self.writer.write(words or address)
        self.writer.end()


def _table(tokens: list[Token]) -> str:
    """A table in columns of one width each, as far as a font of one width goes."""
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append("".join(_words(token.children or [])))
    columns = max(map(len, rows))
    widths = [max(_width(row[at]) for row in rows if at < len(row)) for at in range(columns)]
    lines = [
        " | ".join(_padded(cell, width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows
    ]
    return "\n".join([lines[0], "-+-".join("-" * width for width in widths), *lines[1:]])


def _words(children: list[Token]) -> Iterator[str]:
    for token in children:
        yield " " if token.type in ("softbreak", "hardbreak") else token.content


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
