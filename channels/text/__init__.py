"""Text on its way to a platform: where it may be cut, and into what pieces. Pure."""

from channels.text.text_split import beginning, pieces, split

__all__ = ["beginning", "pieces", "split"]
