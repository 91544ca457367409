"""The meaning of an answer of Discord's REST API. Pure."""

import math
from collections.abc import Mapping

import msgspec

from daemon.errors import UNREADABLE, SendRefused, SendRejected, SendUnknown

LONG_REST_S = 60.0
"""Pause when only a person can help: a wrong token, an address without Discord behind it."""

UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, UNKNOWN_EMOJI, UNKNOWN_INTERACTION = 10_003, 10_008, 10_014, 10_062
ACKNOWLEDGED_ALREADY = 40_060
ARCHIVED_AND_LOCKED = 50_083
NO_HISTORY = 160_002
"""Error codes of Discord (Topics, "Opcodes and Status Codes")."""


NO_ANSWER = frozenset({504, 520, 524})
"""Status codes of a proxy that got no answer in time, or none that it can read: the message may have arrived. The last
two are Cloudflare's (Cloudflare, "5xx errors")."""


class Unreached(SendRefused):
    """Discord cannot be reached; nothing was sent."""


class Unauthorized(SendRefused):
    """Discord does not accept the token; only a person can help."""


class TooMany(SendRefused):
    """A rate limit is reached."""

    def __init__(self, message: str, *, retry_after_s: float | None, is_global: bool) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.is_global = is_global
        """Whether the limit is that of all requests of the bot."""


class Rejected(SendRejected):
    """Discord states why it refuses the request for good."""

    def __init__(self, message: str, *, code: int, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.code = code
        """Discord's error code; 0: none."""


class _Error(msgspec.Struct, frozen=True):
    message: str = ""
    code: int = 0
    retry_after: float | None = None
    is_global: bool = msgspec.field(default=False, name="global")


_decode = msgspec.json.Decoder(_Error, strict=False).decode


def judged(status: int, content: bytes, headers: Mapping[str, str], *, action: str, base: str) -> bytes:
    """The content of a successful answer. ``action``: the request, for people. Errors as for ``Api.call``."""
    if 200 <= status < 300:
        return content or b"null"
    error = _read(content)
    text = f"Discord answered {action} with status {status}"
    if status == 429:
        after = error.retry_after if error else None
        told = seconds_of(headers.get("retry-after", "") if after is None else after)
        if error is None or told is None:
            # Cloudflare before Discord, or Discord itself, blocks this machine after too many refusals.
            raise TooMany(text, retry_after_s=LONG_REST_S if told is None else told, is_global=True)
        is_global = headers.get("x-ratelimit-global") == "true" or error.is_global
        raise TooMany(text, retry_after_s=told, is_global=is_global)
    if status in NO_ANSWER:
        raise SendUnknown(text)
    if status >= 500:
        raise SendRefused(text)
    if error is None and status == 413:  # of Cloudflare, whose limit a request of Discord's largest files may reach
        raise Rejected(text, code=0)
    if error is None:
        raise SendRefused(f"{text}, but not with JSON. Check base_url.", retry_after_s=LONG_REST_S)
    if status == 401:
        raise Unauthorized(f"{text}. Check the token.", retry_after_s=LONG_REST_S)
    # Discord's words may quote the message, so that only the code is logged.
    raise Rejected(f"{text}: {error.message}", code=error.code, brief=f"{text}, error code {error.code}")


def _read(content: bytes) -> _Error | None:
    try:
        return _decode(content)
    except UNREADABLE:
        return None


def seconds_of(told: str | float) -> float | None:
    """A time that Discord states; None: it is none."""
    try:
        seconds = float(told)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
