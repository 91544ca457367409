"""The forms that a text can be sent in, the best one first: the next one when the platform refuses one. Pure.

What a model writes is meant for GitHub's: there ``==`` marks nothing, ``<`` begins no tag that anybody should obey. A
formula is one only if it looks like one (``channels.text.formulas``), so that a dollar may be a price. Line breaks
count for people, and a picture from an address that a model made up is a link: the platform would fetch it.
"""

import re
from typing import Any

import msgspec
from markdown_it.token import Token

from channels.link_spoofing import honest
from channels.telegram.markdown import entities_of, is_plain, is_whole, length, parser
from channels.text.formulas import Formula, formulas, readable, replaced

# Markdown as the Bot API's rich messages read it: like GitHub's, with signs of its own that are taken away here. Pure.

COLUMNS_MAX = 20
"""Of a table (Bot API, rich messages)."""

BLOCKS_MAX = 400
"""Blocks of a message; the platform takes 500, and may count what is inside of others more than once."""

_ADDRESS = r"<(?:https?://|mailto:)[^\s<>]*>"
# The first sign counts: an escaped backtick begins no code, nor does one in an address. Then come whole runs of
# backticks, also those that no other run of their length ends.
_CODE = re.compile(rf"\\.|{_ADDRESS}|(`+)(?!`).+?(?<!`)\1(?!`)|`+", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\(")
_TAG = re.compile(rf"\\.|(?!{_ADDRESS})<")
_SIGNS = re.compile(r"\\.|\$|==|\|\||\+\+|!(?=\[)")
_BREAK = re.compile(r"(?<=\S)[ \t]*\\?\n[ \t]*(?=\S)")


def fits(tokens: list[Token]) -> bool:
    """Whether the platform's limits of blocks and columns are kept."""
    columns = 0
    for token in tokens:
        if token.type == "tr_open":
            columns = 0
        elif token.type in ("th_open", "td_open"):
            columns += 1
            if columns > COLUMNS_MAX:
                return False
    return sum(token.nesting >= 0 and token.type != "inline" for token in tokens) <= BLOCKS_MAX


def rich_of(text: str, tokens: list[Token]) -> str:
    """``text``, whose ``tokens`` are given, in the platform's own Markdown."""
    lines = text.split("\n")
    rows = _lines_of(tokens, "table_open")
    for token in tokens:
        if token.type == "inline" and token.map and token.map[0] < len(lines):
            first, last = token.map
            said = "\n".join(lines[first:last])
            said = _plain_row(said) if first in rows else _kept_breaks(_plain_signs(said))
            lines[first:last] = said.split("\n")
    return "\n".join(lines)


def _lines_of(tokens: list[Token], kind: str) -> frozenset[int]:
    return frozenset(line for token in tokens if token.type == kind and token.map for line in range(*token.map))


def _plain_signs(text: str) -> str:
    """``text`` without what only the platform takes for a sign; code of one line stays as it is."""
    pieces: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        # In code of several lines, a line that begins with a tag would end the paragraph and so the code.
        if code[1] and "\n" not in code[0]:
            pieces += (_escaped(text[at : code.start()]), code[0])
            at = code.end()
    return "".join((*pieces, _escaped(text[at:])))


def _plain_row(row: str) -> str:
    """A row of a table, in which code ends with its cell. Parsers differ on where a cell with an escaped line ends."""
    return _escaped(row) if "\\|" in row else "|".join(map(_plain_signs, row.split("|")))


def _escaped(text: str) -> str:
    text = _IMAGE.sub(lambda found: f"[{found[1] or 'image'}](", text)
    text = _TAG.sub(lambda found: "\\<" if found[0] == "<" else found[0], text)
    return _SIGNS.sub(lambda found: _backslashed(found[0]), text)


def _backslashed(signs: str) -> str:
    return signs if signs[0] == "\\" else "".join(f"\\{sign}" for sign in signs)


def _kept_breaks(text: str) -> str:
    # A blank quote or list sign at the beginning of the next line stays with it.
    return _BREAK.sub(lambda found: "  \n" + found[0].split("\n")[1], text)


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


FENCE = "```"

_LENGTHENED = "$=|+!<"
"""Signs before which a backslash is put in a rich message."""


def length_of(text: str, *, rich: bool) -> int:
    """How long a text is, in units. A text that goes as one rich message counts as ``TEXT_MAX`` at most."""
    units = length(text)
    return TEXT_MAX if rich and units > TEXT_MAX and _fits_rich(text) else units


def _fits_rich(text: str) -> bool:
    """Whether a text surely fits into a rich message: counted instead of parsed, for each place where it may be cut."""
    longest = len(text) + 2 * text.count("\n") + sum(map(text.count, _LENGTHENED))
    prose = "\n".join(text.split(FENCE)[::2])
    # A line is a block within a block at most, as in a list; each cell of a table is one too.
    blocks = 2 * (prose.count("\n") - prose.count("\n\n") + 1) + prose.count("|")
    return longest <= RICH_MAX_CHARS and blocks <= BLOCKS_MAX


class TextForm(msgspec.Struct, frozen=True, kw_only=True):
    """One form of a text: the parameters that it is sent by."""

    fields: dict[str, Any]
    rich: bool = False


def forms_of(text: str) -> list[TextForm]:
    """The forms of a text that is to be a message of its own; empty when it is too long for one."""
    clean = _clean(text)
    short = length(clean) <= TEXT_MAX
    plain = [TextForm(fields={"text": clean if clean.strip() else EMPTY})] if short else []
    found = [] if _PLACE in clean else formulas(clean)
    marked = replaced(clean, found, lambda number, _: f"{_PLACE}{number}{_PLACE}")
    tokens = parser().parse(marked)
    if not is_whole(tokens) or (short and is_plain(tokens) and not found):
        return plain
    forms: list[TextForm] = []
    rich = _typeset(rich_of(marked, tokens), found)
    if fits(tokens) and len(rich) <= RICH_MAX_CHARS:
        forms.append(TextForm(fields={"rich_message": {"markdown": rich}}, rich=True))
    shown, entities = _shown(clean, found) if found else entities_of(tokens)
    if shown and length(shown) <= TEXT_MAX:
        forms.append(TextForm(fields={"text": shown, "entities": entities} if entities else {"text": shown}))
    return forms + plain


# Formulas: typeset in a rich message, and as a line of text in all other forms.

_PLACE = "\ue000"
"""Stands around the number of a formula while Markdown is read: nothing of a formula is Markdown (private use)."""

_places = re.compile(f"{_PLACE}([0-9]+){_PLACE}")
_punctuation = re.compile(r"[!-/:-@\[-`{-~]")
_UNSAFE = {"|": "\\vert ", "<": "\\lt ", ">": "\\gt "}
"""What the platform may take for a table, a tag or a spoiler, and its names in LaTeX."""


def _typeset(rich: str, found: list[Formula]) -> str:
    """``rich`` with its formulas in the places that stand for them, in the platform's own marks."""

    def formula(place: re.Match[str]) -> str:
        one = found[int(place[1])]
        latex = "".join(_UNSAFE.get(sign, sign) for sign in one.latex)
        line = rich[rich.rfind("\n", 0, place.start()) + 1 : _line_end(rich, place.end())]
        return f"$${latex}$$" if one.display and line.strip() == place[0] else f"${latex}$"

    return _places.sub(formula, rich)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _shown(clean: str, found: list[Formula]) -> tuple[str, list[dict[str, Any]]]:
    """As ``entities_of``, with formulas that read as text, no sign of which is Markdown."""
    text = replaced(clean, found, lambda _, one: _punctuation.sub(r"\\\g<0>", readable(one.latex)))
    return entities_of(parser().parse(text))


def captions_of(text: str) -> list[TextForm]:
    """The forms of a text below a file; empty when it is too long for that."""
    clean = _clean(text)
    if not clean.strip():
        return [TextForm(fields={})]
    forms: list[TextForm] = []
    tokens, found = parser().parse(clean), formulas(clean)
    if is_whole(tokens) and (found or not is_plain(tokens)):
        shown, entities = _shown(clean, found) if found else entities_of(tokens)
        if shown and length(shown) <= CAPTION_MAX:
            fields = {"caption": shown, "caption_entities": entities} if entities else {"caption": shown}
            forms.append(TextForm(fields=fields))
    if length(clean) <= CAPTION_MAX:
        forms.append(TextForm(fields={"caption": clean}))
    return forms


def _clean(text: str) -> str:
    """``text`` as JSON and the platform take it: lines end in one way, half characters and NUL are replaced.

    Its links show their targets, and addresses that act within Telegram are no links.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _ACTING.sub("\\g<0>\u2060", honest(text))
