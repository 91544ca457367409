"""The body of a request, bounded in size and time."""

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request

BODY_TIMEOUT_S = 30.0
"""How long a client may take to send a body."""


async def read_body(request: Request, *, max_bytes: int, advice: str = "", within_s: float = BODY_TIMEOUT_S) -> bytes:
    """The whole body. ``advice`` is a sentence on what to do about a body that is too large.

    Raises:
        HTTPException: 413, it is above ``max_bytes``; 408, it did not arrive in time.
        ClientDisconnect: the client closed the connection.
    """
    if int(request.headers.get("content-length", "0")) > max_bytes:
        raise _too_large(max_bytes, advice)
    pieces: list[bytes] = []
    left = max_bytes
    with anyio.move_on_after(within_s):
        async for piece in request.stream():
            left -= len(piece)
            if left < 0:
                raise _too_large(max_bytes, advice)
            pieces.append(piece)
        return b"".join(pieces)
    raise HTTPException(408, f"The body of the request did not arrive within {within_s:g} s. Send it again.")


def _too_large(max_bytes: int, advice: str) -> HTTPException:
    return HTTPException(413, f"The request body exceeds the limit of {max_bytes:,} bytes.{advice and f' {advice}'}")
