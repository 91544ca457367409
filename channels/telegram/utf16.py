"""Texts as Telegram counts them: in UTF-16 units, of which most emoji have two. Pure."""

_UNIT_BYTES = 2


def length(text: str) -> int:
    """How many units a text has."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // _UNIT_BYTES


class Units:
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
