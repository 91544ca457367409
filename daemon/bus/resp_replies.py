"""Replies whose form depends on the protocol: RESP3 has maps and pairs, RESP2 has flat lists."""

from typing import Any


def pairs(reply: Any) -> list[tuple[Any, Any]]:
    """A reply of names and values (HGETALL, ZRANGE WITHSCORES, ZPOPMIN, XREAD) as pairs."""
    if not reply:
        return []
    items: list[Any] = list(reply.items() if hasattr(reply, "items") else reply)
    if isinstance(items[0], list | tuple):
        return [(pair[0], pair[1]) for pair in items]
    return list(zip(items[::2], items[1::2], strict=True))
