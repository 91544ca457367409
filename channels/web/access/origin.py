"""The origin of a request, by headers that browsers set and pages cannot change. Pure.

A browser sends a cookie with every request to a host, on any port and from any page. Therefore it counts only in
requests of our own page or of the person.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

OURS = frozenset(["same-origin", "none"])
"""Accepted values of Sec-Fetch-Site (W3C Fetch Metadata, section 2.3); ``none``: a person opened the address."""

DEFAULT_PORTS = frozenset([":80", ":443"])


def origin_host(origin: str) -> str:
    """The host of an Origin header; empty if the header has no host."""
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""


def may_be_ours(headers: Mapping[str, str]) -> bool:
    """Whether no header shows that a page of another origin made the request."""
    return headers.get("sec-fetch-site", "none") in OURS


def is_ours(headers: Mapping[str, str]) -> bool:
    """Whether a header shows that our own page made the request. A change needs that besides the cookie."""
    if headers.get("sec-fetch-site") == "same-origin":
        return True
    return may_be_ours(headers) and _authority(headers.get("origin", "")) == _plain(headers.get("host", ""))


def _authority(origin: str) -> str:
    """``host[:port]`` of an Origin header, which has no path and no user; ``?`` if it is not valid."""
    scheme, separator, authority = origin.partition("://")
    return _plain(authority) if separator and scheme in ("http", "https") and authority else "?"


def _plain(authority: str) -> str:
    name, colon, port = authority.lower().rpartition(":")
    return name if f"{colon}{port}" in DEFAULT_PORTS else authority.lower()
