"""The archive: parts of logs that were consolidated, as files that Redis lists.

``Archive`` writes a segment, lists those there are and reads one back.
"""

from daemon.archive.archive import Archive
from daemon.archive.segment import Segment

__all__ = ["Archive", "Segment"]
