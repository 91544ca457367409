"""The rate limits that Discord reports with its answers: the limit of a bucket of routes, and that of all requests.

Discord counts requests in buckets, which its answers name (Topics, "Rate Limits"). Routes of the same bucket share a
limit per *major parameter*, which is the channel or the server.
"""

import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import TypeVar

import anyio
import msgspec

from channels.discord.api_types import stated_s

KEPT_MAX = 10_000
"""Routes and buckets that are remembered: about 2 MB."""

GLOBAL = ("", "")
"""Stands for the limit of all requests."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_id = re.compile(r"/\d+")
_varying = re.compile(r"(?<=/reactions)/[^/]+|(?<=^/interactions/\*)/[^/]+|(?<=^/webhooks/\*)/[^/]+")
"""An emoji, or the token of an interaction."""
_major = re.compile(r"/(?:channels|guilds|interactions|webhooks/\d+)/([^/]+)")


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """A request, as far as its rate limit is concerned."""

    name: str
    """Method and path without IDs."""
    major: str
    """The channel, the server, or the interaction by its ID or token; empty: none."""


def route_of(method: str, path: str) -> Route:
    """The route of a request."""
    major = _major.match(path)
    name = _varying.sub("/*", _id.sub("/*", path))
    return Route(name=f"{method} {name}", major=major[1] if major else "")


class RateLimits:
    """What is known of the limits of one bot in this process."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, str] = OrderedDict()
        self._full_until: OrderedDict[tuple[str, str], float] = OrderedDict()
        """By bucket and major parameter (``anyio.current_time``)."""

    def wait_s(self, route: Route) -> float:
        """The time until a request can succeed; 0: now."""
        bucket = self._buckets.get(route.name, route.name)
        until = self._full_until.get((bucket, route.major), 0.0)
        if "/interactions/" not in route.name:  # which do not count
            until = max(until, self._full_until.get(GLOBAL, 0.0))
        return max(0.0, until - anyio.current_time())

    def note(self, route: Route, headers: Mapping[str, str]) -> None:
        """Remember the headers of an answer."""
        bucket = headers.get("x-ratelimit-bucket", "")
        if not bucket:
            return
        _keep(self._buckets, route.name, bucket)
        reset_s = stated_s(headers.get("x-ratelimit-reset-after", ""))
        if headers.get("x-ratelimit-remaining") == "0" and reset_s:
            _keep(self._full_until, (bucket, route.major), anyio.current_time() + reset_s)

    def note_refusal(self, route: Route, seconds: float, *, is_global: bool, passing: bool) -> None:
        """Remember a refusal: the global one, and that of requests that nobody repeats (``passing``).

        For all other requests, the outbox keeps to the delay.
        """
        if is_global:
            _keep(self._full_until, GLOBAL, anyio.current_time() + seconds)
        elif passing:
            bucket = self._buckets.get(route.name, route.name)
            _keep(self._full_until, (bucket, route.major), anyio.current_time() + seconds)


def _keep(known: OrderedDict[_Key, _Value], key: _Key, value: _Value) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > KEPT_MAX:
        known.popitem(last=False)
