"""Errors in the form of the API, ``{"error": {"code", "message"}}``, for all exceptions."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from daemon.errors import (
    ArchiveError,
    BadSessionKey,
    BusUnavailable,
    ConfigError,
    DamagedData,
    ForeignSession,
    InboundError,
    JobRefused,
    MemoryMoving,
    MessageTooLarge,
    MillpondError,
    NoSuchMemory,
    NoSuchVersion,
    SessionFull,
    TooFewReplicas,
    VersionMoved,
    WrongType,
)

AWAY_RETRY_S = 5
"""``Retry-After`` while Redis is unavailable: an embedded server restarts within this time."""

AWAY = (
    "Redis is not responding or not accepting writes right now, so Millpond cannot tell whether the request was "
    "carried out. Send it again later. If you send a message again with the same ID, Millpond processes the message "
    "only once."
)
INTERNAL = "Millpond failed with an internal error. For details, see the request.failed entry in Millpond's log."


class _Kind(NamedTuple):
    error: type[MillpondError]
    status: int
    code: str


_KINDS = (
    _Kind(ForeignSession, 403, "foreign_session"),
    _Kind(MessageTooLarge, 413, "message_too_large"),
    _Kind(BadSessionKey, 400, "bad_session"),
    _Kind(InboundError, 400, "bad_message"),
    _Kind(SessionFull, 429, "session_full"),
    _Kind(TooFewReplicas, 503, "too_few_replicas"),
    _Kind(BusUnavailable, 503, "unavailable"),
    _Kind(ConfigError, 500, "configuration"),
    _Kind(ArchiveError, 503, "archive"),
    _Kind(DamagedData, 500, "damaged"),
    _Kind(WrongType, 500, "damaged"),
    _Kind(NoSuchVersion, 404, "no_version"),
    _Kind(NoSuchMemory, 404, "no_memory"),
    _Kind(VersionMoved, 409, "changed"),
    _Kind(MemoryMoving, 409, "moving"),
    _Kind(JobRefused, 409, "refused"),
)
"""The first match counts."""

_CODES = {
    400: "bad_request",
    403: "not_operator",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    409: "stale",
    413: "message_too_large",
    415: "not_json",
    503: "too_many_viewers",
}

_MESSAGES = {
    404: "This address was not found. GET / describes the API.",
    405: "This address does not support the request's HTTP method. The Allow header of the response lists the "
    "supported methods.",
}


def body_of(code: str, message: str, **more: str) -> bytes:
    """The JSON of an error."""
    return msgspec.json.encode({"error": {"code": code, "message": message, **more}})


def problem(status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None) -> Response:
    """An error as an answer."""
    return Response(body_of(code, message), status, dict(headers or {}), media_type="application/json")


def refusal(_request: Request, error: Exception) -> Response:
    """The response to a ``MillpondError``. An error that the client cannot fix is raised again, to be logged."""
    for kind in _KINDS:
        if isinstance(error, kind.error):
            text = AWAY if kind.error is BusUnavailable else str(error)
            return problem(kind.status, kind.code, text, headers=_retry(error))
    raise error


def http_refusal(_request: Request, error: Exception) -> Response:
    """The response to an ``HTTPException`` of the framework or of this package."""
    if not isinstance(error, HTTPException):
        raise error
    code = _CODES.get(error.status_code, "error")
    return problem(error.status_code, code, _MESSAGES.get(error.status_code, error.detail), headers=error.headers)


def _retry(error: MillpondError) -> dict[str, str]:
    if isinstance(error, SessionFull):
        return {"Retry-After": str(math.ceil(error.retry_after_s))}
    return {"Retry-After": str(AWAY_RETRY_S)} if isinstance(error, BusUnavailable) else {}
