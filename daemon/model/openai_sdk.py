"""The SDK's client, as everything that speaks to an OpenAI-compatible server has it."""

from contextlib import aclosing
from typing import cast

import anyio
import httpx2
import openai

from daemon.config.secret import Secret
from daemon.errors import InvalidAnswer
from daemon.model.model_errors import Endpoint
from daemon.proxies import http_client

CONNECT_TIMEOUT_S = 10.0
"""A server that takes longer to accept a connection is away, however long its answers may take."""

CLOSE_S = 2.0
"""Longest wait for a connection to close."""


def timeout_of(timeout_s: float) -> httpx2.Timeout:
    """How long a client waits: for each step, and for a connection."""
    return httpx2.Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s))


def sdk_client(base_url: str, key: Secret, *, timeout_s: float) -> openai.AsyncOpenAI:
    """A client that neither repeats a request nor follows anybody elsewhere; closed by whoever asked for it."""
    timeout = timeout_of(timeout_s)
    return openai.AsyncOpenAI(
        api_key=key.reveal() or "none",  # the SDK wants one; without a key the header is left out
        base_url=base_url,
        max_retries=0,
        timeout=timeout,
        # Given one of our own the SDK does not make one that starts a task when it is collected unclosed.
        # What it asks with goes where the configuration says: whoever answers there sends it nowhere else.
        http_client=http_client(base_url, openai.DefaultAsyncHttpxClient, timeout=timeout, follow_redirects=False),
    )


async def posted(
    client: openai.AsyncOpenAI, path: str, content: bytes, *, endpoint: Endpoint, most_bytes: int
) -> bytes:
    """The answer to a JSON body that is sent to ``path`` below the client's address.

    Raises:
        InvalidAnswer: the answer has more than ``most_bytes``.
    """
    headers: dict[str, str | openai.Omit] = {} if endpoint.key else {"Authorization": openai.Omit()}
    # As in ``OpenAIModel``: ``cast_to`` a response gives the response itself.
    response = cast(
        "httpx2.Response",
        cast(
            "object",
            await client.post(
                path,
                cast_to=httpx2.Response,
                content=content,
                options={"headers": headers},
                stream=True,
                stream_cls=openai.AsyncStream[object],
            ),
        ),
    )
    pieces: list[bytes] = []
    size_bytes = 0
    try:
        async with aclosing(response.aiter_bytes()) as received:
            async for piece in received:
                pieces.append(piece)
                size_bytes += len(piece)
                if size_bytes > most_bytes:
                    raise InvalidAnswer(f"{endpoint} sent more than {most_bytes:,} bytes")
    finally:
        with anyio.move_on_after(CLOSE_S, shield=True):
            await response.aclose()
    return b"".join(pieces)
