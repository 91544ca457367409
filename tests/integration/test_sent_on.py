"""Whoever is asked sends nobody anywhere else: no client follows an answer to another server, with real sockets."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import aiohttp
import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from channels import webhook
from channels.base import Part
from channels.discord import api as discord
from channels.feishu import api as feishu
from channels.feishu.api import AccessToken
from channels.feishu.long_connection import Endpoint
from channels.feishu.long_connection import _opened as open_long_connection
from channels.slack import api as slack
from channels.telegram import api as telegram
from channels.webhook.channel import WebhookChannel
from channels.websocket_client import opened, websocket_session
from daemon.clock import SystemClock
from daemon.config import (
    EmbeddingsConfig,
    McpConfig,
    ModelConfig,
    Secret,
    SpeechConfig,
    TranscriptionConfig,
    WebhookChannelConfig,
    WebToolsConfig,
)
from daemon.errors import MillpondError, ToolError
from daemon.events import Attachment
from daemon.model import Model, Request, connect
from daemon.model.embeddings_client import EmbeddingsClient
from daemon.model.speech import SpeechSynthesizer, Transcriber
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.setup.platforms.discord_api import app_at
from daemon.setup.platforms.feishu_api import feishu_api
from daemon.setup.platforms.feishu_socket import socket_session as socket_session_of_feishu
from daemon.setup.platforms.slack_api import slack_api
from daemon.setup.platforms.telegram_pairing import bot_api
from tests.tables import each_row
from workers.tools.mcp.tool_server_connection import ToolServerConnection
from workers.tools.web import search
from workers.tools.web.fetch import Fetcher

TIMEOUT_S = 5.0
TOKEN = Secret("123456:not-a-real-token")


@dataclass
class Pair:
    """A server that sends everybody on to another one, which notes whoever comes."""

    asked: str = ""
    met: list[bytes] = field(default_factory=list[bytes])
    visits: list[bytes] = field(default_factory=list[bytes])


@asynccontextmanager
async def pair(status: int) -> AsyncGenerator[Pair]:
    found = Pair()

    async def inside(stream: SocketStream) -> None:
        found.visits.append(b"")
        async with stream:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                found.visits.append(await stream.receive())

    async def outside(stream: SocketStream) -> None:
        async with stream:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                found.met.append(await stream.receive())
                await stream.send(
                    f"HTTP/1.1 {status} On\r\nLocation: http://127.0.0.1:{there}/latest\r\n"
                    "Content-Length: 0\r\nConnection: close\r\n\r\n".encode()
                )

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as one,
        await anyio.create_tcp_listener(local_host="127.0.0.1") as other,
        anyio.create_task_group() as tg,
    ):
        there = other.extra(SocketAttribute.local_port)
        found.asked = f"http://127.0.0.1:{one.extra(SocketAttribute.local_port)}"
        tg.start_soon(one.serve, outside)
        tg.start_soon(other.serve, inside)
        yield found
        tg.cancel_scope.cancel()


async def a_model(base: str) -> None:
    await ask(await connect(ModelConfig(base_url=base, name="m", api_key=TOKEN, call_timeout_s=TIMEOUT_S)))


async def a_model_of_anthropics_api(base: str) -> None:
    config = ModelConfig(api="anthropic", base_url=base, name="m", api_key=TOKEN, call_timeout_s=TIMEOUT_S)
    await ask(await connect(config))


async def ask(model: Model) -> None:
    try:
        async for _ in model.stream(Request(messages=[b'{"role":"user","content":"hi"}'], max_completion_tokens=9)):
            pass
    finally:
        await model.aclose()


async def a_transcriber(base: str) -> None:
    transcriber = Transcriber(TranscriptionConfig(base_url=base, name="m", timeout_s=TIMEOUT_S), SystemClock())
    try:
        await transcriber.text_of(b"OggS")
    finally:
        await transcriber.aclose()


async def a_speech_synthesizer(base: str) -> None:
    synthesizer = SpeechSynthesizer(SpeechConfig(base_url=base, name="m", timeout_s=TIMEOUT_S), SystemClock())
    try:
        await synthesizer.speech_of("a pond")
    finally:
        await synthesizer.aclose()


async def an_embedder(base: str) -> None:
    embeddings = EmbeddingsClient(EmbeddingsConfig(base_url=base, model="m", timeout_s=TIMEOUT_S), SystemClock())
    try:
        await embeddings.vectors_of(["a pond"], limit_s=TIMEOUT_S)
    finally:
        await embeddings.aclose()


async def telegrams_methods(base: str) -> None:
    async with telegram.connect(base, TOKEN) as api:
        await api.call("getMe", timeout_s=TIMEOUT_S)


async def telegrams_files(base: str) -> None:
    async with telegram.connect(base, TOKEN) as api:
        await api.download("photos/1.jpg", max_bytes=9, timeout_s=TIMEOUT_S)


async def telegrams_set_up(base: str) -> None:
    async with bot_api(TOKEN, base) as api:
        await api.me()


async def slacks_methods(base: str) -> None:
    async with slack.connect(f"{base}/api", TOKEN) as api:
        await api.call("auth.test", timeout_s=TIMEOUT_S)


async def slacks_files(base: str) -> None:
    async with slack.connect(f"{base}/api", TOKEN) as api:
        await api.download(f"{base}/files/1", max_bytes=9, timeout_s=TIMEOUT_S)


async def slacks_uploads(base: str) -> None:
    async with slack.connect(f"{base}/api", TOKEN) as api:
        await api.upload(f"{base}/upload/1", b"tide", timeout_s=TIMEOUT_S)


async def a_platforms_socket(base: str) -> None:
    async with websocket_session(base) as session:
        address = base.replace("http", "ws", 1)
        await opened(session, address, platform="Slack", timeout_s=TIMEOUT_S, max_bytes=9)


async def discords_methods(base: str) -> None:
    async with discord.connect(f"{base}/api/v10", TOKEN) as api:
        await api.call(discord.Request("GET", "/users/@me"), timeout_s=TIMEOUT_S)


async def discords_files(base: str) -> None:
    async with discord.connect(f"{base}/api/v10", TOKEN) as api:
        await api.download(f"{base}/attachments/1/2/a.png", max_bytes=9, timeout_s=TIMEOUT_S)


async def discords_set_up(base: str) -> None:
    await app_at(f"{base}/api/v10", Secret("a.b.c"))


async def slacks_set_up(base: str) -> None:
    async with slack_api(f"{base}/api") as api:
        await api.me(Secret("xoxb-1"))


async def slacks_socket_at_set_up(base: str) -> None:
    async with slack_api(f"{base}/api") as api:
        try:
            await api.session.ws_connect(base.replace("http", "ws", 1))
        except aiohttp.ClientError as error:
            raise MillpondError(str(error)) from error


async def feishus_methods(base: str) -> None:
    async with feishu.connect(base, AccessToken("cli_1", TOKEN)) as api:
        await api.call("GET", "/bot/v3/info", timeout_s=TIMEOUT_S)


async def feishus_socket(base: str) -> None:
    async with socket_session_of_feishu(base) as session:
        await open_long_connection(session, Endpoint(url=base.replace("http", "ws", 1), service=1))


async def feishus_set_up(base: str) -> None:
    async with feishu_api(base) as api:
        await api.token("cli_1", TOKEN)


async def a_tool_server(base: str) -> None:
    config, refused = McpConfig(url=f"{base}/mcp", timeout_s=TIMEOUT_S), list[ToolError]()
    async with anyio.create_task_group() as tg:
        connection = ToolServerConnection("sums", config, environment={}, start=tg.start_soon)
        try:
            await connection.tools()
        except ToolError as error:
            refused.append(error)
        connection.close()
    raise refused[0]


async def a_search(base: str) -> None:
    await search(WebToolsConfig(search="searxng", search_url=base, timeout_s=TIMEOUT_S), "heron", 1)


async def a_page(base: str) -> None:
    """The server that is asked is let in by its name; the one that it names is on this machine."""

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    config = WebToolsConfig(private_hosts=("pond.example",), timeout_s=TIMEOUT_S)
    await Fetcher(config, resolve=resolve).get(base.replace("127.0.0.1", "pond.example"))


@asynccontextmanager
async def a_bridge(base: str) -> AsyncGenerator[WebhookChannel]:
    process = cast("Process", SimpleNamespace(clock=SystemClock()))
    config = WebhookChannelConfig(url=f"{base}/hook", secret=Secret("whsec_" + "c2VjcmV0IG9mIGEgYnJpZGdl" * 2))
    async with webhook.connect(process, "bridge", config) as channel:
        yield channel


async def a_bridges_messages(base: str) -> None:
    async with a_bridge(base) as channel:
        part = Part(reply="bridge:1#1", number=0, text="tide", attempt="1-0")
        await channel.send(SessionKey(channel="bridge", chat="1"), part, timeout_s=TIMEOUT_S)


async def a_bridges_files(base: str) -> None:
    async with a_bridge(base) as channel:
        await channel.fetch(Attachment(kind="document", source=f"{base}/files/1"), timeout_s=TIMEOUT_S)


CLIENTS: tuple[Callable[[str], Awaitable[None]], ...] = (
    *(
        a_model,
        a_model_of_anthropics_api,
        a_transcriber,
        a_speech_synthesizer,
        an_embedder,
        a_tool_server,
        a_search,
        a_page,
    ),
    *(a_bridges_messages, a_bridges_files),
    *(discords_methods, discords_files, discords_set_up),
    *(telegrams_methods, telegrams_files, telegrams_set_up),
    *(feishus_methods, feishus_socket, feishus_set_up),
    *(slacks_methods, slacks_files, slacks_uploads, a_platforms_socket, slacks_set_up, slacks_socket_at_set_up),
)


@each_row("status", [302, 307])
@each_row("client", CLIENTS)
async def test_nobody_is_sent_on_to_an_address_that_an_answer_names(
    client: Callable[[str], Awaitable[None]], status: int
) -> None:
    async with pair(status) as servers:
        with pytest.raises(MillpondError):
            await client(servers.asked)

        assert servers.met
        assert servers.visits == []
