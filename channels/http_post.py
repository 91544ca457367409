"""One request that sends something, and the outcome of it: of adapters whose platform follows the rules of HTTP."""

from collections.abc import Mapping
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


async def post_once(
    client: httpx2.AsyncClient, url: str, content: bytes, *, headers: Mapping[str, str], timeout_s: float
) -> httpx2.Response:
    """Post ``content`` once, and return the answer.

    Raises:
        SendRefused: the server was not reached.
        SendUnknown: the connection was cut after sending.
    """
    try:
        return await client.post(url, content=content, headers=headers, timeout=timeout_s)
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


def _retry_after_s(response: httpx2.Response) -> float | None:
    try:
        return float(response.headers.get("retry-after", ""))
    except ValueError:
        return None
