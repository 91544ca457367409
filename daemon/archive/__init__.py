"""The archive: what is old, as files that Redis lists; only what is listed may leave Redis.

``Archive`` writes segments of a ``Shelf`` (the log of a session, a list of a scope's memory), reads them back, and
trims, rewrites and drops.
"""

from daemon.archive.archive import Archive
from daemon.archive.segment import Segment
from daemon.archive.shelf import Shelf
from daemon.archive.storage import Storage

__all__ = ["Archive", "Segment", "Shelf", "Storage"]
