"""The forms that a text can be sent in, the best one first: the next one when Feishu refuses one. Pure.

Markdown goes as a card (JSON 2.0) with one Markdown component, which shows headings, code and tables. Signs that only
Feishu knows, and that call people or show pictures by their keys, are taken away: a model repeats what it has read.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from channels.base import Part
from channels.link_spoofing import honest
from channels.text.markdown_blocks import Block, blocks
from channels.text.text_split import sound
from daemon.sessionkey import SessionKey

PART_MAX = 20_000
"""Bytes of a text in a request, of 30 kB for a whole card (``im/v1/messages``); the rest is for the card's JSON, and
for links that show their targets."""

TABLES_MAX = 4
"""Tables of one Markdown component ("Rich text", JSON 2.0); those beyond stand as code."""

ELEMENT = "reply"
"""Id of the Markdown component, by which its text is replaced."""

EMPTY = "\u2026"
"""Stands for a text in which nothing can be seen: Feishu takes no empty one."""

NO_FORM = frozenset({230001, 230025, 230054, 230099, 11246, 200621, 200860, 200861})
"""What is refused of a text as a card may be taken as plain text."""

UUID_CHARS = 40
"""Feishu takes fifty."""

_CODE = re.compile(r"\\.|(`+)(?!`).+?(?<!`)\1(?!`)|`+", re.DOTALL)
_LINKED = re.compile(r"<(https?://[^\s<>]+)>")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_IMAGE = re.compile(r"!(?=\[)")
_RULE = re.compile(
    r"^[ ]{0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$|^[ ]{0,3}\|[ \t]*:?-+:?[ \t]*\|$", re.M
)
_encode = msgspec.json.encode
_FRAME = len(_encode(_encode("").decode()))


def length(text: str) -> int:
    """How much of a request a text takes: its bytes as JSON within JSON, with tags written out."""
    return len(_encode(_encode(sound(text)).decode())) - _FRAME + 4 * text.count("<")


def forms_of(text: str, *, streaming: bool = False, buttons: Sequence[dict[str, Any]] = ()) -> list[dict[str, str]]:
    """The forms of a text: as a card, with ``buttons`` below it if there are any, else as it was written."""
    shown = clean(text)
    cards = [card_of(shown, streaming=streaming, buttons=each) for each in ([buttons, ()] if buttons else [()])]
    plain = {"text": _TAG.sub("<\u2060", shown)}
    return [
        *[{"msg_type": "interactive", "content": card} for card in cards],
        {"msg_type": "text", "content": _encode(plain).decode()},
    ]


def card_of(shown: str, *, streaming: bool = False, buttons: Sequence[dict[str, Any]] = ()) -> str:
    """The card of a text that is clean, as JSON; ``streaming``: it is still being written."""
    card: dict[str, Any] = {
        "schema": "2.0",
        "config": {"update_multi": True, "streaming_mode": streaming},
        "body": {"elements": [{"tag": "markdown", "element_id": ELEMENT, "content": markdown_of(shown)}, *buttons]},
    }
    return _encode(card).decode()


def markdown_of(shown: str) -> str:
    """A text that is clean, in Feishu's own Markdown."""
    pieces: list[str] = []
    tables = 0
    for block in blocks(shown):
        text = shown[block.begin : block.end]
        if block.fence is None and _RULE.search(text):
            tables += 1
            text = _as_code(text) if tables > TABLES_MAX else _written(text, block)
        else:
            text = _written(text, block)
        pieces.append(text)
    return "".join(pieces)


def clean(text: str) -> str:
    """``text`` as JSON and Feishu take it, whose links show their targets."""
    text = honest(sound(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")))
    return text if text.strip() else EMPTY


def uuid_of(chat: SessionKey, part: Part, piece: str) -> str:
    """What Feishu knows a repetition by, for an hour: the same for every attempt at the same part.

    ``piece``: which message of the part it is. A text that is being written is one message, whatever it says so far.
    """
    said = "" if part.preview else part.text
    names = (chat.chat, chat.thread, part.reply, str(part.number), str(part.preview), piece, said)
    return hashlib.sha256("\0".join(map(sound, names)).encode()).hexdigest()[:UUID_CHARS]


def _as_code(table: str) -> str:
    body = table.rstrip("\n")
    return f"```\n{body}\n```{table[len(body) :] or chr(10)}"


def _written(text: str, block: Block) -> str:
    if block.fence is not None:
        return text
    pieces: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        if code[1]:
            pieces += (_plain(text[at : code.start()]), code[0])
            at = code.end()
    return "".join((*pieces, _plain(text[at:])))


def _plain(text: str) -> str:
    """``text`` without signs that Feishu alone obeys."""
    return _TAG.sub("&#60;", _IMAGE.sub("", _LINKED.sub(r"[\1](\1)", text)))
