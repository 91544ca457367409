"""Exceptions of search indexes."""

from daemon.errors import MillpondError


class SearchError(MillpondError):
    """A search index cannot be used. Its contents can be rebuilt from Redis and the archive."""


class IndexBusy(SearchError):
    """Another process or task is using the index exclusively."""


class IndexDamaged(SearchError):
    """An index is damaged and must be deleted and rebuilt."""


class IndexGone(SearchError):
    """An index was deleted while this process had it open. Open it again."""


class IndexUnusable(SearchError):
    """An index cannot be read or written, because the disk is full, read-only or broken."""
