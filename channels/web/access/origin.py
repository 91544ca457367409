"""Where a request comes from, by what browsers say about it and pages cannot change. Pure.

A cookie goes along with every request to a host, whatever its port and whoever made it; so it counts only in those that
our own page made, or the person.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

OURS = frozenset(["same-origin", "none"])
"""What Sec-Fetch-Site may say (W3C Fetch Metadata, section 2.3): ``none`` is a person who opened an address."""

DEFAULT_PORTS = frozenset([":80", ":443"])


def origin_host(origin: str) -> str:
    """The host of an Origin header; empty when there is none in it."""
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""


def may_be_ours(headers: Mapping[str, str]) -> bool:
    """Whether nothing says that a page of another origin made the request."""
    return headers.get("sec-fetch-site", "none") in OURS


def is_ours(headers: Mapping[str, str]) -> bool:
    """Whether something says that our own page made the request: what changes anything needs that beside a cookie."""
    if headers.get("sec-fetch-site") == "same-origin":
        return True
    return may_be_ours(headers) and _authority(headers.get("origin", "")) == _plain(headers.get("host", ""))


def _authority(origin: str) -> str:
    """``host[:port]`` of an Origin header, which never has another path or a user; ``?`` when it is none."""
    scheme, separator, authority = origin.partition("://")
    return _plain(authority) if separator and scheme in ("http", "https") and authority else "?"


def _plain(authority: str) -> str:
    name, colon, port = authority.lower().rpartition(":")
    return name if f"{colon}{port}" in DEFAULT_PORTS else authority.lower()
