"""Parameters and JSON bodies of requests."""

import re
from typing import TypeVar
from urllib.parse import parse_qs, unquote

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.http import read_body
from daemon.errors import BadSessionKey
from daemon.sessionkey import SessionKey

# The body of a request as JSON of a given form, and the body of a response as JSON.

SMALL_BYTES = 16_384
"""Largest body without a text of a person."""

_T = TypeVar("_T")


async def decoded(request: Request, kind: type[_T], form: str, *, max_bytes: int = SMALL_BYTES) -> _T:
    """The body as a ``kind``. ``form`` is a sentence that describes the expected body, for the error message.

    Raises:
        HTTPException: 415, its type is not JSON; 413, it is above ``max_bytes``; 408, it did not arrive in time;
            400, it does not have the expected form.
    """
    check_type(request)
    body = await read_body(request, max_bytes=max_bytes)
    try:
        return msgspec.json.decode(body, type=kind)
    except UnicodeDecodeError:
        raise HTTPException(400, "The request body is not valid UTF-8. Encode it as UTF-8.") from None
    except msgspec.ValidationError as error:
        raise HTTPException(400, f"{error}. {form}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise HTTPException(400, f"The request body is not valid JSON: {error}") from None


def json_response(content: object, status: int = 200) -> Response:
    """``content`` as JSON."""
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def check_type(request: Request) -> None:
    """Raise 415 unless the Content-Type is JSON in UTF-8."""
    kind, *parameters = [part.strip().lower() for part in request.headers.get("content-type", "").split(";")]
    if kind != "application/json" or any(part.replace('"', "") not in ("", "charset=utf-8") for part in parameters):
        raise HTTPException(
            415, "The request body must be JSON in UTF-8. Send a Content-Type: application/json header."
        )


# Parameters of a request: the session in its address, numbers and words in its query.

LIMIT = 100
LIMIT_MAX = 1_000
"""Messages or sessions in one response."""
AGE_MAX_S = 60
DAYS, DAYS_MAX = 7, 400
"""Days of usage in one response; accounts are kept for 400 days."""
WORDS_MAX_CHARS = 500
"""Longest search text."""

_NUMBER = re.compile(r"-?[0-9]{1,16}", re.ASCII)
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def session_in_path(request: Request, channel: str, *, parts: int = 5) -> SessionKey:
    """The session in ``/api/sessions/<session>/…``, an address of as many parts.

    Raises:
        BadSessionKey: the name cannot be read.
        HTTPException: 404, the address has more parts.
    """
    return session_of(segments_of(request, parts)[3], channel)


def segments_of(request: Request, parts: int) -> list[str]:
    """The parts of the address as they were sent; the first is empty.

    Raises:
        HTTPException: 404, the address has another number of parts.
    """
    # The path of the router is decoded, which would split a name that contains %2F.
    found: list[str] = request.scope["raw_path"].decode("ascii").split("/")
    if len(found) != parts:
        raise HTTPException(404)
    return found


def session_of(segment: str, channel: str) -> SessionKey:
    """The session that a segment of an address names.

    A segment with a ``:`` is the key itself. Any other one is an encoded key, or an encoded bare name of ``channel``.

    Raises:
        BadSessionKey: the segment is neither.
    """
    if ":" in segment:
        return SessionKey.parse(segment)
    if _BROKEN_ESCAPE.search(segment):
        raise BadSessionKey(
            f"The session name {segment[:80]!r} contains a % that is not followed by two hex digits. Write a plain % "
            "as %25."
        )
    try:
        return SessionKey.of_channel(unquote(segment, errors="strict"), channel)
    except UnicodeDecodeError:
        raise BadSessionKey(
            f"The session name {segment[:80]!r} contains percent-escapes that are not valid UTF-8. Encode it as UTF-8."
        ) from None


def session_in_query(request: Request, channel: str) -> SessionKey:
    """The session in ``?session=``; errors as for ``SessionKey.of_channel``, and 400 if it is missing."""
    try:
        asked = parse_qs(request.scope["query_string"].decode("latin-1"), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise BadSessionKey(
            "The session name in the address contains percent-escapes that are not valid UTF-8. Encode it as UTF-8."
        ) from None
    text = next(iter(asked.get("session", ())), None)
    if text is None:
        raise HTTPException(400, "The session is missing. Add ?session=<name or key> to the address.")
    return SessionKey.of_channel(text, channel)


def after_of(text: str | None) -> int:
    """The index after which to read; the default -1 reads everything."""
    return _number("after", text, default=-1, least=-1, most=2**53)


def limit_of(request: Request, *, default: int = LIMIT) -> int:
    """The requested number of items."""
    return _number("limit", request.query_params.get("limit"), default=default, least=1, most=LIMIT_MAX)


def before_of(request: Request) -> int | None:
    """The index before which to read; None if it is missing."""
    text = request.query_params.get("before")
    return _number("before", text, default=0, least=0, most=2**53) if text else None


def age_of(request: Request) -> int:
    """Highest accepted age of a response in seconds."""
    return _number("age", request.query_params.get("age"), default=0, least=0, most=AGE_MAX_S)


def flag_of(request: Request, name: str) -> bool:
    """Whether a parameter is 1; it is 0 or missing otherwise."""
    return bool(_number(name, request.query_params.get(name), default=0, least=0, most=1))


def days_of(request: Request) -> int:
    """The requested number of days, including today."""
    return _number("days", request.query_params.get("days"), default=DAYS, least=1, most=DAYS_MAX)


def number_in(text: str) -> int:
    """A version's number."""
    return _number("version", text, default=0, least=0, most=2**53)


def turn_in(text: str) -> int:
    """A turn's name: the index at which it began."""
    return _number("turn", text, default=0, least=0, most=2**53)


def words_of(request: Request) -> str:
    """The search text.

    Raises:
        HTTPException: 400, it is missing or too long.
    """
    words = request.query_params.get("q", "")
    if not words.strip():
        raise HTTPException(400, "The search terms are missing. Add ?q=<words>.")
    if len(words) > WORDS_MAX_CHARS:
        raise HTTPException(
            400, f"The search text q has {len(words):,} characters. Use at most {WORDS_MAX_CHARS} characters."
        )
    return words


def _number(name: str, text: str | None, *, default: int, least: int, most: int) -> int:
    if not text:
        return default
    if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
        raise HTTPException(
            400, f"{text[:40]!r} is not a valid value for {name}. Use a whole number from {least} to {most}."
        )
    return int(text)
