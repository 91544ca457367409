"""The body of a request as JSON of a given form, and the body of a response as JSON."""

from typing import TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.http import read_body

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
            415, "The request body must be JSON in UTF-8. Send the header Content-Type: application/json."
        )
