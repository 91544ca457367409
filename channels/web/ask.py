"""What a request asks for: a session in its address, numbers in its query."""

import re
from urllib.parse import parse_qs, unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request

from daemon.errors import BadSessionKey
from daemon.sessionkey import SessionKey

LIMIT = 100
LIMIT_MAX = 1_000
"""Messages or sessions in one answer."""

_NUMBER = re.compile(r"-?[0-9]{1,15}", re.ASCII)
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def session_in_path(request: Request, channel: str) -> SessionKey:
    """The session in ``/api/sessions/<session>/…``.

    Raises:
        BadSessionKey: it is none.
        HTTPException: 404, the address has more parts than that.
    """
    # The path that the router sees is decoded, and a name with %2F in it would fall apart.
    parts = request.scope["raw_path"].decode("ascii").split("/")
    if len(parts) != 5:
        raise HTTPException(404)
    return session_of(parts[3], channel)


def session_of(segment: str, channel: str) -> SessionKey:
    """The session that a segment of an address names.

    With a ``:`` in it, it is the key as it is; else it is an encoded key, or an encoded bare name of ``channel``.

    Raises:
        BadSessionKey: it is neither.
    """
    if ":" in segment:
        return SessionKey.parse(segment)
    if _BROKEN_ESCAPE.search(segment):
        raise BadSessionKey(f"session {segment[:80]!r}: % must be followed by two hex digits; a plain % is %25")
    try:
        return SessionKey.of_channel(unquote(segment, errors="strict"), channel)
    except UnicodeDecodeError:
        raise BadSessionKey(f"session {segment[:80]!r}: its escapes are not UTF-8") from None


def session_in_query(request: Request, channel: str) -> SessionKey:
    """The session in ``?session=``; errors as for ``SessionKey.of_channel``, and 400 when there is none."""
    try:
        asked = parse_qs(request.scope["query_string"].decode("latin-1"), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise BadSessionKey("session: the escapes in the address are not UTF-8") from None
    text = next(iter(asked.get("session", ())), None)
    if text is None:
        raise HTTPException(400, "which session? add ?session=<name or key>")
    return SessionKey.of_channel(text, channel)


def after_of(text: str | None) -> int:
    """The index behind which to read; -1, everything, when none is given."""
    return _number("after", text, default=-1, least=-1, most=2**53)


def limit_of(request: Request) -> int:
    """How many are asked for."""
    return _number("limit", request.query_params.get("limit"), default=LIMIT, least=1, most=LIMIT_MAX)


def _number(name: str, text: str | None, *, default: int, least: int, most: int) -> int:
    if not text:
        return default
    if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
        raise HTTPException(400, f"{name} must be a whole number from {least} to {most}, got {text[:40]!r}")
    return int(text)
