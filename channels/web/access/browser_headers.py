"""Headers of browsers: the cookie of a site, and the origin of a request. Pure.

Cookies do not depend on the port, so the name contains the port. Several Millponds on one machine thus have separate
cookies.

A browser sends a cookie with every request to a host, on any port and from any page. Therefore it counts only in
requests of our own page or of the person.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec
from starlette.requests import Request
from starlette.types import Scope

from daemon.operators import VISITOR_VALID_S

# The cookie of a site, as browsers keep it. Pure.

ENCRYPTED = "__Host-"
"""Prefix of names that browsers accept only over TLS and only from this host (RFC 6265bis, section 4.1.3)."""


class Cookie(msgspec.Struct, frozen=True, kw_only=True):
    """A cookie in a browser."""

    name: str
    secret: str

    def given(self) -> str:
        """The ``Set-Cookie`` that stores it for as long as the log-in is valid."""
        return self._set(self.secret, round(VISITOR_VALID_S))

    def taken(self) -> str:
        """The ``Set-Cookie`` that deletes it."""
        return self._set("", 0)

    def _set(self, value: str, age_s: int) -> str:
        ends = "; Secure" if self.name.startswith(ENCRYPTED) else ""
        return f"{self.name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={age_s}{ends}"


def new_cookie(secret: str, headers: Mapping[str, str]) -> Cookie:
    """A cookie for a client with these request headers; a proxy may have terminated its TLS."""
    is_encrypted = headers.get("origin", "").startswith("https://")
    return Cookie(name=f"{ENCRYPTED}{_name(headers)}" if is_encrypted else _name(headers), secret=secret)


def cookie_in(scope: Scope) -> Cookie | None:
    """The cookie of a request."""
    request = Request(scope)
    plain = _name(request.headers)
    for name in (f"{ENCRYPTED}{plain}", plain):
        if secret := request.cookies.get(name):
            return Cookie(name=name, secret=secret)
    return None


def _name(headers: Mapping[str, str]) -> str:
    port = headers.get("host", "").rpartition(":")[2]
    return f"millpond-{port}" if port.isascii() and port.isdigit() else "millpond"


# The origin of a request, by headers that browsers set and pages cannot change. Pure.

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
