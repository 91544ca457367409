"""Bridges of webhook channels that answer badly: without an end, from another address, or with odd headers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import httpx2
import pytest
from anyio.abc import SocketStream

from channels.base import Channel
from channels.http_post import ANSWER_MAX_BYTES, check
from channels.testing.contract_steps import a_part
from channels.webhook import connect
from daemon.config import WebhookChannelConfig
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes.bridge import SECRET
from tests.limits import HANG_S
from tests.tables import each_row

CHAT = SessionKey(channel="forum", chat="ann")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"


@asynccontextmanager
async def bridge(process: Process, answer: bytes, *, then: bytes = b"") -> AsyncIterator[Channel]:
    """A channel whose bridge sends ``answer``, and ``then`` without an end."""

    async def handle(client: SocketStream) -> None:
        async with client:
            with anyio.move_on_after(HANG_S), suppress(anyio.BrokenResourceError, anyio.EndOfStream):
                await client.receive()
                await client.send(answer)
                while then:
                    await client.send(then)

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tg:
        host, port = listener.extra(anyio.abc.SocketAttribute.raw_socket).getsockname()[:2]
        tg.start_soon(listener.serve, handle)
        config = WebhookChannelConfig(url=f"http://{host}:{port}/", secret=SECRET)
        async with connect(process, "forum", config) as channel:
            yield channel
        tg.cancel_scope.cancel()


@each_row(
    "told, rest_s",
    [
        ("7", 7.0), ("0.5", 0.5), ("", None), ("soon", None), ("nan", None), ("inf", None), ("-inf", None),
        ("-5", None), ("0", None), ("1e999", None), ("Thu, 26 Nov 2026 08:00:30 GMT", 30.0),
        ("Thu, 26 Nov 2026 07:59:00 GMT", None), ("Thu, 99 Nov 2026 08:00:30 GMT", None),
        ("Thu, 26 Nov 2026 08:00:30 -9999", None),
    ],
)  # fmt: skip
def test_a_bridge_says_in_seconds_or_as_a_date_when_it_is_asked_again(told: str, rest_s: float | None) -> None:
    # A rest of NaN seconds was never over, and stood before all other rests.
    headers = {"Retry-After": told, "Date": "Thu, 26 Nov 2026 08:00:00 GMT"}

    with pytest.raises(SendRefused) as refused:
        check(httpx2.Response(429, headers=headers))

    assert refused.value.retry_after_s == rest_s


async def test_of_an_endless_answer_only_the_beginning_is_read(process: Process) -> None:
    async with bridge(process, HEAD + b"\r\n", then=b" " * ANSWER_MAX_BYTES) as channel:
        with anyio.fail_after(HANG_S):
            platform_id = await channel.send(CHAT, a_part(), timeout_s=HANG_S)

    assert platform_id == f"{a_part().reply}/{a_part().number}"


@each_row(
    "answer, error",
    [
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", SendRejected),
        (b"HTTP/1.1 307 Elsewhere\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", SendRejected),
        (b"HTTP/1.1 503 Busy\r\nRetry-After: nan\r\nContent-Length: 0\r\n\r\n", SendRefused),
        (HEAD + b"Content-Length: 50\r\n\r\n{", SendUnknown),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope", SendUnknown),
        (b"", SendUnknown),
        (b"\x16\x03\x01 this is no HTTP\r\n\r\n", SendUnknown),
        (b"HTTP/1.1 200 OK\r\n" + b"X-Long: y\r\n" * 100_000, SendUnknown),
    ],
)
async def test_every_bad_answer_has_a_known_outcome(process: Process, answer: bytes, error: type[Exception]) -> None:
    async with bridge(process, answer) as channel:
        with anyio.fail_after(HANG_S), pytest.raises(error):
            await channel.send(CHAT, a_part(), timeout_s=HANG_S)


async def test_what_was_taken_with_an_odd_answer_counts_as_sent(process: Process) -> None:
    for body in (b"", b"ok", b"[" * 9_000, b'{"id": 7}', b'{"id": null}', b"\xff"):
        async with bridge(process, HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body) as channel:
            assert await channel.send(CHAT, a_part(), timeout_s=HANG_S) == f"{a_part().reply}/{a_part().number}"
