"""Shows the beginning and end of a message that does not fit alone. Pure; stored messages are not changed."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from workers.message_format import Content, encode, parts_of, role_of, taken_apart, text_of, text_part

Count = Callable[[bytes], int]
"""Gives the tokens of a message."""

FLOOR_TOKENS = 200
"""What a message keeps as long as the next kind still has something to give."""
ARGUMENT_MIN_CHARS = 200
"""Arguments of a call that are not longer stay as they are."""
IMAGE_LEFT_OUT = "[image left out]"


class Shares(msgspec.Struct, frozen=True):
    """What is kept of a text that is too long, as shares of what there is room for."""

    head: float = 0.7
    tail: float = 0.2


class Piece(msgspec.Struct, frozen=True):
    """A message as it is sent, and what it counts."""

    wire: bytes
    tokens: int


def shortened(text: str, keep_chars: int, shares: Shares) -> str:
    """The head and the tail of ``text``, about ``keep_chars`` in all, around a marker that tells what is missing.

    ``text`` itself where that would be no shorter, whatever either of them counts with what stands around it.
    """
    head, tail = int(keep_chars * shares.head), int(keep_chars * shares.tail)
    if head + tail >= len(text):
        return text
    marker = f"\n[... {len(text) - head - tail:,} characters left out ...]\n"
    if head + len(marker) + tail >= len(text):
        return text
    return f"{text[:head]}{marker}{text[len(text) - tail :] if tail else ''}"


def shortened_text(text: str, max_tokens: int, count: Callable[[str], int], shares: Shares) -> tuple[str, int]:
    """``text`` and its tokens, shortened to ``max_tokens``; nothing at all when not even the marker fits."""
    tokens, shown, keep_chars = count(text), text, len(text)
    while tokens > max_tokens:
        if keep_chars == 0:
            return "", 0
        keep_chars = keep_chars * max(0, max_tokens) // (tokens + 1)
        shown = shortened(text, keep_chars, shares)
        tokens = count(shown)
    return shown, tokens


def fitted(pieces: Sequence[Piece], room_tokens: int, count: Count, shares: Shares, *, own: bool = True) -> list[Piece]:
    """``pieces`` with the longest shortened until all fit, as far as that can be done.

    First tool results give way, then other messages, and last, where ``own``, the first one: what the user says now.
    """
    found = list(pieces)
    ranks = [0 if role_of(piece.wire) == "tool" else 1 for piece in pieces]
    if own and ranks:
        ranks[0] = 2
    for floor in (FLOOR_TOKENS, 0):
        for rank in (0, 1, 2):
            total = sum(piece.tokens for piece in found)
            if total <= room_tokens:
                return found
            members = [at for at, each in enumerate(ranks) if each == rank]
            sizes = [found[at].tokens for at in members]
            cap = max(floor, _cap(sizes, room_tokens - total + sum(sizes)))
            for at in members:
                if found[at].tokens > cap:
                    found[at] = _shorter(found[at], cap, count, shares)
    return found


def _cap(sizes: Sequence[int], room: int) -> int:
    """The largest size at which all that is larger has to be cut, so that the sum is at most ``room``."""
    left = len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            return max(0, room) // left
        room -= size
        left -= 1
    return max(sizes, default=0)


def _shorter(piece: Piece, max_tokens: int, count: Count, shares: Shares) -> Piece:
    """``piece`` with at most ``max_tokens``, or as few as can be; itself where the marker would only make it longer."""
    whole = taken_apart(piece.wire)
    if isinstance(whole.get("content"), list):
        whole = _with_fewer_images(whole, piece, max_tokens, count)
    keep = 1.0
    while True:
        wire = encode(_kept(whole, keep, shares))
        smaller = Piece(wire, count(wire))
        if smaller.tokens <= max_tokens or keep == 0:
            return smaller if smaller.tokens < piece.tokens else piece
        keep *= 0.95 * max_tokens / smaller.tokens
        if keep * piece.tokens < 1:
            keep = 0


def _with_fewer_images(whole: dict[str, Any], piece: Piece, max_tokens: int, count: Count) -> dict[str, Any]:
    """As many of the images as there is room for beside the texts: those can be shortened, images cannot."""
    parts = parts_of(whole["content"])
    images = [part for part in parts if "text" not in part]
    texts = [part for part in parts if "text" in part]
    if not images:
        return whole
    bare = {**whole, "content": [*texts, *[text_part(IMAGE_LEFT_OUT)] * len(images)]}
    without_tokens = count(encode(bare))
    each = max(1, (piece.tokens - without_tokens) // len(images) + 1)
    shown = max(0, min(len(images), (max_tokens - without_tokens) // each))
    lines = [text_part(IMAGE_LEFT_OUT)] * (len(images) - shown)
    return {**whole, "content": [*texts, *lines, *images[:shown]]}


def _kept(whole: dict[str, Any], share: float, shares: Shares) -> dict[str, Any]:
    """The message with ``share`` of each of its texts."""
    kept = {**whole, "content": _content(whole.get("content"), share, shares)}
    if calls := whole.get("tool_calls"):
        kept["tool_calls"] = [_call(call, share, shares) for call in calls]
    return kept


def _content(content: Content, share: float, shares: Shares) -> Content:
    if not content or share == 1:
        return content
    if isinstance(content, str):
        return shortened(content, int(len(content) * share), shares)
    text = text_of(content)
    images = [part for part in content if "text" not in part]
    return [*([text_part(shortened(text, int(len(text) * share), shares))] if text else []), *images]


def _call(call: dict[str, Any], share: float, shares: Shares) -> dict[str, Any]:
    """A call with its arguments shortened; they stay a JSON object, which some servers insist on."""
    function = call["function"]
    arguments = str(function["arguments"])
    if len(arguments) <= ARGUMENT_MIN_CHARS:
        return call
    shown = encode({"shortened": shortened(arguments, int(len(arguments) * share), shares)}).decode()
    return {**call, "function": {**function, "arguments": shown}} if len(shown) < len(arguments) else call
