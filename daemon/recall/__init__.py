"""Finding again what a scope remembers: its history, its memory, its notes, and what was said word for word."""

from daemon.recall.chunk import Chunk, Kind
from daemon.recall.found import Engine, Found, Hit, Mode

__all__ = ["Chunk", "Engine", "Found", "Hit", "Kind", "Mode"]
