"""Addresses of platforms in the configuration. Pure; what is said of one never shows it: it may hold a password."""

from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

SERVER = "expected http:// or https:// and a host, without a user or password"
PUBLIC = "expected https://host/path, an address that the platform can reach, without a user or password"


def is_server(text: str) -> bool:
    """Whether it is the address of a server that is asked."""
    return _is(text, _names_server)


def is_public(text: str) -> bool:
    """Whether it is an address at which a platform may call."""
    return _is(text, _names_public)


def _is(text: str, fits: Callable[[SplitResult], bool]) -> bool:
    try:
        parts = urlsplit(text)
        return text.isascii() and text.isprintable() and " " not in text and parts.port != 0 and fits(parts)
    except ValueError:  # brackets without end, a port that is no number
        return False


def _names_server(parts: SplitResult) -> bool:
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None and not parts.query


def _names_public(parts: SplitResult) -> bool:
    return parts.scheme == "https" and _names_server(parts) and not parts.fragment
