"""The cookie of a site, as browsers keep it. Pure.

Cookies do not depend on the port, so the name contains the port. Several Millponds on one machine thus have separate
cookies.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.types import Scope

from daemon.operators import VISITOR_VALID_S

ENCRYPTED = "__Host-"
"""Prefix of names that browsers accept only over TLS and only from this host (RFC 6265bis, section 4.1.3)."""


@dataclass(frozen=True, kw_only=True)
class Cookie:
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
