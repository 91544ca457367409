"""Moves old messages and memory records from Redis to files.

Public: ``Archive`` writes and reads the ``Segment`` files of a ``Shelf`` (a session's log or a list of a memory) in a
``Storage``.
Begin with ``archive``. ``catalogue`` lists segments, ``archive_breaker`` skips a storage that hangs.
"""

from daemon.archive.archive import Archive
from daemon.archive.segment import Segment
from daemon.archive.shelf import Shelf
from daemon.archive.storage import Storage

__all__ = ["Archive", "Segment", "Shelf", "Storage"]
