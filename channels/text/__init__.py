"""Splits long texts into parts that fit a platform.

Public: ``split`` splits a text, ``pieces`` splits a reply, ``beginning`` returns as much as fits into one part.
Begin with ``text_split``. ``markdown_blocks`` finds the blocks that stay together.
"""

from channels.text.text_split import beginning, pieces, split

__all__ = ["beginning", "pieces", "split"]
