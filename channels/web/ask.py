"""Parameters of a request: the session in its address, numbers in its query."""

import re
from urllib.parse import parse_qs, unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request

from daemon.errors import BadSessionKey
from daemon.sessionkey import SessionKey

LIMIT = 100
LIMIT_MAX = 1_000
"""Messages or sessions in one answer."""
AGE_MAX_S = 60
WORDS_MAX_CHARS = 500
"""Of the search text."""

_NUMBER = re.compile(r"-?[0-9]{1,16}", re.ASCII)
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def session_in_path(request: Request, channel: str, *, parts: int = 5) -> SessionKey:
    """The session in ``/api/sessions/<session>/…``, an address of as many parts.

    Raises:
        BadSessionKey: it is none.
        HTTPException: 404, the address has more parts than that.
    """
    return session_of(segments_of(request, parts)[3], channel)


def segments_of(request: Request, parts: int) -> list[str]:
    """The parts of the address as they were sent; the first is empty.

    Raises:
        HTTPException: 404, there are not so many.
    """
    # The path that the router sees is decoded, and a name with %2F in it would fall apart.
    found: list[str] = request.scope["raw_path"].decode("ascii").split("/")
    if len(found) != parts:
        raise HTTPException(404)
    return found


def session_of(segment: str, channel: str) -> SessionKey:
    """The session that a segment of an address names.

    With a ``:`` in it, it is the key as it is; else it is an encoded key, or an encoded bare name of ``channel``.

    Raises:
        BadSessionKey: it is neither.
    """
    if ":" in segment:
        return SessionKey.parse(segment)
    if _BROKEN_ESCAPE.search(segment):
        raise BadSessionKey(
            f"session {segment[:80]!r} cannot be parsed: % must be followed by two hex digits. Write a plain % as %25."
        )
    try:
        return SessionKey.of_channel(unquote(segment, errors="strict"), channel)
    except UnicodeDecodeError:
        raise BadSessionKey(f"session {segment[:80]!r} cannot be parsed: its escapes are not UTF-8") from None


def session_in_query(request: Request, channel: str) -> SessionKey:
    """The session in ``?session=``; errors as for ``SessionKey.of_channel``, and 400 if it is missing."""
    try:
        asked = parse_qs(request.scope["query_string"].decode("latin-1"), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise BadSessionKey("session: the escapes in the address are not UTF-8") from None
    text = next(iter(asked.get("session", ())), None)
    if text is None:
        raise HTTPException(400, "the session is missing. Add ?session=<name or key>.")
    return SessionKey.of_channel(text, channel)


def after_of(text: str | None) -> int:
    """The index behind which to read; -1, everything, when none is given."""
    return _number("after", text, default=-1, least=-1, most=2**53)


def limit_of(request: Request, *, default: int = LIMIT) -> int:
    """How many are asked for."""
    return _number("limit", request.query_params.get("limit"), default=default, least=1, most=LIMIT_MAX)


def before_of(request: Request) -> int | None:
    """The index before which to read; None when none is given."""
    text = request.query_params.get("before")
    return _number("before", text, default=0, least=0, most=2**53) if text else None


def age_of(request: Request) -> int:
    """How many seconds old an answer may be."""
    return _number("age", request.query_params.get("age"), default=0, least=0, most=AGE_MAX_S)


def number_in(text: str) -> int:
    """A version's number."""
    return _number("a version", text, default=0, least=0, most=2**53)


def turn_in(text: str) -> int:
    """A turn's name: the index at which it began."""
    return _number("a turn", text, default=0, least=0, most=2**53)


def words_of(request: Request) -> str:
    """The search text.

    Raises:
        HTTPException: 400, nothing is, or more than anybody looks for.
    """
    words = request.query_params.get("q", "")
    if not words.strip():
        raise HTTPException(400, "the search text is missing. Add ?q=<words>.")
    if len(words) > WORDS_MAX_CHARS:
        raise HTTPException(400, f"q has {len(words):,} characters, but at most {WORDS_MAX_CHARS} are allowed")
    return words


def _number(name: str, text: str | None, *, default: int, least: int, most: int) -> int:
    if not text:
        return default
    if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
        raise HTTPException(400, f"{name} must be a whole number from {least} to {most}. Got {text[:40]!r}.")
    return int(text)
