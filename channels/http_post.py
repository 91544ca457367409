"""One request that sends something, and the outcome of it: of adapters whose platform follows the rules of HTTP."""

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx2

from daemon.errors import SendRefused, SendRejected, SendUnknown

NOTHING_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
    httpx2.ProxyError,
)
"""Failures of the library before the first byte was sent; after all others the result is unknown."""


ANSWER_MAX_BYTES = 65_536
"""Of an answer no more is read; it is an id and a name."""


async def post_once(
    client: httpx2.AsyncClient, url: str, content: bytes, *, headers: Mapping[str, str], timeout_s: float
) -> httpx2.Response:
    """Post ``content`` once, and return the answer with the first ``ANSWER_MAX_BYTES`` of its body.

    Raises:
        SendRefused: the server was not reached.
        SendUnknown: the connection was cut after sending.
    """
    try:
        async with client.stream("POST", url, content=content, headers=headers, timeout=timeout_s) as response:
            return httpx2.Response(response.status_code, headers=response.headers, content=await _beginning(response))
    except NOTHING_SENT as error:
        raise SendRefused(f"{url} cannot be reached: {error}") from error
    except httpx2.HTTPError as error:
        raise SendUnknown(
            f"the connection to {url} was lost after the message was sent: {type(error).__name__}"
        ) from error


def check(response: httpx2.Response) -> None:
    """Raise the error for a status.

    Raises:
        SendRefused: 429 or 5xx, with the ``Retry-After`` in seconds.
        SendRejected: any other status but 2xx.
    """
    status = response.status_code
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise SendRefused(f"the server responded with HTTP status {status}", retry_after_s=_retry_after_s(response))
    if not response.is_success:
        raise SendRejected(f"the server responded with HTTP status {status}")


async def _beginning(response: httpx2.Response) -> bytes:
    content = bytearray()
    async for some in response.aiter_bytes():
        content += some
        if len(content) > ANSWER_MAX_BYTES:
            break
    return bytes(content[:ANSWER_MAX_BYTES])


def _retry_after_s(response: httpx2.Response) -> float | None:
    """The rest in seconds that the server asks for; None: no rest, or none that ends (RFC 9110, 10.2.3)."""
    told = response.headers.get("retry-after", "")
    try:
        rest_s = float(told)
    except ValueError:
        rest_s = _seconds_until(told, response.headers.get("date", ""))
    return rest_s if math.isfinite(rest_s) and rest_s > 0 else None


def _seconds_until(told: str, now: str) -> float:
    """From one date of a server to another, in seconds; NaN: they are none."""
    try:
        return (parsedate_to_datetime(told) - parsedate_to_datetime(now)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return math.nan
