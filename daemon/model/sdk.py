"""The SDK's client, as everything that speaks to an OpenAI-compatible server has it."""

import httpx2
import openai

from daemon.config.secret import Secret
from daemon.proxies import http_client

CONNECT_TIMEOUT_S = 10.0
"""A server that takes longer to accept a connection is away, however long its answers may take."""


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
